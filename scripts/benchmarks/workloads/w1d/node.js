// W1d: one-shot timers with no delay, which node makes one of a millisecond, made a thousand at a
// time and fired.
const bench = require("../harness.js");
const rounds = bench.scaled(1000), bulk = 1000;
let fires = 0, round = 0;

const fire = () => {
  if (++fires % bulk === 0) batch();
};

const batch = () => {
  if (round++ === rounds) return bench.stop(fires);
  for (let i = 0; i < bulk; i++) setTimeout(fire, 0);
};

bench.start();
batch();
