-- `moonloop plan`, `simulate` and `check`: from the options to the exit status.
local configuration = require "moonloop.configuration"
local json = require "moonloop.json"

local main = {}

local SUCCESS, FAILURE, USAGE = 0, 1, 2
-- Microseconds in reports.
local REPORT = { is_lenient = true, decimals = 6 }

local function complain(command, message)
  io.stdout:flush()
  io.stderr:write("moonloop: ", command, ": ", message, "\n")
  return USAGE
end

-- Reads a configuration. Returns its document; or nil and an exit status, after printing a message.
local function read(command, path)
  local text, message = configuration.text(path)
  if not text then return nil, complain(command, "cannot read " .. message) end
  local doc
  configuration.set_arguments(path)
  doc, message = configuration.read(path)
  if not doc then
    io.stderr:write("moonloop: ", message, "\n")
    return nil, FAILURE
  end
  local found = configuration.mistakes(doc)
  if #found == 0 then return doc end
  io.stderr:write(configuration.in_words(doc, found), "\n")
  return nil, FAILURE
end

-- Writes a page to the file that `--html` names. Returns nil; or a message.
local function write_page(path, text)
  local file, message = io.open(path, "wb")
  if not file then return "--html: cannot write " .. message end
  local ok, failure = file:write(text)
  if ok then ok, failure = file:close() end
  if not ok then return ("--html: cannot write %s: %s"):format(path, failure) end
end

-- Whether that file can be written. Returns nil; or a message.
local function check_page(path)
  local file, message = io.open(path, "ab")
  if not file then return "--html: cannot write " .. message end
  file:close()
end

local commands = {}

function commands.plan(options, paths)
  if #paths ~= 1 then return complain("plan", "name one configuration") end
  local doc, status = read("plan", paths[1])
  if not doc then return status end
  local plan = require "moonloop.planning.plan"
  local made = plan.make(doc)
  if options.html then
    local text, message = require("moonloop.planning.page").of_plan(doc, made)
    if not text then
      io.stderr:write("moonloop: ", message, "\n")
      return FAILURE
    end
    message = write_page(options.html, text)
    if message then return complain("plan", message) end
  end
  io.write(options.json and json.encode(plan.data(made), REPORT) .. "\n" or plan.text(doc, made))
  return SUCCESS
end

local function simulate_all(docs, options)
  local simulation = require "moonloop.planning.simulation"
  local results = {}
  for place, doc in ipairs(docs) do
    configuration.set_arguments(doc.name)
    local result, message = simulation.run(doc, options)
    if not result then
      io.stderr:write("moonloop: ", message, "\n")
      return nil
    end
    results[place] = result
  end
  return results
end

function commands.simulate(options, paths)
  if #paths ~= 1 then return complain("simulate", "name one configuration") end
  local simulation = require "moonloop.planning.simulation"
  local settings, message = simulation.settings(options)
  if not settings then return complain("simulate", message) end
  -- Before a simulation, which may take minutes.
  message = options.html and check_page(options.html)
  if message then return complain("simulate", message) end
  local docs = {}
  for place, path in ipairs { paths[1], options.against } do
    local doc, status = simulation.on_its_clock(settings, read, "simulate", path)
    if not doc then return status end
    docs[place] = doc
  end
  message = simulation.check_inputs(docs, settings)
  if message then return complain("simulate", message) end
  local results = simulate_all(docs, settings)
  if not results then return FAILURE end
  for _, result in ipairs(results) do
    if result.was_interrupted then return nil end
  end
  if options.html then
    message = write_page(options.html, require("moonloop.planning.page").of_runs(docs, results))
    if message then return complain("simulate", message) end
  end
  local report = require "moonloop.planning.report"
  io.write(options.json and json.encode(report.data(results), REPORT) .. "\n"
    or report.text(results))
  for _, result in ipairs(results) do
    if #result.failures > 0 or result.stands_still then return FAILURE end
  end
  return SUCCESS
end

function commands.check(options, paths)
  local check = require "moonloop.planning.check"
  if options["list-rules"] then
    io.write(check.rules_text())
    return SUCCESS
  end
  if options["for"] == 0 then return complain("check", "--for: must be more than 0") end
  local count = #paths + #(options.recording or {})
  if count == 0 then return complain("check", "name the files to check") end
  local findings, notes = check.files(paths, options)
  if not findings then return complain("check", notes) end
  io.write(options.json and json.encode(findings, REPORT) .. "\n" or check.text(findings, count))
  if #notes > 0 then io.stdout:flush() end
  for _, note in ipairs(notes) do io.stderr:write("moonloop: check: ", note, "\n") end
  return #findings > 0 and FAILURE or SUCCESS
end

-- Runs a command for the program. The arguments are the number of options, the name and value of
-- each, then the operands. Returns the exit status; nil if a signal ended it.
function main.command(name, count, ...)
  local arguments, options = table.pack(...), {}
  for index = 1, count do
    local key, value = arguments[2 * index - 1], arguments[2 * index]
    if key == "input" or key == "stop-at" or key == "recording" then
      options[key] = options[key] or {}
      table.insert(options[key], value)
    else
      options[key] = value
    end
  end
  local paths = table.move(arguments, 2 * count + 1, arguments.n, 1, {})
  return commands[name](options, paths)
end

return main
