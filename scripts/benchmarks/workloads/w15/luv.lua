-- W15: lines from standard input to standard output, each changed by a handler.
local uv = require "luv"
local function handle(line) return line:upper() end

local input, pending = uv.new_pipe(false), ""
input:open(0)
input:read_start(function(_, data)
  if not data then return input:close() end
  pending = pending .. data
  local from = 1
  while true do
    local at = pending:find("\n", from, true)
    if not at then break end
    io.write(handle(pending:sub(from, at - 1)), "\n")
    from = at + 1
  end
  pending = pending:sub(from)
end)
uv.run()
if pending ~= "" then io.write(handle(pending), "\n") end
