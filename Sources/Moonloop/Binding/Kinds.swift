// The kinds of handles that scripts hold: userdata with a few plain words (D56).

internal import LuaEmbed

/// The kinds of handles of one state. Kinds of items are here only if their handles are looked up
/// by kind; all of them are in `ItemKinds`.
struct Kinds {
  let loop: LuaHandleKind
  let timer: LuaHandleKind
  let task: LuaHandleKind
  /// What `ml.await` keeps on the stack; no script sees it.
  let callback: LuaHandleKind
  let source: LuaHandleKind
  let fd: LuaHandleKind
  let observer: LuaHandleKind
  let stream: LuaHandleKind
  /// The function that `stream:lines` returns.
  let lines: LuaHandleKind
  let port: LuaHandleKind
  let remotePort: LuaHandleKind
  let reply: LuaHandleKind
  let request: LuaHandleKind
  let channel: LuaHandleKind
  let semaphore: LuaHandleKind
  let permit: LuaHandleKind
  let process: LuaHandleKind
  let terminal: LuaHandleKind
  let recording: LuaHandleKind
  let frozen: LuaHandleKind
  /// Stands for a socket of another library.
  let gate: LuaHandleKind
  /// Stands for an object of another library.
  let blank: LuaHandleKind
  /// An item that the program made in Swift, and that any of its states may schedule.
  let programItem: LuaHandleKind

  init(_ state: LuaState, _ items: ItemKinds, _ grants: LuaCapabilities, asks: Bool) {
    loop = state.makeHandleKind("loop", slots: 0, grants.loopMethods(asks: asks))
    task = state.makeHandleKind("task", slots: 0, taskEntries) {
      $0.take(ScriptTask.self)?.hasHandle = false  // its outcome cannot be asked for any more
    }
    callback = state.makeHandleKind("callback", slots: 0, []) { $0.drop() }
    timer = state.makeHandleKind("timer", slots: 1, timerEntries) { releaseTimer($0) }
    source = items.handles(of: SourceKind.self)
    fd = items.handles(of: DescriptorKind.self)
    stream = items.handles(of: StreamKind.self)
    lines = state.makeHandleKind("lines", slots: 1, linesEntries) { $0.drop() }
    observer = items.handles(of: ObserverKind.self)
    port = items.handles(of: PortKind.self)
    remotePort = state.makeHandleKind("remote port", slots: 0, remotePortEntries) { $0.drop() }
    reply = state.makeHandleKind("reply", slots: 0, replyEntries) { $0.drop() }
    channel = state.makeHandleKind("channel", slots: 1, channelEntries) { $0.drop() }
    semaphore = state.makeHandleKind("semaphore", slots: 0, semaphoreEntries) { $0.drop() }
    // A permit that was not returned stays taken: `semaphore:release()` can still return it.
    permit = state.makeHandleKind("permit", slots: 0, permitEntries) { $0.drop() }
    request = state.makeHandleKind("request", slots: 2, requestEntries) { $0.drop() }
    process = state.makeHandleKind("process", slots: ProcessSlot.count, processEntries) {
      $0.drop()
    }
    terminal = state.makeHandleKind("tty", slots: TerminalSlot.count, terminalEntries) {
      $0.take(ScriptTerminal.self)?.forget()
    }
    gate = state.makeHandleKind("gate", slots: 0, []) { $0.drop() }
    blank = state.makeHandleKind("object", slots: 1, [])
    frozen = state.makeHandleKind("frozen table", slots: 0, frozenEntries) { $0.drop() }
    recording = state.makeHandleKind("recording", slots: 0, recordingEntries) { _ in }
    programItem = state.makeHandleKind("program item", slots: 0, programItemEntries) { $0.drop() }
  }
}
