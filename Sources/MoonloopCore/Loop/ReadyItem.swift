// What waits for its turn in a mode, one a pass.

/// Something that is ready and waits for its turn (R29, R54): a plain word, so that passing it
/// on counts no reference. It holds nothing: a descriptor is known by its token, and a port is in
/// the mode as long as it is in the queue.
struct ReadyItem: BitwiseCopyable, Equatable {
  private static let portBit: UInt64 = 1 << 63
  private let bits: UInt64

  /// The token of the main queue; those of descriptors are above it.
  static let mainQueueToken: UInt64 = 1
  static let mainQueue = ReadyItem(token: mainQueueToken)

  /// The main queue, or a descriptor by the token of its registrations.
  @inline(__always)
  init(token: UInt64) { bits = token }

  init(_ port: Loop.Port) {
    let address = UInt(bitPattern: Unmanaged.passUnretained(port).toOpaque())
    bits = UInt64(address) | Self.portBit  // user addresses are below that
  }

  var token: UInt64 { bits }
  var port: Unmanaged<Loop.Port>? {
    if bits & Self.portBit == 0 { return nil }
    return UnsafeRawPointer(bitPattern: UInt(bits & ~Self.portBit)).map { .fromOpaque($0) }
  }
}
