// The command line as bytes, since file names need not be UTF-8. A replay has the recorded one.

internal import Glibc
internal import Moonloop
internal import MoonloopSystem

/// The program's arguments. Main thread only.
enum ProgramArguments {
  // Unsafe: set before any other thread runs, by the main thread.
  nonisolated(unsafe) private static var replaced: [UnsafeMutablePointer<CChar>]?

  static var count: Int { replaced?.count ?? OwnArguments.count }

  /// The bytes of an argument, zero-terminated; valid until the program ends.
  static subscript(index: Int) -> UnsafeMutablePointer<CChar> {
    replaced?[index] ?? OwnArguments[index]
  }

  /// Replaces the arguments.
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

extension UnsafePointer<CChar> {
  /// The bytes before the zero.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: self, count: strlen(self)) }
}
