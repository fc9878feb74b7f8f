-- W14: small tests, in busted's words.
describe("a small test", function()
  for i = 1, tonumber(os.getenv "BENCH_COUNT") do
    it("adds and compares " .. i, function()
      assert.equal(2 * i, i + i)
      assert.same({ i, name = "n" .. i }, { i, name = "n" .. i })
    end)
  end
end)
