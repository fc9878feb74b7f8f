// Numbers, texts and bytes in a row, as passed to an intake.

/// Appends values to bytes.
package struct PackedWriter {
  package private(set) var bytes: [UInt8] = []

  package init() { bytes.reserveCapacity(256) }

  /// Empties it, and keeps its memory.
  package mutating func clear() { bytes.removeAll(keepingCapacity: true) }

  package mutating func put(_ number: Int) {
    withUnsafeBytes(of: Int64(number).littleEndian) { bytes.append(contentsOf: $0) }
  }

  package mutating func put(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

  package mutating func put(_ content: [UInt8]) {
    put(content.count)
    bytes.append(contentsOf: content)
  }

  /// Bytes that stand in two pieces.
  package mutating func put(_ first: [UInt8], _ second: ContiguousArray<UInt8>) {
    put(first.count + second.count)
    bytes.append(contentsOf: first)
    bytes.append(contentsOf: second)
  }

  package mutating func put(_ text: String) { put(Array(text.utf8)) }

  package mutating func put(_ text: String?) {
    put(text != nil)
    if let text { put(text) }
  }
}

/// Reads the values in the order in which they were written. Checksums guarantee that the input was
/// written like this; what does not fit is read as zeros.
package struct PackedReader {
  private let bytes: UnsafeRawBufferPointer
  private var at = 0

  package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  package mutating func number() -> Int {
    guard bytes.count - at >= 8 else { return 0 }
    defer { at += 8 }
    return Int(
      Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: Int64.self)))
  }

  /// How many of something follow: never more than there are bytes.
  package mutating func count() -> Int {
    let count = number()
    return min(max(0, count), bytes.count - at)
  }

  package mutating func flag() -> Bool {
    guard at < bytes.count else { return false }
    defer { at += 1 }
    return bytes[at] != 0
  }

  package mutating func content() -> UnsafeRawBufferPointer {
    let count = count()
    defer { at += count }
    return UnsafeRawBufferPointer(rebasing: bytes[at..<at + count])
  }

  package mutating func text() -> String { String(decoding: content(), as: UTF8.self) }

  package mutating func optionalText() -> String? { flag() ? text() : nil }
}
