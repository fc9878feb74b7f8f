// W1a: 10,000 repeating timers of 1 to 10 ms, or all of 1 ms; the cost of a fire.
const bench = require("../harness.js");
const last = bench.scaled(2e6);
let fires = 0;

const fire = () => {
  if (++fires === last) {
    bench.stop(fires);
    process.exit(0);
  }
};

const every = Number(process.argv[2]);
for (let i = 1; i <= 10000; i++) setInterval(fire, every || (i % 10) + 1);
bench.start();
