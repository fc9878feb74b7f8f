// Streams: bytes in and out; served in the modes of the tasks that wait for them.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

final class StreamKind: ItemKind {
  static let word = "stream"
  static var handles: ItemHandles? { ItemHandles(slots: 1, streamEntries) }
  static var holdsAtTimes: Bool { true }
  static var loopEntries: [LuaEntry] {
    [.method("stream") { hostLoop($0, $1, "loop:stream") { try makeStream($0, options: 2) } }]
  }
  static var moduleEntries: [LuaEntry] {
    [.function("stream") { host($0, $1, "ml.stream") { try makeStream($0, options: 1) } }]
  }

  let seat: KindSeat
  let event: Loop.DescriptorSource.Handler
  let failure: Loop.DescriptorSource.FailureHandler

  init(_ seat: KindSeat) {
    self.seat = seat
    let door = seat.door
    event = { source, event in
      door._withUnsafeGuaranteedRef { $0.deliver(stream: source, event) }
    }
    failure = { source, error in
      door._withUnsafeGuaranteedRef { runtime in
        if let stream = ScriptStream.of(source) { runtime.streamEnded(stream) }
        DescriptorKind.fail(source, error, runtime)
      }
    }
  }

  // MARK: The end

  func ended(_ source: Loop.DescriptorSource) {
    if let stream = ScriptStream.of(source) { runtime.streamEnded(stream) }
  }

  func collected(_ source: Loop.DescriptorSource) { ScriptStream.of(source)?.tellOfEnd() }

  /// Unless a handler is served, it goes on until it is unreachable.
  func endAfterReload(_ source: Loop.DescriptorSource) -> Bool {
    if ScriptStream.of(source)?.events?.isForEnd ?? true { return false }
    runtime.end(source)
    return true
  }

  // MARK: As text

  func reason(for source: Loop.DescriptorSource) -> String { obstacle(to: source) }

  func obstacle(to source: Loop.DescriptorSource) -> String {
    guard let stream = ScriptStream.of(source) else { return "it has ended" }
    var parts = [readerWords(stream), writerWords(stream), outputWords(stream)].compactMap { $0 }
    if parts.isEmpty {
      parts.append(
        stream.events == nil
          ? "no task is reading or writing it" : "its handler has received everything")
    }
    let modes = runtime.loop.modes(of: source)
    if let current = runtime.explanation.scriptRun?.mode.name, stream.isUsed,
      !modes.contains(current)
    {
      let list = modes.map(\.rawValue).joined(separator: ", ")
      parts.append(
        "the loop runs in mode '\(current)', but it is served in \(list.isEmpty ? "none" : list)")
    }
    return parts.joined(separator: "; ")
  }

  private func readerWords(_ stream: ScriptStream) -> String? {
    guard let reader = stream.reader, reader.isBusy else { return nil }
    let text = "\(who(reader)) waits for \(reader.what), and "
    if runtime.loop.kernel.isReady(stream.source.fd, for: .read) {
      return text + "there is more: \(runtime.explanation.blocker()), then it is read"
    }
    return text
      + "the other side has sent nothing\(stream.state.input.isEmpty ? "" : " more")"
  }

  private func writerWords(_ stream: ScriptStream) -> String? {
    guard let writer = stream.writer, writer.isBusy else { return nil }
    return "\(who(writer)) waits for \(writer.what)"
  }

  private func outputWords(_ stream: ScriptStream) -> String? {
    if stream.state.output.isEmpty { return nil }
    let isReady = runtime.loop.kernel.isReady(stream.source.fd, for: .write)
    return "\(stream.state.output.count) bytes are queued: "
      + (isReady
        ? "\(runtime.explanation.blocker()), then they are written"
        : "there is no room, because the other side does not read")
  }

  private func who(_ wait: StreamWait) -> String {
    wait.waiter.map { runtime.label(of: .task($0)) } ?? "a task"
  }
}
