// W1b, W1c: one chain, or a hundred, of functions for the next turn: setImmediate, as a timer of
// node waits at least a millisecond.
const bench = require("../harness.js");
const last = bench.scaled(process.argv[2] === "1" ? 1e6 : 2e6);
let fires = 0;

const fire = () => {
  if (++fires < last) setImmediate(fire);
  else if (fires === last) {
    bench.stop(fires);
    process.exit(0);
  }
};

bench.idleDescriptor();
for (let i = 0; i < Number(process.argv[2]); i++) setImmediate(fire);
bench.start();
