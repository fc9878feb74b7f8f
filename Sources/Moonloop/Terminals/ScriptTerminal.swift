// A terminal of a script: its stream, whether it is raw, and the handler for its size.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// What a terminal handle stands for. Loop thread only.
final class ScriptTerminal {
  /// The descriptor of the stream; -1 once it was closed.
  private(set) var fd: Int32
  let stream: ScriptStream
  private var raw: RawTerminal?
  var resize: Loop.DescriptorSource?

  init(_ fd: Int32, _ stream: ScriptStream) {
    self.fd = fd
    self.stream = stream
  }

  var isOpen: Bool { fd >= 0 && stream.source.isValid }
  var isRaw: Bool { raw != nil }

  func setRaw(_ isRaw: Bool, keepsSignals: Bool) throws(SystemError) {
    raw = nil
    if isRaw { raw = try RawTerminal(fd, keepsSignals: keepsSignals) }
  }

  /// Calls the handler with the size that the terminal has now.
  func resized(_ source: Loop.DescriptorSource, _ runtime: Runtime) {
    guard let size = try? Terminal.size(fd) else { return }
    runtime.callOut(source) { ref in
      runtime.state.dispatch(ref: ref, slot: TerminalSlot.onResize) { stack in
        stack.push(size.columns)
        stack.push(size.rows)
        return 2
      }
    }
  }

  /// Restores the terminal and closes its streams.
  func end(_ runtime: Runtime) {
    raw = nil
    if let resize, resize.isValid { runtime.end(resize) }
    resize = nil
    if stream.source.isValid { runtime.end(stream.source) }
    fd = -1
  }

  /// Its handle was collected.
  func forget() {
    raw = nil
    fd = -1
  }
}

/// What a terminal handle keeps.
enum TerminalSlot {
  static let stream: Int32 = 1
  static let onResize: Int32 = 2
  static let count: Int32 = 2
}
