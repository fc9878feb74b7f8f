// W6, W16: a server that sends back what comes.
require("net").createServer((socket) => {
  socket.setNoDelay(true);
  socket.on("data", (data) => socket.write(data));
  socket.on("error", () => socket.destroy());
}).listen({ host: "127.0.0.1", port: process.env.BENCH_PORT, backlog: 1024 });
