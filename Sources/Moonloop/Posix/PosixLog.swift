// `moonloop.sink`: the outlet for the lines of `ml.log`, which never waits.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

let sinkModule = LuaModule(
  "moonloop.sink",
  [
    .function("open", sinkOpen), .function("close", sinkClose), .function("write", sinkWrite),
    .function("drain", sinkDrain), .function("is_journal", sinkIsJournal),
    .function("problem", sinkProblem),
  ])

extension HostCall {
  fileprivate func log() throws(ScriptMistake) -> LogSink {
    LogSink(number: Int32(try stack.integer(1, "the sink", in: 0...LogSink.most)))
  }
}

/// `open(fd)` or `open(path)`: the number of a sink.
private let sinkOpen: LuaRawFunction = { L, context in
  host(L, context, "log") { call in
    let sink =
      call.stack.type(1) == .string
      ? try LogSink(appendingTo: try call.string(1, "the path"))
      : try LogSink(try call.posixNumber())
    call.stack.push(Int(sink.number))
    return 1
  }
}

private let sinkClose: LuaRawFunction = { L, context in
  host(L, context, "log") { call in
    try call.log().close()
    return call.done()
  }
}

/// `write(sink, text)`: whether it was written or queued.
private let sinkWrite: LuaRawFunction = { L, context in
  host(L, context, "log") { call in
    let sink = try call.log()
    let isTaken = call.stack.withBytes(2) { sink.write($0) }
    call.stack.push(isTaken ?? false)
    return 1
  }
}

/// `drain(sink)`: writes what can be written now; returns how many bytes are still queued.
private let sinkDrain: LuaRawFunction = { L, context in
  host(L, context, "log") { call in
    call.stack.push(try call.log().drain())
    return 1
  }
}

/// `problem(sink)`: why the last write failed, and its code; nil: it did not.
private let sinkProblem: LuaRawFunction = { L, context in
  host(L, context, "log") { call in
    guard let problem = try call.log().problem else { return 0 }
    call.stack.push(problem.message)
    call.stack.push(problem.name)
    return 2
  }
}

/// `is_journal(fd)`: whether a descriptor leads to the system's journal.
private let sinkIsJournal: LuaRawFunction = { L, context in
  host(L, context, "log") { call in
    call.stack.push(Systemd.isJournal(try call.posixNumber()))
    return 1
  }
}
