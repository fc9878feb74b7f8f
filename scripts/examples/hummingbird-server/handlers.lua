-- What the server answers. A handler may wait: other requests are served meanwhile.
local ml = require "moonloop"

local pages = {}

pages["/"] = function() return { body = "hello" } end

pages["/visits"] = function(request)
  return { body = ("visit %d of %s"):format(visit(request.query.page), request.query.page) }
end

pages["/slow"] = function()
  ml.sleep(0.02)
  return { body = "done" }
end

pages["/echo"] = function(request)
  return { headers = { ["Content-Type"] = "text/plain" }, body = request.body }
end

pages["/broken"] = function() error "out of order" end

function handle(request)
  local page = pages[request.path]
  if not page then return { status = 404, body = "no such page: " .. request.path } end
  return page(request)
end

ml.current():after(0, function() print "the scripts are running" end)
