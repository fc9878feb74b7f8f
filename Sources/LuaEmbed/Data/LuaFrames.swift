// The values that are being read or written, each inside the one before. Decoders and encoders of
// any other value have expired, because that value is no longer on the stack.

internal import CLuaShims

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

/// A table that a container stands for, on the stack as long as nothing below it goes: what a type
/// does with the state while it crosses may take it off.
struct LuaOpenTable {
  let index: Int32
  private let address: Int

  static let none = LuaOpenTable(index: 0, address: 0)

  init(_ stack: LuaStack, _ index: Int32) {
    self.init(index: index, address: Int(bitPattern: cml_topointer(stack.L, index)))
  }

  private init(index: Int32, address: Int) {
    (self.index, self.address) = (index, address)
  }

  /// Whether it is still there; never for `none`.
  @inline(__always)
  func isOpen(_ stack: LuaStack) -> Bool {
    address != 0 && Int(bitPattern: cml_topointer(stack.L, index)) == address
  }
}
