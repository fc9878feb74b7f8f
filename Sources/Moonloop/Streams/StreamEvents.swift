// The handler form of streams: one event per call, as a stream's delegate gets them (R67).

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// Which events the handler has been given, and which may come next. Loop thread only.
///
/// `open_completed` comes before all others, `error` or `end` last and once; `has_bytes` again only
/// after a read, `has_space` only after a write. A handler for the end gets `error` or `end` alone.
final class StreamEvents {
  /// It is for the end only. Bytes that come before it are kept for reads; so many stop the watch
  /// until some are read.
  let isForEnd: Bool
  /// The task that the end cancels, in place of a call of a handler.
  private let task: ScriptTask?
  private static let aheadOfEnd = 1 << 16
  private var isOpenTold: Bool
  /// The last event was delivered.
  private(set) var isOver = false
  /// The handler waits: it gets no event until it has returned (D59).
  private var isBusy = false
  private var expectsBytes = true
  private(set) var wantsSpace: Bool

  init(_ stream: ScriptStream, isForEnd: Bool) {
    self.isForEnd = isForEnd
    task = nil
    isOpenTold = isForEnd
    wantsSpace = !isForEnd && stream.bytes.canWrite
    expectsBytes = stream.bytes.canRead
  }

  /// For the end only.
  init(_ stream: ScriptStream, cancels task: ScriptTask) {
    isForEnd = true
    self.task = task
    isOpenTold = true
    wantsSpace = false
    expectsBytes = stream.bytes.canRead
  }

  /// Whether the end has come, and its task was cancelled.
  var hasCancelled: Bool { isOver && task != nil }

  /// Whether the loop must watch for bytes, for a handler for the end.
  var awaitsEnd: Bool { expectsBytes && !isBusy && !isOver }

  /// What the loop must watch for.
  var wanted: Loop.DescriptorSource.Events {
    if isBusy || isOver { return [] }
    if !isOpenTold { return .read }
    return Loop.DescriptorSource.Events(expectsBytes ? [.read] : []).union(wantsSpace ? .write : [])
  }

  /// Whether there is an event without news from the kernel: that it is open, bytes that were
  /// read ahead, an end that was seen.
  private func hasNews(_ stream: ScriptStream) -> Bool {
    if isBusy || isOver { return false }
    if !isOpenTold { return true }
    if !expectsBytes { return false }
    if !stream.state.input.isEmpty { return !isForEnd }
    return stream.state.isAtEnd || stream.state.readFailure != nil
  }

  /// Looks again for an event to deliver.
  func update(_ stream: ScriptStream) {
    stream.settleOrBreak()
    stream.source.hasReadAhead = hasNews(stream)
  }

  /// The script has read: bytes may be reported again.
  func noteRead(_ stream: ScriptStream) {
    if isForEnd && expectsBytes && !hasNews(stream) { return }
    expectsBytes = true
    if !isBusy { update(stream) }
  }

  /// The script has written: space may be reported again.
  func noteWritten(_ stream: ScriptStream) {
    if isForEnd { return }
    wantsSpace = stream.bytes.canWrite
    if !isBusy { update(stream) }
  }

  // MARK: Reporting

  func readReady(_ stream: ScriptStream, _ runtime: Runtime) {
    guard !isBusy, !isOver else { return stream.bytes.silence(.read) }
    if !isOpenTold {
      isOpenTold = true
      return tell("open_completed", stream, runtime)
    }
    guard expectsBytes else { return stream.bytes.silence(.read) }
    let ahead = stream.state.input.count
    if ahead == 0 || (isForEnd && ahead < Self.aheadOfEnd) {
      switch stream.bytes.fill(runtime.loop.kernel, runtime.loop.scratch) {
      case .nothingNow: return
      case .end:
        isOver = true
        return tell("end", stream, runtime)
      case .failed(let error):
        isOver = true
        return tell("error", stream, runtime, error)
      case .bytes(let count):
        stream.keep(UnsafeRawBufferPointer(rebasing: runtime.loop.scratch[0..<count]))
        if isForEnd { return }
      }
    }
    expectsBytes = false
    if !isForEnd { tell("has_bytes", stream, runtime) }
  }

  func writeReady(_ stream: ScriptStream, _ runtime: Runtime) {
    guard isOpenTold, !isBusy, !isOver, wantsSpace else { return stream.bytes.silence(.write) }
    wantsSpace = false
    if let failure = stream.state.writeFailure {
      isOver = true
      return tell("error", stream, runtime, failure)
    }
    tell("has_space", stream, runtime)
  }

  private func tell(
    _ event: StaticString, _ stream: ScriptStream, _ runtime: Runtime, _ error: SystemError? = nil
  ) {
    stream.source.hasReadAhead = false
    if let task { return cancel(task, runtime) }
    isBusy = true
    call(event, stream, runtime, error) {
      self.isBusy = false
      if stream.events === self { self.update(stream) }
    }
  }

  /// Calls the handler of a stream's events; it may wait, even for the stream.
  private func call(
    _ event: StaticString, _ stream: ScriptStream, _ runtime: Runtime, _ error: SystemError?,
    whenOver: @escaping () -> Void
  ) {
    let source = stream.source
    let (tasks, handles) = (runtime.tasks, runtime.handles)
    let outer = runtime.current
    runtime.current = .item(source)
    let outcome = runtime.state.dispatch(ref: source.maker.ref, slot: 1) { stack in
      stack.push(event)
      guard let error else { return 1 }
      stack.push("\(stream.label): \(stream.words(of: error))")
      stack.push(error.name)
      return 3
    }
    switch outcome {
    case .suspended(let coroutine):
      // Not the item's own handler, because that would hold back what the handler waits for.
      let task = tasks.firstTask(of: coroutine)
      task.modes = runtime.loopContext.modes(of: .item(source))
      task.name = "handler of \(stream.label)"
      task.madeAt = handles.place(of: source)
      task.onError = handles.onError(of: source)
      task.whenEnded = { _ in whenOver() }
      tasks.suspend(task, coroutine)
    case .returned, .failed, .stopped, .nested:
      tasks.settle(outcome, .item(source))
      whenOver()
    }
    runtime.current = outer
  }
}
