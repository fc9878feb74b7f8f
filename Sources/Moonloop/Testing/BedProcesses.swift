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
      Child.adopt()
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
  .function("end_orphan") { hostAction($0, $1, "end_orphan", bedEndOrphan) },
]

/// `orphans()`: the adopted processes that run, `{ pid, group, command }` each. Those that have
/// ended are reaped.
private func bedOrphans(_ call: HostCall) throws -> Int32 {
  // A host of the runner has children of its own.
  let all = try call.requireBed().adopts ? children() : []
  let own = Set(call.runtime.processes.values.map(\.child.pid))
  let group = getpgrp()
  // What was started without a process group of its own, as by io.popen, is not ours to end.
  let found = all.filter { pid in
    !own.contains(pid) && getpgid(pid) != group && waitpid(pid, nil, WNOHANG) == 0
  }
  call.stack.newTable(items: Int32(found.count))
  for (place, pid) in found.enumerated() {
    call.stack.newTable(fields: 3)
    call.stack.setField("pid", Int(pid))
    call.stack.setField("group", Int(getpgid(pid)))
    call.stack.setField("command", command(of: pid))
    call.stack.rawSet(-2, item: Int64(place) + 1)
  }
  return 1
}

/// `end_orphan(pid)`: kills it, and waits for its end.
private func bedEndOrphan(_ call: HostCall) throws {
  let pid = Int32(try call.stack.integer(1, "the process", in: 2...Int(Int32.max)))
  kill(pid, SIGKILL)
  waitpid(pid, nil, 0)
}

/// The children of this process, of all its threads.
private func children() -> [Int32] {
  guard let folder = opendir("/proc/self/task") else { return [] }
  defer { closedir(folder) }
  var found: [Int32] = []
  while let entry = readdir(folder) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name.hasPrefix(".") { continue }
    let text = contents(of: "/proc/self/task/\(name)/children")
    found += text.split(separator: UInt8(ascii: " ")).compactMap {
      Int32(String(decoding: $0, as: UTF8.self))
    }
  }
  return found
}

private func command(of pid: Int32) -> String {
  let words = contents(of: "/proc/\(pid)/cmdline").split(separator: 0)
  return words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
}

private func contents(of path: String) -> [UInt8] {
  guard let file = fopen(path, "re") else { return [] }
  defer { fclose(file) }
  var bytes = [UInt8](repeating: 0, count: 65536)
  let count = fread(&bytes, 1, bytes.count, file)
  return Array(bytes.prefix(count))
}
