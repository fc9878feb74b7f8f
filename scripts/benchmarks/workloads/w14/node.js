// W14: small tests, in the words of node:test.
const { describe, it } = require("node:test");
const assert = require("node:assert");

describe("a small test", () => {
  for (let i = 1; i <= Number(process.env.BENCH_COUNT); i++) {
    it("adds and compares " + i, () => {
      assert.strictEqual(i + i, 2 * i);
      assert.deepStrictEqual({ i, name: "n" + i }, { i, name: "n" + i });
    });
  }
});
