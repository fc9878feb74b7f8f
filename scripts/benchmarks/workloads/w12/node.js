// W12: a small page by node's own server.
require("http").createServer((request, response) => {
  response.end("hello, world~");
}).listen({ host: "127.0.0.1", port: process.env.BENCH_PORT, backlog: 1024 });
