-- Two workers share the work: each resizes pictures on its own thread, by request and reply.
local ml = require "moonloop"
local loop = ml.current()

-- What each worker runs: its own Lua state, its own loop. A picture is rows of grey bytes.
local script = [[
  local ml = require "moonloop"
  local args = ...
  ml.parent:on("message", function(picture, reply)
    local rows = {}
    for y = 1, #picture.rows, args.factor do
      local row = {}
      for x = 1, #picture.rows[y], args.factor do
        local sum = 0
        for dy = 0, args.factor - 1 do
          for _, byte in ipairs { picture.rows[y + dy]:byte(x, x + args.factor - 1) } do
            sum = sum + byte
          end
        end
        row[#row + 1] = string.char(sum // (args.factor * args.factor))
      end
      rows[#rows + 1] = table.concat(row)
    end
    reply { name = picture.name, rows = rows }
  end)
]]

local function picture(name, width, height)
  local rows = {}
  for y = 1, height do
    local row = {}
    for x = 1, width do row[x] = string.char((x * y) % 256) end
    rows[y] = table.concat(row)
  end
  return { name = name, rows = rows }
end

loop:task(function(scope)
  local queue, small, resizers = ml.channel(8), {}, {}
  for number = 1, 2 do
    resizers[number] = scope:task(function()
      local worker <close> = assert(ml.worker {
        name = "resizer " .. number, source = script, args = { factor = 4 },
      })
      for job in queue:items() do
        small[job.place] = assert(worker.port:request(job.picture, { timeout = 60 }))
      end
    end)
  end
  for place = 1, 8 do
    local name = ("%d.grey"):format(place)
    queue:send { place = place, picture = picture(name, 16 * place, 12 * place) }
  end
  queue:close()
  for _, resizer in ipairs(resizers) do resizer:await() end
  for _, result in ipairs(small) do
    local middle = result.rows[#result.rows // 2 + 1]
    print(("%s  %dx%d, middle %d"):format(
      result.name, #middle, #result.rows, middle:byte(#middle // 2 + 1)))
  end
end)
