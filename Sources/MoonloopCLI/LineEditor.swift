// The line editor for the console, which is written in Lua: `moonloop.console.editor`.

internal import CLineEditor
internal import Glibc
internal import Moonloop
internal import MoonloopSystem

/// The process's editor: there is one terminal. Main thread only.
enum LineEditor {
  /// What the editor's thread signals. All of it is safe on any thread.
  private struct Owner: Sendable {
    let source: Loop.Source
    let loop: Loop
    let interrupts: InterruptHandle
  }

  // Set once, before the editor's thread starts.
  private nonisolated(unsafe) static var owner: Owner?

  static var isEditing: Bool { cle_is_editing() }

  /// From now on output appears above the edited line. Call it before a state opens.
  static func captureOutput() { cle_capture_output() }

  static func print(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { cle_print($0.baseAddress, $0.count) }
    }
  }

  /// Whether the standard streams are a terminal.
  static var hasTerminal: Bool { isatty(0) == 1 && isatty(1) == 1 && isatty(2) == 1 }

  /// Lets the scripts of a state use the editor.
  static func open(on state: LuaState) {
    state.preload(LuaModule("moonloop.console.editor", entries))
  }

  /// Restores the terminal.
  static func close() { cle_close() }

  private static let entries: [LuaEntry] = [
    .function("open", openEditor), .function("ask", ask), .function("next", next),
    .function("answer", answer), .function("close", closeEditor),
  ]

  /// `open(source, history)`: starts the editor; it signals the source when there is an event.
  /// Returns whether there is a terminal; and, if so, why lines cannot be edited there.
  private static let openEditor: LuaRawFunction = { L, context in
    host(L, context, "open") { call in
      let source = try call.consoleSource(1)
      LineEditor.owner = Owner(
        source: source, loop: call.loop, interrupts: call.state.interruptHandle)
      let history = try call.string(2, "the path of the history")
      let obstacle = cle_open(
        history, { _ in LineEditor.tell() }, { _ in LineEditor.linger() }, nil)
      call.stack.push(isatty(0) == 1 && isatty(1) == 1)
      guard let obstacle else { return 1 }
      call.stack.push(String(cString: obstacle))
      return 2
    }
  }

  /// On the editor's thread.
  private static func tell() {
    owner?.source.signal()
    owner?.loop.wakeUp()
  }

  /// Runs on the editor's thread until the typed line is taken. A loop that is busy or runs in a
  /// private mode serves the console when asked twice in the same call-out. If it cannot, or if the
  /// user presses Ctrl-C again, the call-out is stopped.
  private static func linger() {
    guard let interrupts = owner?.interrupts else { return }
    var busy = interrupts.callout
    var canAsk = busy == 0 || askLoop()
    var ticks = 0
    while cle_pause() {
      ticks += 1
      if ticks == silentTicks, interrupts.callout != 0 { print(silence) }
      if ticks % askTicks != 0 { continue }
      let now = interrupts.callout
      if now != 0 && now == busy && (!canAsk || (cle_is_urged() && ticks > 2 * askTicks)) {
        interrupts.interrupt()
      }
      busy = now
      canAsk = askLoop()
    }
  }

  /// In hundredths of a second.
  private static let askTicks = 20
  private static let silentTicks = 120
  private static let silence = """
    (no answer yet: the loop is busy outside Lua, in a guest or in a finalizer; \
    Ctrl-C twice stops it if possible, Ctrl-\\ ends the program)\n
    """

  /// Asks the loop of this process for its console, as another process would.
  private static func askLoop() -> Bool {
    do { try Attention.ask(getpid()) } catch { return false }
    return true
  }

  /// `ask(prompt)`: asks for a line.
  private static let ask: LuaRawFunction = { L, context in
    host(L, context, "ask") { call in
      cle_ask(try call.string(1, "the prompt"))
      return 0
    }
  }

  private static let kinds: [(kind: cle_kind, name: StaticString)] = [
    (cle_line, "line"), (cle_end, "end"), (cle_interrupt, "interrupt"),
    (cle_complete, "complete"),
  ]

  /// `next()`: the next event and its text; nil if there is none.
  private static let next: LuaRawFunction = { L, context in
    host(L, context, "next") { call in
      var event = cle_event()
      guard cle_next(&event) else { return 0 }
      defer { cle_free(&event) }
      call.stack.push(kinds.first { $0.kind == event.kind }?.name ?? "nothing")
      call.stack.push(bytes: UnsafeRawBufferPointer(start: event.text, count: event.count))
      return 2
    }
  }

  /// `answer(insertion, list)`: answers a request for completion.
  private static let answer: LuaRawFunction = { L, context in
    host(L, context, "answer") { call in
      cle_answer(try call.string(1, "the insertion"), try call.string(2, "the list"))
      return 0
    }
  }

  /// `close()`: restores the terminal.
  private static let closeEditor: LuaRawFunction = { _, _ in
    LineEditor.close()
    return 0
  }
}
