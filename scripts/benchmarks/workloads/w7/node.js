// W7: bytes of private memory for a far timer, a sleeping task.
const bench = require("../harness.js");
const kind = process.argv[2], count = Number(process.argv[3]);

const make = {
  timer() {
    for (let i = 0; i < count; i++) setTimeout(() => {}, 1000000);
  },
  task() {
    const nap = async () => { await new Promise((resolve) => setTimeout(resolve, 1000000)); };
    for (let i = 0; i < count; i++) nap();
  },
};

bench.collect();
const before = bench.memory();
make[kind]();
setTimeout(() => {
  bench.collect();
  bench.report({ bytes: (bench.memory() - before) / count });
  process.exit(0);
}, 100);
