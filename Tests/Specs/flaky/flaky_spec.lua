-- Fails in every other run; `string` outlives the insulation of the file.
it("is flaky", function()
  string.runs = (string.runs or 0) + 1
  assert(string.runs % 2 == 0, "odd")
end)
