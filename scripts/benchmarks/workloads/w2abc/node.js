// W2a, b, c: cancels one of some live far timers, anywhere among them, and makes another.
const bench = require("../harness.js");
const { far } = bench, count = Number(process.argv[2]), batch = 1000, batches = bench.scaled(1000);
const live = [], stride = bench.stride(count);
let at = 0, n = 0;

const never = () => {};

const churn = () => {
  let i = at, delay = n % far.length;
  for (let turn = 0; turn < batch; turn++) {
    i += stride;
    if (i >= count) i -= count;
    if (++delay >= far.length) delay = 0;
    clearTimeout(live[i]);
    live[i] = setTimeout(never, far[delay] * 1000);
  }
  at = i;
  n += batch;
  if (n < batch * batches) return setImmediate(churn);
  bench.stop(n);
  process.exit(0);
};

for (let i = 0; i < count; i++) live.push(setTimeout(never, far[i % far.length] * 1000));
setImmediate(churn);
bench.start();
