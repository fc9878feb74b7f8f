-- The screen of a terminal, and programs that draw on it.
local screen = require "moonloop.testing.screen"
local surface = require "moonloop.testing.surface"

local function drawn(text)
  local replies = {}
  local one = screen.new(10, 4, function(reply) replies[#replies + 1] = reply end)
  screen.feed(one, text)
  return one, replies
end

-- What is written, and what a terminal of 10 columns and 4 rows shows then.
local SHOWN = {
  { "moves and wraps", "hello\r\nworld 12345678", "hello\nworld 1234\n5678" },
  { "waits at the end of a row", "0123456789\r\nnext", "0123456789\nnext" },
  { "goes to places", "\27[3;4Hx\27[Ay\27[2Dz\27[;2Hw", " w\n   zy\n   x" },
  { "erases lines", "abcdef\27[3D\27[K\r\nabcdef\27[3D\27[1K\r\nabc\27[2K", "abc\n    ef" },
  { "erases the screen", "a\r\nb\r\nc\27[2;1H\27[Jd", "a\nd" },
  { "erases what is above", "a\r\nb\r\nc\27[2;1H\27[1J", "\n\nc" },
  { "scrolls", "1\r\n2\r\n3\r\n4\r\n5", "2\n3\n4\n5" },
  { "scrolls between margins", "1\r\n2\r\n3\r\n4\27[2;3r\27[3;1H\nx", "1\n3\nx\n4" },
  { "scrolls back", "1\r\n2\27[H\27M0", "0\n1\n2" },
  { "inserts and deletes lines", "1\r\n2\r\n3\27[2H\27[Lx\27[H\27[M", "x\n2\n3" },
  { "inserts and deletes characters", "abcd\27[3D\27[2@x\27[4G\27[P", "ax cd" },
  { "inserts while it is told to", "bc\r\27[4ha\27[4l", "abc" },
  { "draws wide and combined characters", "日本e\u{301}x", "日本e\u{301}x" },
  { "wraps a wide character whole", "123456789日", "123456789\n日" },
  { "draws lines", "\27(0lqk\27(B.", "┌─┐." },
  { "repeats", "-\27[3b", "----" },
  { "has tabs and backspaces", "a\tb\8c", "a       c" },
  { "keeps the other screen apart", "one\27[?1049h\27[2Jtwo\27[?1049l!", "one!" },
  { "saves the cursor", "ab\0277cd\0278x", "abxd" },
  { "passes over what it does not know", "a\27[?2004h\27[>4;1m\27P1$q\27\\b\27[3q", "ab" },
  { "shows bytes that are no text", "a\xffb", "a\u{fffd}b" },
  { "begins again", "abc\27cd", "d" },
}

describe("a screen", function()
  for _, row in ipairs(SHOWN) do
    it(row[1], function()
      assert.equal(row[3], (drawn(row[2]):text()))
      local parts = drawn ""
      for byte in row[2]:gmatch "." do screen.feed(parts, byte) end
      assert.equal(row[3], parts:text(), "byte by byte")
    end)
  end
  it("knows colours", function()
    local one = drawn "\27[1;31mr\27[0;48;5;200;38;2;1;2;3mx\27[39;49;4my\27[93;7mz\27[m."
    assert.same({ text = "r", bold = true, color = "red" }, one:cell(1, 1))
    assert.same({ text = "x", color = "#010203", background = 200 }, one:cell(1, 2))
    assert.same({ text = "y", underline = true }, one:cell(1, 3))
    assert.same({ text = "z", underline = true, reverse = true, color = "bright yellow" },
      one:cell(1, 4))
    assert.same({ text = "." }, one:cell(1, 5))
  end)
  it("answers", function()
    local _, replies = drawn "\27[2;3H\27[6n\27[5n\27[c"
    assert.same({ "\27[2;3R", "\27[0n", "\27[?62;22c" }, replies)
  end)
  it("has a title, a cursor and a size", function()
    local one = drawn "\27]2;a title\7\27[?25l\27[2;9Hab"
    assert.equal("a title", one.title)
    assert.same({ row = 2, column = 10, visible = false }, one:cursor())
    assert.same({ 2, 9 }, { one:find "ab" })
    assert.is_nil(one:find "c")
    screen.resize(one, 5, 2)
    assert.same({ 5, 2 }, { one.columns, one.rows })
    assert.match("from 1 to 2, got 3", select(2, pcall(one.line, one, 3)))
    assert.match("2 rows of 5 columns, got row 1, column 6", select(2, pcall(one.cell, one, 1, 6)))
    local _, message = pcall(function() return one.txt end)
    assert.match("no field 'txt'; did you mean 'text'%?", message)
  end)
  it("survives anything", function()
    math.randomseed(7)
    local bytes = { "\27", "[", ";", "?", "9999999999", "h", "l", "m", "\xe6", "r", "@", "P", "\n" }
    local one = surface.new(20, 5, function() end)
    for _ = 1, 20000 do one:feed(bytes[math.random(#bytes)]) end
    for row = 1, 5 do assert.equal(20, #one.grid[row]) end
  end)
end)

describe("a program on a terminal", function()
  it("is seen, typed into, and resized", function(_, _, t)
    local p = t:spawn { "sh", "-c", [[
      printf '\033[2J\033[3;5H\033[32mName?\033[0m '; read name
      printf '\033[5;1HHello, %s %s' "$name" "$(stty size)"; read line]], pty = true, rows = 10 }
    p.screen:expect "Name%?"
    assert.same({ 3, 5 }, { p.screen:find "Name?" })
    assert.equal("green", p.screen:cell(3, 5).color)
    p:resize(60, 12)
    p:type "moon"
    p:press "enter"
    assert.equal("12 60", p.screen:expect "Hello, moon (%d+ %d+)")
    p:press "ctrl-c"
    assert.equal("int", p:await().signal)
  end)
  it("has the blanks of a prompt", function(_, _, t)
    local p = t:spawn { "sh", "-c", "printf '\\nName? '; read name; echo Hello, $name", pty = true }
    assert.equal("Name? ", p.screen:expect "Name%? ")
    assert.equal("\nName?", p.screen:text())
    p:type "moon\r"
    p.screen:expect "\nHello, moon$"
  end)
  it("says what it shows when a pattern does not come", function(_, _, t)
    local p = t:spawn { "printf", "this", pty = true, columns = 8, rows = 2 }
    local ok, message = pcall(p.screen.expect, p.screen, "that")
    assert.is_false(ok)
    assert.match("the screen did not match 'that': the program ended. It shows:\n"
      .. "    %+%-%-%-%-%-%-%-%-%+\n    |this    |", tostring(message.message or message))
  end)
  it("says when the text is there that is no match as a pattern", function(_, _, t)
    local p = t:spawn { "printf", "Name? ", pty = true, columns = 8, rows = 3 }
    local ok, message = pcall(p.screen.expect, p.screen, "Name? ")
    message = tostring(message)
    assert.is_false(ok)
    assert.match("it matches as plain text: add { plain = true }", message, 1, true)
    assert.match("|Name%?   |$", message)  -- without the rows below
    assert.equal("Name? ", p.screen:expect("Name? ", 1, { plain = true }))
  end)
  it("has no keys without a terminal, and no unknown ones", function(_, _, t)
    local plain, p = t:spawn { "true" }, t:spawn { "cat", pty = true }
    assert.match("program:type: it has no terminal", select(2, pcall(plain.type, plain, "x")))
    assert.match("program.screen: it has no terminal",
      select(2, pcall(function() return plain.screen end)))
    assert.match("unknown key 'entr'; did you mean 'enter'%?", select(2, pcall(p.press, p, "entr")))
  end)
end)

describe("a program at a terminal that takes no notice of SIGTERM", function()
  local path

  it("runs to the end of the test", function(_, _, t)
    path = os.tmpname()
    local p = t:spawn { pty = true, "sh", "-c", ([[
      trap '' TERM
      trap 'echo hung up >%s; exit' HUP
      echo ready
      while :; do sleep 0.1; done]]):format(path) }
    p:expect "ready"
  end)

  it("has ended with its terminal", function()
    finally(function() os.remove(path) end)
    assert.equal("hung up\n", io.open(path):read "a")
  end)
end)
