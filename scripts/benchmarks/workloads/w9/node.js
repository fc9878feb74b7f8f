// W9: how late a repeating timer of 1 ms is: time since the last point of its grid.
const bench = require("../harness.js");
const note = bench.times(bench.scaled(1000), () => process.exit(0));

const start = bench.wall();
setInterval(() => note((bench.wall() - start) % 1000000), 1);
