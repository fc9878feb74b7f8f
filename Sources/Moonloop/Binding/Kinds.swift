// The kinds of handles that scripts hold: userdata with a few plain words (D56).

package import LuaEmbed

/// The kinds of one state.
package struct Kinds {
  package let loop: LuaHandleKind
  package let timer: LuaHandleKind
  package let task: LuaHandleKind
  /// What `ml.await` keeps on the stack; no script sees it.
  package let callback: LuaHandleKind
  package let source: LuaHandleKind
  package let fd: LuaHandleKind
  package let observer: LuaHandleKind
  package let stream: LuaHandleKind
  /// What `stream:lines` gives.
  package let lines: LuaHandleKind
  package let server: LuaHandleKind
  package let datagrams: LuaHandleKind
  package let port: LuaHandleKind
  package let remotePort: LuaHandleKind
  package let worker: LuaHandleKind
  package let reply: LuaHandleKind
  package let request: LuaHandleKind
  package let channel: LuaHandleKind
  package let semaphore: LuaHandleKind
  package let permit: LuaHandleKind
  package let signal: LuaHandleKind
  package let watch: LuaHandleKind
  package let process: LuaHandleKind
  package let terminal: LuaHandleKind
  package let recording: LuaHandleKind
  /// What the program made in Swift, and any of its states may schedule.
  package let programItem: LuaHandleKind

  init(_ state: LuaState, _ doors: ItemDoors) {
    loop = state.makeHandleKind("loop", slots: 0, loopEntries)
    task = state.makeHandleKind("task", slots: 0, taskEntries) { releaseTask($0) }
    callback = state.makeHandleKind("callback", slots: 0, []) { releaseCallback($0) }
    timer = state.makeHandleKind("timer", slots: 1, timerEntries) { releaseTimer($0) }
    let release: (LuaHandle) -> Void = { doors.release($0) }
    source = state.makeHandleKind("source", slots: 3, sourceEntries, release: release)
    fd = state.makeHandleKind("fd", slots: 2, descriptorEntries, release: release)
    stream = state.makeHandleKind("stream", slots: 1, streamEntries, release: release)
    lines = state.makeHandleKind("lines", slots: 1, linesEntries) { releaseLines($0) }
    server = state.makeHandleKind("server", slots: 1, serverEntries, release: release)
    datagrams = state.makeHandleKind("socket", slots: 1, datagramEntries, release: release)
    observer = state.makeHandleKind("observer", slots: 1, observerEntries, release: release)
    port = state.makeHandleKind("port", slots: 1, portEntries, release: release)
    remotePort = state.makeHandleKind("remote port", slots: 0, remotePortEntries) {
      releaseRemotePort($0)
    }
    worker = state.makeHandleKind("worker", slots: 1, workerEntries, release: release)
    reply = state.makeHandleKind("reply", slots: 0, replyEntries) { releaseReply($0) }
    channel = state.makeHandleKind("channel", slots: 1, channelEntries) { releaseChannel($0) }
    semaphore = state.makeHandleKind("semaphore", slots: 0, semaphoreEntries) {
      releaseSemaphore($0)
    }
    permit = state.makeHandleKind("permit", slots: 0, permitEntries) { releaseSemaphore($0) }
    request = state.makeHandleKind("request", slots: 2, requestEntries) { releaseRequest($0) }
    signal = state.makeHandleKind("signal", slots: 1, signalEntries, release: release)
    watch = state.makeHandleKind("watch", slots: 1, watchEntries, release: release)
    process = state.makeHandleKind("process", slots: ProcessSlot.count, processEntries) {
      releaseProcess($0)
    }
    terminal = state.makeHandleKind("tty", slots: TerminalSlot.count, terminalEntries) {
      releaseTerminal($0)
    }
    recording = state.makeHandleKind("recording", slots: 0, recordingEntries) { _ in }
    programItem = state.makeHandleKind("program item", slots: 0, programItemEntries) {
      releaseProgramItem($0)
    }
  }
}
