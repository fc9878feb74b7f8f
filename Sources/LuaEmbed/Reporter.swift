// Text that came from scripts, made fit to be shown: bounded, and without control bytes.

/// Cleans text of scripts.
package enum LuaText {
  /// The longest message that is kept, in bytes.
  package static let bound = 4096

  /// At most 4 kB, control bytes but newline and tab replaced.
  package static func clean(_ text: String) -> String {
    var text = text
    return text.withUTF8 { clean(UnsafeRawBufferPointer($0)) }
  }

  /// The same from bytes; what is not UTF-8 is replaced.
  package static func clean(_ bytes: UnsafeRawBufferPointer) -> String {
    let isCut = bytes.count > bound
    var kept = Array(bytes.prefix(bound))
    for i in kept.indices where (kept[i] < 0x20 && kept[i] != 9 && kept[i] != 10) || kept[i] == 0x7f {
      kept[i] = UInt8(ascii: "?")
    }
    return String(decoding: kept, as: UTF8.self) + (isCut ? "..." : "")
  }
}
