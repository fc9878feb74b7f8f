// W10: async functions that sleep ten times, up to 100 ms each time.
const bench = require("../harness.js");
const sleep = require("timers/promises").setTimeout;
const tasks = bench.scaled(1e5);
let left = tasks;

const task = async (i) => {
  for (let turn = 1; turn <= 10; turn++) await sleep(bench.nap(i, turn));
  if (--left === 0) bench.stop(tasks * 10);
};

for (let i = 1; i <= tasks; i++) setImmediate(task, i);
bench.start();
