// Custom sources: signalled by hand, performed in a pass.

internal import LuaEmbed
internal import MoonloopCore

private let cancelSlot: Int32 = 3

final class SourceKind: ItemKind {
  static let word = "source"
  static var handles: ItemHandles? { ItemHandles(slots: 4, sourceEntries) }
  static var loopEntries: [LuaEntry] {
    [.method("source") { hostLoop($0, $1, "loop:source") { try makeSource($0, .loop) } }]
  }
  static var moduleEntries: [LuaEntry] {
    [.function("source") { host($0, $1, "ml.source") { try makeSource($0, .module) } }]
  }

  let seat: KindSeat
  let perform: Loop.Source.Perform
  let schedule: Loop.Source.Scheduler
  let cancel: Loop.Source.Scheduler
  let describe: (Loop.Source) -> String

  init(_ seat: KindSeat) {
    self.seat = seat
    let door = seat.door
    perform = { source in door._withUnsafeGuaranteedRef { $0.callOut(source, slot: 1) } }
    schedule = { source, _, mode in
      door._withUnsafeGuaranteedRef { Self.tell(source, slot: 2, mode, $0) }
    }
    cancel = { source, _, mode in
      door._withUnsafeGuaranteedRef { Self.tell(source, slot: cancelSlot, mode, $0) }
    }
    describe = { source in
      door._withUnsafeGuaranteedRef { Self.description(of: source, $0) }
    }
  }

  /// The source joins a mode or leaves it: its handler gets the loop and the mode too (R46).
  private static func tell(
    _ source: Loop.Source, slot: Int32, _ mode: ModeName, _ runtime: Runtime
  ) {
    if source.maker.ref < 0 { return }  // the state is closing
    let name = runtime.modeRef(mode)
    let outer = runtime.loopContext.leaving
    runtime.loopContext.leaving = slot == cancelSlot ? source : nil
    defer { runtime.loopContext.leaving = outer }
    runtime.callOut(source) { ref in
      runtime.state.dispatch(ref: ref, slot: slot) { stack in
        runtime.names.pushLoop(stack)
        stack.push(ref: name)
        return 2
      }
    }
  }

  /// The script's description of the source, which it must return at once; "" if it fails.
  private static func description(of source: Loop.Source, _ runtime: Runtime) -> String {
    if source.maker.ref < 0 { return "" }
    let borrowed = source.maker.ref > 0 ? 0 : runtime.borrowRef(of: source)
    let ref = borrowed > 0 ? borrowed : source.maker.ref
    defer { if borrowed > 0 { runtime.state.stack.dropRef(borrowed) } }
    if ref == 0 { return "" }
    var text = ""
    let outcome = runtime.state.start(
      push: { stack in
        stack.push(ref: ref)
        stack.pushSlot(4, of: 1)
        stack.rotate(1, -1)
        return 1
      },
      onReturn: { stack, count in text = count > 0 ? stack.string(-Int32(count)) ?? "" : "" })
    switch outcome {
    case .returned: break
    case .suspended(let task):
      runtime.tasks.forgetFirstWait(of: task)
      _ = runtime.state.end(task)
      runtime.report(
        LuaError(message: "'describe' waits; it must return at once"), .item(source))
    case .failed, .stopped, .nested: runtime.tasks.settle(outcome, .item(source))
    }
    return text
  }

  // MARK: In words

  func stateText(of source: Loop.Source) -> String {
    let state = source.isSignalled ? "signalled" : "idle"
    guard let text = source.ownDescription, !text.isEmpty else { return state }
    return "\(state), \(String(text.map { $0 == "\n" ? " " : $0 }))"
  }

  func obstacle(to source: Loop.Source) -> String {
    if !source.isSignalled {
      return source.callouts == 0
        ? "it has not been signalled; call source:signal()"
        : "it has not been signalled since it was last performed; call source:signal()"
    }
    if runtime.explanation.scriptRun?.telling == .beforeWaiting {
      return
        "it was signalled when the loop was about to sleep, and a signal does not wake the loop: "
        + "it is performed after the sleep; call loop:wake_up()"
    }
    return
      "it is signalled: \(runtime.explanation.blocker()), then the next pass performs it; a signal "
      + "alone does not wake the loop, so call loop:wake_up() if it may be about to sleep"
  }
}

extension ItemKind where Item == Loop.Source {
  func pending(in source: Loop.Source) -> String {
    source.isSignalled ? "; it is signalled, and stays so" : ""
  }
}
