-- W15: lines from standard input to standard output, each changed by a handler.
local function handle(line) return line:upper() end

for line in io.lines() do io.write(handle(line), "\n") end
