// The values that are being read or written, each inside the one before. Decoders and encoders of
// any other value have expired, because that value is no longer on the stack.

/// A value while it is being read or written.
struct LuaFrame: Equatable, BitwiseCopyable {
  /// A unique number, with its depth in the lowest byte.
  fileprivate let word: Int
  fileprivate var depth: Int { word & 255 }

  /// The frame of no value.
  static let none = LuaFrame(word: 0)
}

/// The values that are being read or written now.
struct LuaFrames {
  /// How deeply tables may be nested: a cycle ends here.
  static let deepest = 200

  private var frames: [LuaFrame] = [.none]
  private var count = 0

  var isFull: Bool { frames.count > Self.deepest }

  /// The one that began last.
  var innermost: LuaFrame { frames[frames.count - 1] }

  /// Begins another one inside the innermost.
  mutating func begin() {
    count += 1
    frames.append(LuaFrame(word: count << 8 | frames.count))
  }

  mutating func end() { frames.removeLast() }

  @inline(__always)
  func contains(_ frame: LuaFrame) -> Bool {
    frame.depth > 0 && frame.depth < frames.count && frames[frame.depth] == frame
  }
}
