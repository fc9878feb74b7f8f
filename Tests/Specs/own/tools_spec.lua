-- What the tools say when a program fails.
it("says all of a program that failed", function(_, _, t)
  local ok, message = pcall(t.run, t, { "sh", "-c", "echo out; echo one >&2; echo two >&2; exit 3",
    check = true })
  assert.is_false(ok)
  assert.equal("t:run: 'sh -c echo out; echo one >&2; echo two >&2; exit 3' ended with code 3\n"
    .. "stdout:\n    out\nstderr:\n    one\n    two", (message:gsub("^.-:%d+: ", "")))
  assert.equal("x", t:run { "printf", "x", check = true }.stdout)
end)
