// The command line as bytes: names of files need not be UTF-8. A replay has that of its recording.

internal import Moonloop

/// What the program was started with. Main thread only.
enum ProgramArguments {
  // Unsafe: set before any other thread runs, by the main thread.
  nonisolated(unsafe) private static var replaced: [UnsafeMutablePointer<CChar>]?

  static var count: Int { replaced?.count ?? Int(CommandLine.argc) }

  /// The bytes of an argument, ended by a zero; good for as long as the program runs.
  static subscript(index: Int) -> UnsafeMutablePointer<CChar> {
    replaced?[index] ?? CommandLine.unsafeArgv[index]!
  }

  /// Puts others in their place.
  static func replace(_ arguments: [UnsafeRawBufferPointer]) {
    replaced = arguments.map { bytes in
      let text = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
      for (index, byte) in bytes.enumerated() { text[index] = CChar(bitPattern: byte) }
      text[bytes.count] = 0
      return text
    }
  }

  static var texts: [String] { (0..<count).map { String(cString: self[$0]) } }
}
