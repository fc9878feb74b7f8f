// Which values are being read or written, each in the one before: decoders and encoders of others
// are over, for what they stand for lies on the stack no more.

/// A value while it is being read or written.
struct LuaFrame: Equatable, BitwiseCopyable {
  /// A number of its own, above its depth in the lowest byte.
  fileprivate let word: Int
  fileprivate var depth: Int { word & 255 }

  /// That of no value.
  static let none = LuaFrame(word: 0)
}

/// The values that are being read or written now.
struct LuaFrames {
  /// How deep tables may lie in one another: a cycle ends here.
  static let deepest = 200

  private var frames: [LuaFrame] = [.none]
  private var count = 0

  var isFull: Bool { frames.count > Self.deepest }

  /// The one that began last.
  var innermost: LuaFrame { frames[frames.count - 1] }

  /// Begins another one in the innermost.
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
