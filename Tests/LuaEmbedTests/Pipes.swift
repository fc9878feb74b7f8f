// Pipes for tests that look at output.

import Glibc

func makePipe(_ ends: inout [Int32]) -> Bool { pipe(&ends) == 0 }

/// Closes the writing end and reads everything.
func readPipe(_ ends: [Int32]) -> String {
  close(ends[1])
  var bytes = [UInt8](repeating: 0, count: 65536)
  let count = read(ends[0], &bytes, bytes.count)
  close(ends[0])
  return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
}
