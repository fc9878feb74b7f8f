-- What the tools say when a program fails.
it("says all of a program that failed", function(_, _, t)
  local ok, message = pcall(t.run, t, { "sh", "-c", "echo out; echo one >&2; echo two >&2; exit 3",
    check = true })
  assert.is_false(ok)
  assert.equal("t:run: 'sh -c echo out; echo one >&2; echo two >&2; exit 3' ended with code 3\n"
    .. "stdout:\n    out\nstderr:\n    one\n    two", (message:gsub("^.-:%d+: ", "")))
  assert.equal("x", t:run { "printf", "x", check = true }.stdout)
end)

it("says what a program or a port must be", function(_, _, t)
  local function problem(...) return (select(2, pcall(...)):gsub("^.-:%d+: ", "")) end
  assert.equal('t:spawn: takes a table, such as { "ls", "-l" }, got a string',
    problem(t.spawn, t, "ls"))
  assert.equal('t:run: takes a table, such as { "ls", "-l" }, got nothing', problem(t.run, t))
  for _, port in ipairs { "x", "80", 0, 65536, 1.5 } do
    assert.matches("t:wait_port: the port must be a whole number from 1 to 65535, got",
      problem(t.wait_port, t, port), 1, true)
  end
  assert.equal("t:wait_port: the time must be seconds, got a table",
    problem(t.wait_port, t, 1, { process = t }))
  assert.equal("t:wait_until: the time must be seconds, got -1",
    problem(t.wait_until, t, print, -1))
  assert.equal("t:eventually: the time must be seconds, got a string",
    problem(t.eventually, t, print, "x"))
end)

local ml = require "moonloop"

local function problem_of(...) return (tostring(select(2, pcall(...))):gsub("^.-:%d+: ", "")) end

it("names what a program does not have, and calls that are wrong", function(_, _, t)
  local p = t:spawn { "sleep", "60" }
  assert.matches("program: unknown field 'expct' %(.-%); did you mean 'expect'%?",
    problem_of(function() p:expct "x" end))
  assert.matches("program: unknown field 'sendline' %(.-%); there are await, expect, invalidate,",
    problem_of(function() p:sendline "x" end))
  assert.equal("program:stop: takes a table such as { grace = 5 }, got 5", problem_of(p.stop, p, 5))
  assert.equal("t:run: must be called with a colon", problem_of(t.run, { "ls" }))
  assert.equal("t:spawn: must be called with a colon", problem_of(t.spawn, { "ls" }))
  assert.matches('t:run: \'env_add\' must be a table such as { HOME = "/" }, got an element',
    problem_of(t.run, t, { "ls", env_add = { "X=5" } }), 1, true)
  for _, pattern in ipairs { "", "x*" } do
    assert.matches("matches nothing at all", problem_of(p.expect, p, pattern), 1, true)
  end
end)

it("takes options in place of the time", function(_, _, t)
  local p = t:spawn { "sh", "-c", "echo 'a.b+'" }
  assert.equal("a.b+", p:expect("a.b+", { plain = true }))
end)

it("writes files that replace others, are added to, or can be run", function(_, _, t)
  local path = t:file("bin/tool", "#!/bin/sh\necho one\n", { mode = "755" })
  assert.equal("one\n", t:run({ path }).stdout)
  local file <close> = assert(io.open(path))
  t:file("bin/tool", "echo two\n", { append = true })
  assert.equal("one\ntwo\n", t:run({ path }).stdout)
  assert.equal("#!/bin/sh\necho one\necho two\n", file:read "a")
  t:file("bin/tool", "other")
  assert.equal("", file:read "a")
  assert.matches("the mode must be digits from 0 to 7",
    problem_of(t.file, t, "a", "", { mode = "x" }))
end)

local function is_gone(pid) return not ml.process.kill(pid, 0) end

it("keeps no process ID of a group that has ended", function(_, _, t)
  local p = t:spawn { "sh", "-c", "sleep 100 & echo up; wait" }
  p:expect "up"
  p:stop { grace = 60 }
  t:wait_until(function() return is_gone(p.pid) end)
end)

it("kills what stays of a group", function(_, _, t)
  local p = t:spawn { "sh", "-c",
    [[sh -c 'trap "" TERM; echo up $$; while :; do sleep 0.01; done' & wait]] }
  local rest = tonumber(p:expect "up (%d+)\n")
  p:stop { grace = 0.1 }
  t:wait_until(function() return is_gone(rest) and is_gone(p.pid) end)
end)

it("names the argument that an unset variable has left out", function(_, _, t)
  local unset
  for name in pairs { spawn = true, run = true } do
    assert.matches("argument 2 is nil, but argument 3 is given",
      problem_of(t[name], t, { "printf", "-p", unset, "x" }), 1, true)
  end
  assert.matches("the program is nil, but argument 1 is given",
    problem_of(t.run, t, { unset, "x" }), 1, true)
end)

it("gives each port once", function(_, _, t)
  local given = {}
  for _ = 1, 200 do
    local port = t:free_port()
    assert.is_nil(given[port])
    given[port] = true
  end
end)

it("keeps its times beside a program that never stops to write", function(_, _, t)
  local p = t:spawn { "yes" }
  ml.sleep(0.3)
  assert.matches("did not match 'no' within 0.3 s", problem_of(p.expect, p, "no", 0.3), 1, true)
  assert.is_true(#p.stdout.text <= 16 << 20, "bounded")
  assert.equal("term", p:stop().signal)
end)

it("ends though what a program left behind holds its output", { leaks = "allow" },
  function(_, _, t)
    local p = t:spawn { "sh", "-c", "setsid sleep 61 & echo started", linger = 0.01 }
    p:expect "started"
    assert.equal(0, p:await().code)
  end)

it("says what is wrong with an expectation", function(_, _, t)
  local p = t:spawn { "echo", "hi" }
  assert.equal("program:expect: must be called with a colon", problem_of(p.expect, "hi"))
  assert.equal("program:expect: the pattern 'a [b' is malformed: a '[' has no ']'",
    problem_of(p.expect, p, "a [b"))
  assert.equal("program:expect: the time must be seconds, got \"1s\"",
    problem_of(p.expect, p, "hi", "1s"))
  assert.equal("program.stdin: it has none; start it with 'stdin = \"pipe\"'",
    problem_of(function() return p.stdin end))
end)

it("ends what a program has left in its group, and does not wait for it", function(_, _, t)
  local p = t:spawn { "sh", "-c", "sleep 61 & echo started", linger = 1000 }
  p:expect "started"
  t:wait_until(function() return not ml.process.kill(p.pid, 0)
    or io.open("/proc/" .. p.pid .. "/stat"):read("a"):find(") Z", 1, true) end)
end)

it("closes the terminal of what ignores SIGTERM", function(_, _, t)
  local p
  t:defer(function() assert.equal("hup", p:await().signal) end)
  p = t:spawn { "sh", "-c", "trap '' TERM; echo up; exec sleep 60", pty = true }
  p:expect "up"
end)

it("types at a closed terminal in vain", function(_, _, t)
  local p = t:spawn { "true", pty = true }
  p:await()
  assert.same({ nil, "program:press: the terminal of 'true' is closed", "EPIPE" },
    { p:press "enter" })
  assert.same("EPIPE", (select(3, p:type "x")))
end)

it("waits on a virtual clock where no program runs", { clock = "virtual" }, function(_, _, t)
  local since = ml.now()
  assert.is_true(t:wait_until(function() return ml.now() >= since + 2 end))
  local looks = 0
  local function day()
    looks = looks + 1
    return ml.now() >= since + 86400
  end
  t:wait_until(day, 100000)
  t:eventually(day, 100000)
  assert.is_true(looks < 3000 and ml.now() < since + 87000)
end)

it("does not take nil for success, but nothing", function(_, _, t)
  assert.matches("still returned nil",
    problem_of(t.eventually, t, function() return nil end, 0.02), 1, true)
  assert.equal(0, select("#", t:eventually(function() end)))
end)

it("finds mistakes in patterns wherever they are", function()
  local mistake = require("moonloop.text.patterns").mistake
  for _, good in ipairs { "", "a", "%%", "[]]", "[^]]", "[%]]", "(a)(b)", "()", "%b()", "%f[%w]",
    "a]", "[a-z%d]+", "^a$", ".-" } do
    assert.is_nil(mistake(good), good)
    assert.is_true(pcall(string.find, "aaa", good), good)
  end
  for _, bad in ipairs { "%", "a%", "[", "[a", "[^", "[]", "[%", "(a", "a)", "%b", "%b(", "%fa" } do
    assert.is_string(mistake(bad), bad)
  end
end)

it("keeps what a test writes in its folder, and wants a case to check", function(_, _, t)
  for _, name in ipairs { "../x", "a/../../x", "..", "/tmp/x" } do
    for _, tool in ipairs { "file", "golden" } do
      assert.equal(("t:%s: the name must lie in the folder, got %q"):format(tool, name),
        problem_of(t[tool], t, name, "text"))
    end
  end
  for given, shown in pairs { [0] = "0", [1.5] = "1.5", many = '"many"' } do
    assert.equal("t:forall: 'runs' must be a whole number > 0, got " .. shown,
      problem_of(t.forall, t, { t.any.integer() }, print, { runs = given }))
  end
end)

local ends = {}
it("defers what deferred functions defer", function(_, _, t)
  t:defer(function()
    t:defer(function()
      ends[#ends + 1] = "inner"
      t:spawn { "sleep", "100" }
    end)
    ends[#ends + 1] = "outer"
  end)
end)

it("has called them in that order", function() assert.same({ "outer", "inner" }, ends) end)

it("captures all of a piece that comes in two", function(_, _, t)
  local p = t:spawn { "sh", "-c", "printf 'port 80'; sleep 0.01; printf '80, '; cat",
    stdin = "pipe" }
  assert.equal("8080", p:expect "port (%d+)")
  p.stdin:write "ready"
  assert.equal("ready", p:expect "ready")
end)

it("leaves the connection of a server that takes one to the test", function(_, _, t)
  local port = t:free_port()
  local p = t:spawn { "python3", "-c", ([[
import socket
s = socket.socket()
s.bind(("127.0.0.1", %d))
s.listen()
connection, _ = s.accept()
print("got", connection.recv(100).decode().split()[1], flush = True)
connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
]]):format(port) }
  t:wait_port(port, 30)
  t:get((":%d/page"):format(port)):expect(200, "hi")
  p:expect("got /page\n", 30)
end)
