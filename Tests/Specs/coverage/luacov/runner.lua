-- A stand-in for luacov, with the part of its documented interface that `--coverage` uses.
local runner = { defaults = { exclude = { "^defaults$" } }, lines = {} }

function runner.load_config(file)
  runner.configuration = runner.configuration
    or { file = file, exclude = runner.defaults.exclude }
  return runner.configuration
end

function runner.init(configuration)
  runner.initialized = configuration == runner.configuration
end

function runner.debug_hook(_, line)
  local file = debug.getinfo(2, "S").source:match "^@(.*)$" or "?"
  for _, pattern in ipairs(runner.configuration.exclude) do
    if file:gsub("%.lua$", ""):find(pattern) then return end
  end
  runner.lines[file] = runner.lines[file] or {}
  runner.lines[file][line] = (runner.lines[file][line] or 0) + 1
end

return runner
