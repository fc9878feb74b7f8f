// W3a, W3b: functions that ask for their next call: node has no source that can be signalled, and
// setImmediate is what stands for one.
const bench = require("../harness.js");
const last = bench.scaled(process.argv[2] === "1" ? 1e6 : 2e6);
let performed = 0;

class Source {
  perform = () => {
    if (++performed === last) {
      bench.stop(performed);
      process.exit(0);
    }
    this.signal();
  };

  signal() {
    setImmediate(this.perform);
  }
}

bench.idleDescriptor();
for (let i = 0; i < Number(process.argv[2]); i++) new Source().signal();
bench.start();
