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
    .function("drain") {
      host($0, $1, "log") { call in
        let sink = try call.log()
        return call.push(SinkOutcome.intake(sink) { SinkOutcome(sink, left: sink.drain()) })
      }
    },
    // `is_file(sink)`: whether a thread writes to it; the file call "await_log" waits for that.
    .function("is_file") {
      hostValue($0, $1, "log") { call in
        let sink = try call.log()
        return Intake.flag { sink.isFile }
      }
    },
    // `is_journal(fd)`: whether a descriptor leads to the system's journal.
    .function("is_journal") {
      hostValue($0, $1, "log") { Systemd.isJournal(try $0.posixNumber()) }
    },
  ])

extension HostCall {
  fileprivate func log() throws(ScriptMistake) -> LogSink {
    LogSink(number: Int32(try stack.integer(1, "the sink", in: -1...LogSink.most)))
  }

  fileprivate func push(_ outcome: SinkOutcome) -> Int32 {
    stack.push(outcome.left)
    guard let problem = outcome.problem else { return 1 }
    stack.push(problem.message)
    stack.push(problem.name)
    return 3
  }
}

/// What a script learns of a sink, as a number that can be recorded.
private struct SinkOutcome {
  let word: Int64

  init(_ sink: LogSink, isTaken: Bool = false, left: Int) {
    word = Int64(sink.problem?.code ?? 0) << 32 | Int64(left) << 1 | (isTaken ? 1 : 0)
  }

  private init(word: Int64) { self.word = word }

  var isTaken: Bool { word & 1 != 0 }
  var left: Int { Int(word & 0xffff_ffff) >> 1 }
  var problem: SystemError? {
    word >> 32 == 0 ? nil : SystemError(call: "write", code: Int32(word >> 32))
  }

  /// What a sink answers, or answered when it was recorded. In a replay only the standard streams
  /// are written to.
  static func intake(_ sink: LogSink, _ body: () -> SinkOutcome) -> SinkOutcome {
    if Intake.isReplayed && sink.number >= 0 { _ = body() }
    return SinkOutcome(word: Intake.number { body().word })
  }
}

/// `open(fd)` or `open(path)`: the number of a sink, which counts as an open file. It is -1 for a
/// file in a replay.
private func sinkOpen(_ call: HostCall) throws -> some LuaPushable {
  try call.requireRoom(for: .files)
  var sink = LogSink(number: -1)
  if call.stack.type(1) == .string {
    let path = try call.systemText(1, "the path")
    try Intake.attempt { () throws(SystemError) in sink = try LogSink(appendingTo: path) }
  } else {
    sink = try LogSink(try call.posixNumber())
  }
  call.runtime.handles.files.add(1)
  return Int(sink.number)
}

private func sinkClose(_ call: HostCall) throws {
  let sink = try call.log()
  if sink.number >= 0 { sink.close() }
  call.runtime.handles.files.add(-1)
}

/// `write(sink, text)`: whether it was written or queued, and the results of `drain`.
private func sinkWrite(_ call: HostCall) throws -> Int32 {
  let sink = try call.log()
  let outcome = SinkOutcome.intake(sink) {
    let isTaken = call.stack.withBytes(2) { sink.write($0) } ?? false
    return SinkOutcome(sink, isTaken: isTaken, left: sink.drain())
  }
  call.stack.push(outcome.isTaken)
  return 1 + call.push(outcome)
}
