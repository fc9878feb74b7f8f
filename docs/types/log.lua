---@meta _
-- Logs

---@class moonloop
local ml = {}

---@class moonloop.LogOptions
---@field level? "debug"|"info"|"warn"|"error" Records below it are left out; default "info".
---@field format? "text"|"json"|"journal" Default "text"; "journal" where standard error is the system's journal.
---@field to? string|fun(line: string) "stderr" (the default), "stdout", the path of a file that is appended to, or a function that gets each line.
---@field fields? table Fields of every record.
---@field rate? integer Limit for records with the same message per second; default: none.

---Makes a log: records with a level and fields, a line each, that never keep the loop waiting.
---A thread writes to files. What cannot be written at once waits in a buffer of 1 MiB, which no
---memory limit counts; records without room there are dropped and counted. A full disk is reported
---once, and records are kept until there is room. The buffer is written out when the program ends:
---at its end, or by `os.exit`, SIGTERM, SIGINT, SIGHUP, SIGQUIT, or a crash; this takes at most a
---second. What a full disk has kept out until then is lost, which is reported, with status 1. There
---may be 64 files and descriptors, and each log to one counts as an open file for `ml.limit {
---handles }`. "journal" writes lines such as `<4>slow ms=250`, whose priority systemd understands.
---A script that was not granted everything writes where its `print` does. Loaded when first used.
---Returns `nil, message, code` when a file cannot be opened. Raises an error that names the wrong
---option.
---```lua
---local log = ml.log { to = print, format = "journal", fields = { app = "shop" } }
---log:info("order paid", { order = 7, by = "ada l." })
-----> <6>order paid app=shop by="ada l." order=7
---log:debug "not shown"
---```
---@param options? moonloop.LogOptions Where to, how, and what.
---@return moonloop.Log? log The log.
---@return string? message
---@return string? code
function ml.log(options) end

---A log, made by `ml.log`.
---@class moonloop.Log
local log = {}

---The lowest level that is written.
---Settable.
---```lua
---local log = ml.log { to = print, format = "journal" }
---log.level = "debug"
---log:debug "shown now"   --> <7>shown now
---```
---@type string
log.level = nil

---How many records were dropped because they were not read fast enough.
---The next record written follows one that says how many are missing.
---```lua
---print(ml.log({ to = print }).dropped)   --> 0
---```
---@type integer
log.dropped = nil

---How many records were held back by the option 'rate'.
---At the end of the second, and at a flush or close, a record with the same message has their
---number in its field `suppressed`.
---```lua
---local log = ml.log { to = print, format = "journal", rate = 1 }
---for _ = 1, 3 do log:warn "disk full" end   --> <4>disk full
---print(log.suppressed)   --> 2
---```
---@type integer
log.suppressed = nil

---Writes a record for debugging.
---Control characters become escapes: a record is one line, of 64 KiB at most. Longer ones are cut;
---in JSON their texts are. A field with the name of a part of the record, in JSON `time`, `level`
---and `message`, is written as `fields.time` and so on. Raises an error when the message is not a
---string, or the fields are not a table.
---```lua
---ml.log({ to = print, format = "journal", level = "debug" }):debug("asked", { id = 7 })
-----> <7>asked id=7
---```
---@param message string What happened; the same words each time, so that it can be found.
---@param fields? table What differs; tables become JSON.
function log:debug(message, fields) end

---Writes a record of something that went as it should.
---Raises an error as `debug` does.
---```lua
---ml.log({ to = print, format = "journal" }):info("listening", { port = 80 })
-----> <6>listening port=80
---```
---@param message string What happened.
---@param fields? table What differs.
function log:info(message, fields) end

---Writes a record of something that needs attention.
---Raises an error as `debug` does.
---```lua
---ml.log({ to = print, format = "journal" }):warn("slow", { ms = 250 })   --> <4>slow ms=250
---```
---@param message string What happened.
---@param fields? table What differs.
function log:warn(message, fields) end

---Writes a record of something that went wrong.
---Raises an error as `debug` does.
---```lua
---ml.log({ to = print, format = "journal" }):error("no answer", { code = "ETIMEDOUT" })
-----> <3>no answer code=ETIMEDOUT
---```
---@param message string What happened.
---@param fields? table What differs.
function log:error(message, fields) end

---Makes a log that has more fields and goes to the same place.
---Its level is its own. Raises an error when it is not given a table.
---```lua
---local log = ml.log { to = print, format = "journal" }
---local request = log:with { request = 7 }
---request:info "started"   --> <6>started request=7
---```
---@param fields table Fields of each of its records.
---@return moonloop.Log log Another log.
function log:with(fields) end

---Waits until everything is written.
---Returns `nil, message, "ETIMEDOUT"` when that takes longer, and `nil, message, code` when it
---cannot be written, as on a full disk.
---```lua
---loop:task(function() print(ml.log({ to = print }):flush())   --> true
---end)
---```
---@async
---@param options? moonloop.TimeoutOptions The timeout.
---@return true? written Nil when time was up.
---@return string? message
---@return string? code
function log:flush(options) end

---Closes the log and all that were made from it by `with`; what waits is still written.
---Later records are dropped and counted. A file that a test opens and does not close is reported
---among what the test leaves behind. Standard output and standard error stay open.
---```lua
---local path = os.tmpname()
---do
---  local log <close> = ml.log { to = path }   -- closed at the end of the block
---  log:info "hello"
---end
---os.remove(path)
---```
function log:close() end
