---@meta _
-- Test tools
--
-- The second and third parameter of a test: its clock, and tools to drive programs. See
-- [testing.md](../testing.md#driving-programs).

---The clock of a test's loop, the second parameter of a test.
---@class moonloop.test.Clock
local clock = {}

---Moves a virtual clock, and runs every timer that comes due, with its follow-up work.
---```lua
---it("waits a second in no time", { clock = "virtual" }, function(loop, clock)
---  local fired = false
---  loop:after(1, function() fired = true end)
---  clock:advance(1)
---  assert.is_true(fired)
---end)
---```
---@async
---@param seconds moonloop.Seconds How far.
function clock:advance(seconds) end

---The time on the clock, the same as `ml.now()`.
---```lua
---it("starts", { clock = "virtual" }, function(loop, clock)
---  local start = clock:now()
---  clock:advance(2)
---  assert.equal(2, clock:now() - start)
---end)
---```
---@return moonloop.Seconds time The time.
function clock:now() end

---Which clock it is.
---```lua
---it("is real by default", function(loop, clock) assert.equal("real", clock:kind()) end)
---```
---@return "real"|"virtual"|"skip_idle" kind Its kind.
function clock:kind() end

---Tools of a test, its third parameter: what they start and make ends with the test.
---Hooks have them too; those of `setup` and `teardown` last as long as the block.
---@class moonloop.test.Tools
---@field any table The makers of values for `t:forall`, which lists them.
local t = {}

---Options of `t:spawn`.
---@class moonloop.test.SpawnOptions: moonloop.SpawnOptions
---@field env? table<string, string>|"inherit" Its whole environment; default: only `PATH`, `HOME`, `TMPDIR`, the terminal, the language and the time zone; "inherit": that of the test run.
---@field group? boolean Make it the leader of a process group, which ends with it; default true.
---@field stdin? "pipe"|"inherit"|"null"|integer|moonloop.Stream|moonloop.Descriptor Default "null". A stream is given away: it is closed here.
---@field stdout? "pipe"|"inherit"|"null"|integer|moonloop.Stream|moonloop.Descriptor Default "pipe": it is read into `stdout` of the program.
---@field stderr? "pipe"|"inherit"|"null"|integer|moonloop.Stream|moonloop.Descriptor|"stdout" Default "pipe"; "stdout": the same place as standard output.

---Starts a program in a clean environment, and reads its output from the start.
---Raises an error if the program cannot be run.
---```lua
---it("runs", function(loop, clock, t)
---  local p = t:spawn { "sh", "-c", "echo ready; cat", stdin = "pipe" }
---  p:expect "ready"
---  p.stdin:close()
---  assert.equal(0, p:await().code)
---end)
---```
---@param options moonloop.test.SpawnOptions As for `ml.process.spawn`, with other defaults.
---@return moonloop.test.Program program The program.
function t:spawn(options) end

---Options of `t:run`.
---@class moonloop.test.RunOptions: moonloop.ProcessRunOptions
---@field env? table<string, string>|"inherit" Its whole environment; default: as for `t:spawn`.
---@field group? boolean Make it the leader of a process group; default true.

---Runs a program to its end.
---Raises an error if the program cannot be run.
---```lua
---it("counts", function(loop, clock, t)
---  assert.equal("2\n", t:run({ "sh", "-c", "wc -l | tr -d ' '", input = "a\nb\n" }).stdout)
---end)
---```
---@async
---@param options moonloop.test.RunOptions As for `ml.process.run`.
---@return moonloop.ProcessResult result How it ended, and its output.
function t:run(options) end

---Waits until output matches a Lua pattern; the same as `output:expect`.
---```lua
---it("complains", function(loop, clock, t)
---  local p = t:spawn { "sh", "-c", "echo no >&2" }
---  t:expect(p.stderr, "no")
---  p:await()
---end)
---```
---@async
---@param output moonloop.test.Output `stdout` or `stderr` of a program.
---@param pattern string A Lua pattern.
---@param within? moonloop.Seconds Default 5.
---@param options? { plain: boolean } Whether the pattern is plain text.
---@return string ... The captures, or the whole match.
function t:expect(output, pattern, within, options) end

---A folder of the test, removed afterwards.
---With `memory` it is another folder, in memory, if Linux has /dev/shm.
---```lua
---it("has a folder", function(loop, clock, t) assert.is_string(t:tmpdir()) end)
---```
---@param options? { memory: boolean } Whether it is in memory; default false.
---@return string path The same folder each time.
function t:tmpdir(options) end

---Options of `t:file`.
---@class moonloop.test.FileOptions
---@field append? boolean Add to the file that is there; default false.
---@field mode? string Its mode in octal digits, such as "755".

---Writes a file into the folder of the test, making folders as needed.
---A file that is there already is replaced: a program that has it open keeps the old one.
---Raises an error for a name outside of the folder, and for wrong options.
---```lua
---it("writes", function(loop, clock, t)
---  local file <close> = assert(io.open(t:file("conf/a.txt", "text")))
---  assert.equal("text", file:read "a")
---end)
---```
---@param name string Its path in the folder.
---@param text string Its contents.
---@param options? moonloop.test.FileOptions Optional.
---@return string path The path.
function t:file(name, text, options) end

---The path of a file beside the spec file.
---```lua
---it("knows its folder", function(loop, clock, t)
---  assert.truthy(t:fixture("a.txt"):find "a.txt$")
---end)
---```
---@param name string The name of the file.
---@return string path The path.
function t:fixture(name) end

---Reads a file beside the spec file.
---Raises an error if it cannot be read.
---```lua
---it("misses a file", function(loop, clock, t)
---  assert.is_false((pcall(t.read, t, "no such file")))
---end)
---```
---@param name string The name of the file.
---@return string text Its contents.
function t:read(name) end

---Compares a text with the file `golden/NAME` beside the spec file.
---`moonloop test --update` writes the file. Fails if they differ, and if the file is missing.
---```lua
---it("has no golden file yet", function(loop, clock, t)
---  assert.is_false((pcall(t.golden, t, "page.txt", "text")))
---end)
---```
---@param name string The name of the file.
---@param text string The text to compare.
function t:golden(name, text) end

---Sets a function to call when the test has ended; the last one first.
---```lua
---it("tidies up", function(loop, clock, t)
---  local timer = loop:every(1, print)
---  t:defer(function() timer:invalidate() end)
---end)
---```
---@param fn fun() May wait.
function t:defer(fn) end

---A free TCP port.
---```lua
---it("finds a port", function(loop, clock, t) assert.is_true(t:free_port() > 0) end)
---```
---@return integer port Its number.
function t:free_port() end

---Waits until something listens on a TCP port of this machine.
---Fails if none does in time.
---```lua
---it("waits for a server", function(loop, clock, t)
---  local server <close> = assert(require("moonloop").net.listen { host = "127.0.0.1", port = 0,
---    function() end })
---  assert.equal(server.port, t:wait_port(server.port))
---end)
---```
---@async
---@param port integer The number.
---@param within? moonloop.Seconds Default 5.
---@return integer port The same number.
function t:wait_port(port, within) end

---Compares any value with a golden file that has the name of the test.
---The file is `golden/SPEC/TEST.txt` beside the spec file; the second one of a test ends in `-2`.
---`moonloop test --update` writes it. Fails if they differ, and if the file is missing.
---```lua
---it("has no snapshot yet", function(loop, clock, t)
---  assert.is_false((pcall(t.snapshot, t, { size = 1 })))
---end)
---```
---@param value any The value; tables are shown with their keys in order, functions without address.
function t:snapshot(value) end

---Calls a function until it raises no error, and returns a true value or nothing; returns that.
---Fails with its last error if that takes too long. On a virtual clock the time is virtual.
---```lua
---it("comes to three", { clock = "virtual" }, function(loop, clock, t)
---  local n = 0
---  loop:timer { every = 1, function(timer)
---    n = n + 1
---    if n == 3 then timer:invalidate() end
---  end }
---  t:eventually(function() assert.equal(3, n) end)
---end)
---```
---@async
---@param fn fun(): ... The function.
---@param within? moonloop.Seconds Default 5.
---@return any ... What it returned.
function t:eventually(fn, within) end

---Options of `t:forall`.
---@class moonloop.test.ForallOptions
---@field runs? integer How many cases are tried; default 100.
---@field seed? integer The seed of the first case; default 1.

---Calls a function with many values, made at random from the seed: a property must hold for all.
---It fails when the function raises an error or returns false. The values are simplified while it
---still fails, and the failure shows the simplest with its seed; `--seed` runs that case alone. The
---makers of values are in `t.any`: `integer(least, most)` (-1000 to 1000), `number(least, most)` (0
---to 1), `boolean()`, `string(most, alphabet)` and `list(item, most)` (at most 10), `table { name =
---item }`, `one_of { ... }` and `map(item, fn)`.
---```lua
---it("reverses twice", function(loop, clock, t)
---  t:forall({ t.any.string(20) }, function(text)
---    assert.equal(text, text:reverse():reverse())
---  end)
---end)
---```
---@param makers table[] A maker for each argument, from `t.any`.
---@param fn fun(...): boolean? The property.
---@param options? moonloop.test.ForallOptions Optional.
function t:forall(makers, fn, options) end

---Calls a function until it returns a true value.
---Fails if it does not in time.
---```lua
---it("waits", function(loop, clock, t)
---  local done
---  loop:after(0.01, function() done = "yes" end)
---  assert.equal("yes", t:wait_until(function() return done end))
---end)
---```
---@async
---@param fn fun(): any The function.
---@param within? moonloop.Seconds Default 5.
---@param what? string Words for the failure.
---@return any value That value.
function t:wait_until(fn, within, what) end

---A request that a double of an HTTP server expects. Its first element is the method and the path;
---with a query in it, that must be the same.
---@class moonloop.test.HttpExpectation
---@field [1] string For example "GET /items?page=2".
---@field body? string A Lua pattern that the body matches.
---@field headers? table<string, string> Lua patterns that headers match, by name.
---@field plain? boolean Whether these are texts to find, rather than patterns.
---@field times? integer|"any" How often it must come; default 1.
---@field reply? any The status, the body, or `{ status, body, headers }`; or a function, as a handler of `ml.http.serve`. Default 200.

---Expectations that are in a file. `moonloop test --update` asks the real server and writes them.
---@class moonloop.test.RecordedExpectations
---@field recorded string The name of the file, `golden/NAME.lua` beside the spec file.
---@field from? string The real server, for `--update`: a URL for `t:http`, "host:port" for `t:tcp`.

---A double of an HTTP server.
---@class moonloop.test.HttpDouble
---@field url string Its address, such as "http://127.0.0.1:40017".
---@field port integer Its port.
---@field requests table[] What came: `method`, `target`, `path`, `query`, `headers`, `body` each.

---Serves HTTP in place of another server, until the test ends.
---A request that is not expected is answered with 501 and fails the test; so does an expected one
---that never comes. The first expectation that fits and is not used up answers.
---```lua
---it("asks for the weather", function(loop, clock, t)
---  local api = t:http { { "GET /weather?city=Oslo", reply = { 200, "3 degrees" } } }
---  local reply = require("moonloop").http.get(api.url .. "/weather?city=Oslo")
---  assert.equal("3 degrees", reply.body)
---end)
---```
---@param expectations moonloop.test.HttpExpectation[]|moonloop.test.RecordedExpectations The expected requests.
---@return moonloop.test.HttpDouble double The double.
function t:http(expectations) end

---A step of a double of a TCP server.
---@class moonloop.test.TcpStep
---@field expect? string The bytes that come next, exactly.
---@field line? string Or a Lua pattern that the next line matches.
---@field reply? string|fun(text: string): string? What is then sent.
---@field close? boolean Whether the connection is closed then.

---A double of a TCP server.
---@class moonloop.test.TcpDouble
---@field host string Its address.
---@field port integer Its port.

---Serves TCP in place of another server, until the test ends.
---Each connection takes the steps in order. Other bytes end the connection and fail the test; so do
---steps that were not taken.
---```lua
---it("pings", function(loop, clock, t)
---  local peer = t:tcp { { expect = "PING\n", reply = "PONG\n" } }
---  local stream <close> = assert(require("moonloop").net.connect {
---    host = peer.host, port = peer.port })
---  stream:write "PING\n"
---  assert.equal("PONG", stream:read "l")
---end)
---```
---@param steps moonloop.test.TcpStep[]|moonloop.test.RecordedExpectations The steps that are expected.
---@return moonloop.test.TcpDouble double The double.
function t:tcp(steps) end

---@class moonloop.test.FetchOptions: moonloop.HttpFetchOptions
---@field timeout? moonloop.Seconds For the whole request; default 5.
---@field redirects? integer How many redirects to follow; default 0.

---@class moonloop.test.RequestOptions: moonloop.HttpRequestOptions
---@field timeout? moonloop.Seconds For the whole request; default 5.
---@field redirects? integer How many redirects to follow; default 0.

---Makes an HTTP request within 5 s; without an answer the test fails.
---In the address ":8080/path" is short for that port of this machine.
---```lua
---it("serves", function(loop, clock, t)
---  local server <close> = assert(require("moonloop").http.serve { host = "127.0.0.1", port = 0,
---    function(request) return request.method .. " " .. request.path end })
---  local response = t:request { url = ":" .. server.port .. "/a", method = "PUT", body = "x" }
---  assert.equal(200, response.status)
---end)
---```
---@async
---@param options moonloop.test.RequestOptions As for `ml.http.request`.
---@return moonloop.test.Response response The response.
function t:request(options) end

---Makes a GET request, as `t:request` does.
---```lua
---it("serves", function(loop, clock, t)
---  local server <close> = assert(require("moonloop").http.serve { host = "127.0.0.1", port = 0,
---    function(request) return request.method .. " " .. request.path end })
---  local response = t:get(":" .. server.port .. "/a")
---  assert.equal(200, response.status)
---end)
---```
---@async
---@param url string The address.
---@param options? moonloop.test.FetchOptions Headers, query and limits.
---@return moonloop.test.Response response The response.
function t:get(url, options) end

---Makes a HEAD request, as `t:request` does.
---```lua
---it("serves", function(loop, clock, t)
---  local server <close> = assert(require("moonloop").http.serve { host = "127.0.0.1", port = 0,
---    function(request) return request.method .. " " .. request.path end })
---  local response = t:head(":" .. server.port .. "/a")
---  assert.equal(200, response.status)
---end)
---```
---@async
---@param url string The address.
---@param options? moonloop.test.FetchOptions Headers, query and limits.
---@return moonloop.test.Response response The response.
function t:head(url, options) end

---Makes a DELETE request, as `t:request` does.
---```lua
---it("serves", function(loop, clock, t)
---  local server <close> = assert(require("moonloop").http.serve { host = "127.0.0.1", port = 0,
---    function(request) return request.method .. " " .. request.path end })
---  local response = t:delete(":" .. server.port .. "/a")
---  assert.equal(200, response.status)
---end)
---```
---@async
---@param url string The address.
---@param options? moonloop.test.FetchOptions Headers, query and limits.
---@return moonloop.test.Response response The response.
function t:delete(url, options) end

---Makes an OPTIONS request, as `t:request` does.
---```lua
---it("serves", function(loop, clock, t)
---  local server <close> = assert(require("moonloop").http.serve { host = "127.0.0.1", port = 0,
---    function(request) return request.method .. " " .. request.path end })
---  local response = t:options(":" .. server.port .. "/a")
---  assert.equal(200, response.status)
---end)
---```
---@async
---@param url string The address.
---@param options? moonloop.test.FetchOptions Headers, query and limits.
---@return moonloop.test.Response response The response.
function t:options(url, options) end

---Makes a POST request, as `t:request` does.
---```lua
---it("serves", function(loop, clock, t)
---  local server <close> = assert(require("moonloop").http.serve { host = "127.0.0.1", port = 0,
---    function(request) return request.method .. " " .. request.path end })
---  local response = t:post(":" .. server.port .. "/a", "body")
---  assert.equal(200, response.status)
---end)
---```
---@async
---@param url string The address.
---@param body? string The body to send.
---@param options? moonloop.test.FetchOptions Headers, query and limits.
---@return moonloop.test.Response response The response.
function t:post(url, body, options) end

---Makes a PUT request, as `t:request` does.
---```lua
---it("serves", function(loop, clock, t)
---  local server <close> = assert(require("moonloop").http.serve { host = "127.0.0.1", port = 0,
---    function(request) return request.method .. " " .. request.path end })
---  local response = t:put(":" .. server.port .. "/a", "body")
---  assert.equal(200, response.status)
---end)
---```
---@async
---@param url string The address.
---@param body? string The body to send.
---@param options? moonloop.test.FetchOptions Headers, query and limits.
---@return moonloop.test.Response response The response.
function t:put(url, body, options) end

---Makes a PATCH request, as `t:request` does.
---```lua
---it("serves", function(loop, clock, t)
---  local server <close> = assert(require("moonloop").http.serve { host = "127.0.0.1", port = 0,
---    function(request) return request.method .. " " .. request.path end })
---  local response = t:patch(":" .. server.port .. "/a", "body")
---  assert.equal(200, response.status)
---end)
---```
---@async
---@param url string The address.
---@param body? string The body to send.
---@param options? moonloop.test.FetchOptions Headers, query and limits.
---@return moonloop.test.Response response The response.
function t:patch(url, body, options) end

---A response that `t:get` and the like return.
---@class moonloop.test.Response: moonloop.HttpResponse
local response = {}

---Fails the test unless the status is this one, and the body matches.
---```lua
---it("serves", function(loop, clock, t)
---  local server <close> = assert(require("moonloop").http.serve { host = "127.0.0.1", port = 0,
---    function() return 404, "no page 7" end })
---  assert.equal("7", t:get(":" .. server.port .. "/"):expect(404, "page (%d)"))
---end)
---```
---@param status integer The expected status.
---@param pattern? string A Lua pattern for the body.
---@param options? { headers: table<string, string>, plain: boolean } Patterns for headers; plain text.
---@return string ... The captures, or the whole match.
function response:expect(status, pattern, options) end
