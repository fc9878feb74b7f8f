// W7: bytes of private memory for a TCP connection that has said one thing and is idle.
const net = require("net");
const bench = require("../harness.js");
const count = Number(process.argv[2]);
let bytes = 0, before;

const measure = () => {
  bench.collect();
  bench.report({ bytes: (bench.memory() - before) / count });
  process.exit(0);
};

const server = net.createServer((socket) => {
  socket.setNoDelay(true);
  socket.on("data", (data) => {
    socket.write(data);
    bytes += data.length;
    if (bytes === count * 64) setTimeout(measure, 300);
  });
}).listen({ host: "127.0.0.1", port: 0, backlog: 1024 }, () => {
  bench.collect();
  before = bench.memory();
  bench.idleClients(server.address().port, count);
});
