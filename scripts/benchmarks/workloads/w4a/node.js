// W4a: how long after a worker has posted a message its handler runs.
const { Worker, isMainThread, parentPort } = require("worker_threads");
const bench = require("../harness.js");
const count = bench.scaled(3000);

if (isMainThread) {
  const note = bench.times(count, () => process.exit(0));
  new Worker(__filename).on("message", (sent) => note(bench.wall() - sent));
} else {
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  for (let i = 0; i < count; i++) {
    Atomics.wait(nothing, 0, 0, 0.5);
    parentPort.postMessage(bench.wall());
  }
}
