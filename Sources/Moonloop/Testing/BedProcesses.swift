// Processes that the programs of a test leave behind. They become our children: the runner is a
// subreaper.

internal import Glibc
internal import LuaEmbed
internal import MoonloopSystem

/// The entries of `moonloop.testing.host` for processes.
let bedProcessEntries: [LuaEntry] = [
  // `adopt()`: what loses its parent from now on becomes a child of this process.
  .function("adopt") {
    hostAction($0, $1, "adopt") { call in
      Adopted.begin()
      try call.requireBed().adopts = true
    }
  },
  // `end_with_parent()`: this process is asked to end when its parent does.
  .function("end_with_parent") {
    hostAction($0, $1, "end_with_parent") { _ in
      _ = Confinement.endWithParent(getppid(), by: SignalNumber.term)
    }
  },
  .function("orphans") { host($0, $1, "orphans", bedOrphans) },
  .function("end_orphan") { host($0, $1, "end_orphan", bedEndOrphan) },
]

/// `orphans()`: the adopted processes that run, `{ pid, group, command }` each. Those that have
/// ended are reaped, also later.
private func bedOrphans(_ call: HostCall) throws -> Int32 {
  // A host of the runner has children of its own.
  let found = try call.requireBed().adopts ? Adopted.list() : []
  call.stack.push(list: found) { one in
    call.stack.newTable(fields: 3)
    call.stack.setField("pid", Int(one.pid))
    call.stack.setField("group", Int(one.group))
    call.stack.setField("command", one.command)
  }
  return 1
}

/// `end_orphan(pid, within)`: waits for its end, and kills it after `within` seconds.
/// - Returns: true if it ended by itself.
private func bedEndOrphan(_ call: HostCall) throws -> Int32 {
  let pid = Int32(try call.stack.integer(1, "the process", in: 2...Int(Int32.max)))
  call.stack.push(Adopted.end(pid, within: try call.seconds(2, "the time", .notNegative)))
  return 1
}
