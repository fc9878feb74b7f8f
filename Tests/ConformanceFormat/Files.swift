// Scenario files, and the environment's factor of time.

import Glibc

extension Scenario {
  /// When a scenario is given up, in nanoseconds of scenario time.
  package static let limit: Int64 = 20_000_000_000

  /// Reads a scenario file.
  package static func read(file path: String) throws(FormatError) -> Scenario {
    do { return try read(try fileContents(path)) } catch {
      throw FormatError(message: "\(path): \(error.message)")
    }
  }

  /// Reads a file of scenarios, one a line.
  package static func readLines(file path: String) throws(FormatError) -> [Scenario] {
    var all: [Scenario] = []
    for line in try fileContents(path).split(separator: UInt8(ascii: "\n")) {
      all.append(try read(Array(line)))
    }
    return all
  }
}

/// The factor of CONFORMANCE_SCALE.
package func timeScale() -> Int64 {
  guard let text = getenv("CONFORMANCE_SCALE") else { return 1 }
  guard let scale = Int64(String(cString: text)), (1...1000).contains(scale) else {
    fail("CONFORMANCE_SCALE is a whole number from 1 to 1000, not '\(String(cString: text))'")
  }
  return scale
}

package func fileContents(_ path: String) throws(FormatError) -> [UInt8] {
  guard let file = fopen(path, "rb") else {
    throw FormatError(message: String(cString: strerror(errno)))
  }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 65536)
  while true {
    let count = fread(&chunk, 1, chunk.count, file)
    bytes += chunk[..<count]
    guard count == chunk.count else { break }
  }
  guard ferror(file) == 0 else { throw FormatError(message: "cannot be read") }
  return bytes
}
