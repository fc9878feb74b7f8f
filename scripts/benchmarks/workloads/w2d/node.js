// W2d: the idle time-out: moves live timers, in turn or at random, to a far time from now.
const bench = require("../harness.js");
const count = Number(process.argv[2]), batch = 1000, live = [];
const batches = bench.scaled(process.argv[3] ? 2000 : 5000);
const order = bench.order(count, process.argv[3] === "random");
let at = 0, n = 0;

const rearm = () => {
  let i = at;
  for (let turn = 0; turn < batch; turn++) {
    if (++i >= count) i = 0;
    live[order[i]].refresh();
  }
  at = i;
  n += batch;
  if (n < batch * batches) return setImmediate(rearm);
  bench.stop(n);
  process.exit(0);
};

for (let i = 0; i < count; i++) live.push(setTimeout(() => {}, 1000000));
setImmediate(rearm);
bench.start();
