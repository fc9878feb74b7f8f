// W15: lines from standard input to standard output, each changed by a handler. One write for the
// lines of a chunk: readline with a write for each line takes a multiple of this.
const handle = (line) => line.toUpperCase();
let pending = "";

process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (pending + chunk).split("\n");
  pending = lines.pop();
  let answer = "";
  for (const line of lines) answer += handle(line) + "\n";
  process.stdout.write(answer);
});
process.stdin.on("end", () => {
  if (pending) process.stdout.write(handle(pending) + "\n");
});
