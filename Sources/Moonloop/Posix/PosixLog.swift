// `moonloop.sink`: the outlet for the lines of `ml.log`, which never waits.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

let sinkModule = LuaModule(
  "moonloop.sink",
  [
    .function("open") { hostValue($0, $1, "ml.log", sinkOpen) },
    .function("close") { hostDone($0, $1, "log", sinkClose) },
    .function("write") { host($0, $1, "log", sinkWrite) },
    // `drain(sink)`: writes what can be written now; returns how many bytes are still queued, and
    // why the last write failed, if it did, and its code.
    .function("drain") { host($0, $1, "log") { $0.push(drained: try $0.log()) } },
    // `is_journal(fd)`: whether a descriptor leads to the system's journal.
    .function("is_journal") {
      hostValue($0, $1, "log") { Systemd.isJournal(try $0.posixNumber()) }
    },
  ])

extension HostCall {
  fileprivate func log() throws(ScriptMistake) -> LogSink {
    LogSink(number: Int32(try stack.integer(1, "the sink", in: 0...LogSink.most)))
  }

  fileprivate func push(drained sink: LogSink) -> Int32 {
    stack.push(sink.drain())
    guard let problem = sink.problem else { return 1 }
    stack.push(problem.message)
    stack.push(problem.name)
    return 3
  }
}

/// `open(fd)` or `open(path)`: the number of a sink, which counts as an open file.
private func sinkOpen(_ call: HostCall) throws -> some LuaPushable {
  try call.requireRoom(for: .files)
  let sink =
    call.stack.type(1) == .string
    ? try LogSink(appendingTo: try call.string(1, "the path"))
    : try LogSink(try call.posixNumber())
  call.runtime.handles.files.add(1)
  return Int(sink.number)
}

private func sinkClose(_ call: HostCall) throws {
  try call.log().close()
  call.runtime.handles.files.add(-1)
}

/// `write(sink, text)`: whether it was written or queued, and the results of `drain`.
private func sinkWrite(_ call: HostCall) throws -> Int32 {
  let sink = try call.log()
  let isTaken = call.stack.withBytes(2) { sink.write($0) }
  call.stack.push(isTaken ?? false)
  return 1 + call.push(drained: sink)
}
