-- The pages of the documentation, as docs/README.md lists them.
local host = require "moonloop.console.host"

local pages = {}

-- What a name of something else is about.
local OTHERS = { sqlite = "blocking", ["luasql.sqlite3"] = "blocking", luasql = "compat",
  luasec = "compat", ssl = "compat", https = "http", websocket = "http", broker = "brokers",
  luasocket = "compat", luv = "compat", redis = "brokers" }

local all

--- All of them, by place and by name, each with `name`, such as "blocking", `title`, and what the
--- list says of it as `about`.
function pages.all()
  if all then return all end
  all = {}
  for entry in host.pages():gsub("\n  ", " "):gmatch "\n%- ([^\n]+)" do
    local about = entry:gsub("%[([^%]]-)%]%(.-%)", "%1"):gsub("`", "")
    for title, name in entry:gmatch "%[([^%]]-)%]%(([%w-]+)%.md%)" do
      local page = { name = name, title = title, about = about }
      all[#all + 1], all[name] = page, page
    end
  end
  return all
end

--- The names that pages have or are found by, in order.
function pages.names()
  local names = {}
  for name in pairs(OTHERS) do names[#names + 1] = name end
  for _, page in ipairs(pages.all()) do names[#names + 1] = page.name end
  table.sort(names)
  return names
end

--- Where a page is, and what it is about; nil if there is none with this name or title.
function pages.text(name)
  name = name:lower()
  local page = pages.all()[OTHERS[name] or name]
  for _, one in ipairs(pages.all()) do
    if one.title:lower() == name then page = page or one end
  end
  return page and ("%s\n\nThis is a page: docs/%s.md, installed below share/doc/moonloop."):format(
    page.about, page.name)
end

return pages
