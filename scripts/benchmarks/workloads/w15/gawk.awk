# W15: lines from standard input to standard output, each changed by a function.
function handle(line) { return toupper(line) }
{ print handle($0) }
