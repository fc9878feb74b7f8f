-- Real programs, driven and ended with their tests.
local ml = require "moonloop"

describe("a program", function()
  it("is waited for by what it writes", function(_, _, t)
    local p = t:spawn { "sh", "-c", "echo one; echo two >&2; echo port 4711; sleep 60" }
    expect(p.stdout, "one\n")
    assert.equal("4711", p:expect("port (%d+)"))
    assert.equal("two\n", p.stderr:expect("two\n", 5, { plain = true }))
  end)

  it("has an environment of its own", function(_, _, t)
    local r = t:run { "sh", "-c", "echo $HOME $LANG $TZ ${MOONLOOP_UNSET-unset}; pwd",
      cwd = t:tmpdir(), env_add = { EXTRA = "1" } }
    assert.equal(("%s C.UTF-8 UTC unset\n%s\n"):format(t:tmpdir(), t:tmpdir()), r.stdout)
  end)

  local folder, pid
  it("has a folder", function(_, _, t)
    folder = t:tmpdir()
    local path = t:file("deep/down/note.txt", "text")
    local p = t:spawn { "sh", "-c", 'cat "$0"; touch left; sleep 60', path, cwd = folder }
    p:expect "text"
    pid = p.pid
  end)

  it("is gone afterwards, and so is the folder", function()
    assert.is_nil(io.open(folder .. "/left"))
    assert.is_nil((ml.process.kill(pid, 0)))
  end)

  it("is waited for by its port", function(_, _, t)
    local port = t:free_port()
    assert.is_true(port > 1023)
    t:spawn { "python3", "-m", "http.server", "--bind", "127.0.0.1", port, cwd = t:tmpdir() }
    t:wait_port(port, 30)
  end)

  it("is read to its end", function(_, _, t)
    local p = t:spawn { "sh", "-c", "read x; echo got $x", stdin = "pipe" }
    p.stdin:write "hello\n"
    assert.equal("got hello\n", p.stdout:all())
    assert.equal(0, p:await().code)
  end)
end)

describe("a program of a block", function()
  local p
  setup(function(_, _, t) p = t:spawn { "cat", stdin = "pipe" } end)
  for _, word in ipairs { "first", "second" } do
    it("serves the tests in it: " .. word, function()
      p.stdin:write(word, "\n")
      p:expect(word)
    end)
  end
end)

describe("what fails", function()
  it("says what the program wrote", function(_, _, t)
    local p = t:spawn { "sh", "-c", "echo starting; echo 'no disk' >&2; exit 3" }
    p:expect "ready"
  end)
  it("says so within its time", function(_, _, t)
    t:spawn { "sh", "-c", "echo starting; sleep 60" }:expect("ready", 0.2)
  end)
  it("says what came after the last match", function(_, _, t)
    local p = t:spawn { "sh", "-c", "echo ready; echo working; sleep 60" }
    p:expect "ready\n"
    p:expect("ready", 0.2)
  end)
  it("shows the screen of a terminal", function(_, _, t)
    local p = t:spawn { "sh", "-c", "printf '\\033[2J\\033[Hhello'; sleep 60", pty = true,
      columns = 20 }
    p.screen:expect "hello"
    assert.is_true(false)
  end)
  it("finds what a program left behind", function(_, _, t)
    t:spawn { "sh", "-c",
      [[mkfifo "$HOME/in"; setsid sh -c 'echo started; read line' <>"$HOME/in" & wait]],
    }:expect "started"
  end)
  it("does not list its own tasks", { timeout = 0.3 }, function(_, _, t)
    t:spawn { "sleep", "60" }
    ml.sleep(60)
  end)
  it("names the program that is not there", function(_, _, t) t:spawn { "no-such-program" } end)
  it("waits for no port in vain", function(_, _, t) t:wait_port(1, 0.05) end)
  it("shows the ends of a long line", function(_, _, t)
    local p = t:spawn { "printf", "ä%0700d", "1" }
    p:await()
    p:expect "2"
  end)
  it("shows what a program wrote that was run", function(_, _, t)
    t:run { "sh", "-c", "echo first" }
    local r = t:run { "sh", "-c", "echo 'no such host' >&2; exit 3" }
    t:run { "sh", "-c", "echo last" }
    assert.equal(0, r.code)
  end)
  it("says it once", function(_, _, t)
    t:run { "sh", "-c", "echo 'no such host' >&2; exit 3", check = true }
  end)
  it("says what one wrote that did not end", function(_, _, t)
    t:run { "sh", "-c", "echo working; exec sleep 60", timeout = 0.2 }
  end)
  it("says so of one that it waits for", function(_, _, t)
    local p = t:spawn { "sh", "-c", "echo working; exec sleep 60" }
    p:expect "working"
    p:await(0.1)
  end)
  it("waits for seconds", function(_, _, t) t:spawn({ "sleep", "100" }):await "5" end)
  it("shows the ends of a long text", function(_, _, t)
    assert.match("^x", t:run({ "seq", 1, 3000 }).stdout)
  end)
  it("cannot wait on a clock that stands", { clock = "virtual" }, function(_, _, t)
    t:spawn { "sleep", "60" }
    t:wait_until(function() end)
  end)
end)

describe("a golden file", function()
  it("is the same", function(_, _, t) t:golden("same.txt", "one\ntwo\n") end)
  it("is another", function(_, _, t) t:golden("same.txt", "one\n2\n") end)
  it("is missing", function(_, _, t) t:golden("missing.txt", "one\n") end)
  it("is of one/test", function(_, _, t) t:snapshot(1) end)
  it("is of one test", function(_, _, t) t:snapshot(1) end)
end)

it("reads what is beside it", function(_, _, t)
  assert.equal("one\ntwo\n", t:read "golden/same.txt")
  local log = {}
  t:defer(function()
    ml.sleep(0)
    assert.same({ "last", "first" }, log)
  end)
  t:defer(function() log[#log + 1] = "first" end)
  t:defer(function() log[#log + 1] = "last" end)
end)

describe("a program that does not start", function()
  setup(function(_, _, t)
    t:spawn { "sh", "-c", "echo starting; echo 'no licence' >&2; exit 3" }:expect "ready"
  end)
  it("is not served", function() end)
end)

describe("programs of a block", function()
  local p
  setup(function(_, _, t)
    t:spawn { "sh", "-c", "echo 'no port' >&2; exit 3" }:await()
    p = t:spawn { "sh", "-c", "echo up; read line; echo \"got $line\"; cat", stdin = "pipe" }
    p:expect "up"
  end)
  it("do not explain a failure that they have no part in", function() error("alone", 0) end)
  it("explain one by what they wrote meanwhile", function()
    p.stdin:write "a request\n"
    p:expect "got a request"
    error("together", 0)
  end)
end)
