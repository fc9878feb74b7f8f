// What the workloads of node share, as harness.lua for those in Lua.
const { spawn } = require("child_process");
const fs = require("fs");
const scale = Number(process.env.BENCH_SCALE ?? 1);

exports.scaled = (operations) => Math.max(1, Math.floor(operations * scale));

// Far dates in seconds and naps in milliseconds, the same as of the others.
exports.far = [];
for (let i = 0, seed = 1; i < 1021; i++) {
  seed = (seed * 48271) % 2147483647;
  exports.far.push(1000 + (seed % 9000));
}
exports.nap = (i, turn) => ((i * 61803 + turn * 31607) % 100003) / 1e3;
exports.stride = (count) => Math.floor((count * 61803) / 100000) | 1;

exports.order = (count, isRandom) => {
  const places = Array.from({ length: count }, (_, i) => i);
  for (let i = count, seed = 1; isRandom && i > 1; i--) {
    seed = (seed * 48271) % 2147483647;
    const j = seed % i;
    [places[i - 1], places[j]] = [places[j], places[i - 1]];
  }
  return places;
};

// A descriptor that is watched and never ready, if the row wants one.
exports.idleDescriptor = () => {
  if (process.argv[3] === "fd") require("net").createServer().listen(0, "127.0.0.1");
};

exports.report = (figures) => {
  fs.writeSync(1, JSON.stringify(figures) + "\n");
};

// Of all threads, those that compile and collect included.
const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1e3;
};
exports.cpu = cpu;
exports.wall = () => Number(process.hrtime.bigint());

let cpuBegin, wallBegin;
exports.start = () => {
  cpuBegin = cpu();
  wallBegin = exports.wall();
};

exports.stop = (operations) => {
  exports.report({
    cpu: (cpu() - cpuBegin) / operations,
    wall: (exports.wall() - wallBegin) / operations,
    operations,
  });
};

exports.times = (count, finished) => {
  const times = [];
  return (time) => {
    times.push(time);
    if (times.length !== count) return;
    times.sort((a, b) => a - b);
    exports.report({
      p50: times[Math.floor(count / 2)] / 1e3,
      p99: times[Math.floor((count * 99) / 100)] / 1e3,
    });
    finished();
  };
};

const statusNumber = (path, key) => {
  const line = fs.readFileSync(path, "utf8").split("\n").find((text) => text.startsWith(key));
  return line ? parseInt(line.slice(key.length), 10) : 0;
};
exports.memory = () => statusNumber("/proc/self/status", "RssAnon:") * 1024;
exports.switches = () =>
  fs.readdirSync("/proc/self/task")
    .map((task) => statusNumber(`/proc/self/task/${task}/status`, "voluntary_ctxt_switches:"))
    .reduce((a, b) => a + b);

// Collects as much as can be; the flag is set here, so that no command line needs it.
require("v8").setFlagsFromString("--expose-gc");
const collect = require("vm").runInNewContext("gc");
exports.collect = () => {
  collect();
  collect();
};

let crowd;
exports.idleClients = (port, count) => {
  crowd = spawn(process.env.BENCH_CLIENTS, [0, port, count, count, 64, 0].map(String));
};
