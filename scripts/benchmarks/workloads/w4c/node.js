// W4c: numbers that a worker posts, one message each.
const { Worker, isMainThread, parentPort } = require("worker_threads");
const bench = require("../harness.js");
const last = bench.scaled(1e6);

if (isMainThread) {
  const worker = new Worker(__filename).on("message", (number) => {
    if (number === 0) {
      bench.start();
      worker.postMessage("go");
    } else if (number === last) {
      bench.stop(last);
      process.exit(0);
    }
  });
} else {
  parentPort.once("message", () => {
    for (let number = 1; number <= last; number++) parentPort.postMessage(number);
  });
  parentPort.postMessage(0);
}
