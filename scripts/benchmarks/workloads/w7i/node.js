// W7i: wake-ups and CPU time of an idle loop with 1,000 far timers and 100 idle descriptors.
const net = require("net");
const bench = require("../harness.js");

for (let i = 0; i < 1000; i++) setTimeout(() => {}, bench.far[i % bench.far.length] * 1000);
for (let i = 0; i < 100; i++) net.createServer().listen(0, "127.0.0.1");
setTimeout(() => {
  const seconds = Number(process.env.BENCH_SCALE ?? 1) < 1 ? 1 : 5;
  const switches = bench.switches(), before = bench.cpu();
  setTimeout(() => {
    bench.report({
      wakeups: bench.switches() - switches - 1,
      cpu_ms: (bench.cpu() - before) / 1e6,
    });
    process.exit(0);
  }, seconds * 1000);
}, 1500);
