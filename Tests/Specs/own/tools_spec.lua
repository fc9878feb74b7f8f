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
  assert.equal('t:run: takes a table, such as { "ls", "-l" }, got a nil', problem(t.run, t))
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
