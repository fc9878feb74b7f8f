// Gives bytes to the parsers of what comes from outside: `FuzzProgram TARGET FILE...` reads files,
// as a test does; with libFuzzer linked (`scripts/fuzz`), what follows TARGET is for that.

import CFuzz
import Glibc

guard CommandLine.argc > 1, let target = targets[CommandLine.arguments[1]] else {
  print("usage: FuzzProgram \(targets.keys.sorted().joined(separator: "|")) FILE...")
  exit(2)
}
parser = target()

var count = CommandLine.argc - 1
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
let status = cfz_run(&count, &arguments) { bytes, count in
  parser?(UnsafeRawBufferPointer(start: bytes, count: count))
  return 0
}
if status >= 0 { exit(status) }
for path in CommandLine.arguments.dropFirst(2) {
  guard let file = fopen(path, "r") else { exit(2) }
  var bytes = [UInt8](repeating: 0, count: 1 << 20)
  let size = fread(&bytes, 1, bytes.count, file)
  fclose(file)
  bytes[..<size].withUnsafeBytes { parser?($0) }
}
print("passed \(CommandLine.argc - 2)")
