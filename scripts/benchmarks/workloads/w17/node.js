// W17: a timer of 10 ms beside live data, as many objects as the others have; see harness.lua.
const bench = require("../harness.js");
const live = [], late = [], fires = bench.scaled(1000);
for (let i = 0; i < bench.scaled(1.2e6); i++) live.push({ id: i, name: "item " + i });
bench.collect();

let last, sink;
setInterval(() => {
  const begin = bench.wall();
  for (let i = 0; i < 4000; i++) sink = { id: i };
  if (last) late.push(Math.max(0, bench.wall() - last - 1e7) / 1e6);
  last = begin;
  if (late.length < fires) return;
  late.sort((a, b) => a - b);
  const at = (part) => late[Math.floor(fires * part)];
  bench.report({ p50: at(0.5), p99: at(0.99), p999: at(0.999), mb: bench.memory() / 2 ** 20 });
  process.exit(live.length ? 0 : 1);
}, 10);
