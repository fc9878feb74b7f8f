// What native code can still do in a process that has confined itself, as a guest would that has
// broken out of Lua. The arguments say how the process is confined and what it tries; it prints the
// outcome unless it is killed first. `ProgramTests` runs it.

import Glibc
import MoonloopSystem

let folder = CommandLine.arguments[3]
let parent = getppid()

/// Writes at once, because whatever comes next may kill the process.
func say(_ text: String) {
  let line = Array((text + "\n").utf8)
  _ = write(1, line, line.count)
}

nonisolated func outcome(_ result: some BinaryInteger) -> String {
  result < 0 ? "errno \(errno)" : "done"
}

/// Of a gigabyte, as memory of this kind.
nonisolated func outcome(mapped flags: Int32) -> String {
  let memory = mmap(nil, 1 << 30, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0)
  return memory == MAP_FAILED ? "errno \(errno)" : "done"
}

nonisolated func idle(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? { nil }

let attempts: [String: () -> String] = [
  "read": { outcome(open("/etc/passwd", O_RDONLY)) },
  "read granted": { outcome(open(folder + "/notes", O_RDONLY)) },
  "write": { outcome(open(folder + "/new", O_WRONLY | O_CREAT, 0o600)) },
  "list": { opendir("/") == nil ? "errno \(errno)" : "done" },
  "chmod": { outcome(chmod(folder + "/notes", 0o777)) },
  "link": { outcome(symlink("/etc/passwd", folder + "/link")) },
  "run": {
    let arguments: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/true"), nil]
    return outcome(execv("/bin/true", arguments))
  },
  "spawn": {
    var pid: pid_t = 0
    let arguments: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/true"), nil]
    return "errno \(posix_spawn(&pid, "/bin/true", nil, nil, arguments, environ))"
  },
  "connect": { outcome(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)) },
  "unix socket": { outcome(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)) },
  "raw socket": { outcome(socket(AF_PACKET, Int32(SOCK_RAW.rawValue), 0)) },
  "signal": { outcome(kill(parent, 0)) },
  "code": {
    let page = mmap(
      nil, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    return page == MAP_FAILED ? "errno \(errno)" : "done"
  },
  "shared memory": { outcome(mapped: MAP_SHARED) },
  "growing memory": { outcome(mapped: MAP_PRIVATE | MAP_GROWSDOWN) },
  "stack": {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_STACK.rawValue), &limit)
    return limit.rlim_cur <= 8 << 20 && limit.rlim_max <= 8 << 20 ? "limited" : "done"
  },
  "memory": { malloc(1 << 30) == nil ? "errno \(errno)" : "done" },
  "descriptors": {
    while dup(1) >= 0 {}
    return "errno \(errno)"
  },
  "limits": {
    var limit = rlimit(rlim_cur: 1 << 40, rlim_max: 1 << 40)
    return outcome(setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit))
  },
  "thread": {
    var thread = pthread_t()
    let code = pthread_create(&thread, nil, idle, nil)
    return code == 0 && pthread_join(thread, nil) == 0 ? "done" : "errno \(code)"
  },
  "environment": { getenv("SECRET").map { String(cString: $0) } ?? "nothing" },
  "host's memory": { outcome(open("/proc/\(parent)/mem", O_RDWR)) },
]

var confinement = Confinement()
confinement.memory = 64 << 20
confinement.descriptors = 64
switch CommandLine.arguments[1] {
case "files": confinement.places = [.init(folder, reads: true, writes: false)]
case "all files": confinement.reachesAllFiles = true
case "network": (confinement.internet, confinement.ports) = (true, nil)
default: break
}
do {
  say("landlock \(try confinement.apply().landlock)")
  Confinement.forgetEnvironment()
  say(attempts[CommandLine.arguments[2]]?() ?? "unknown")
} catch { say("cannot confine: \(error)") }
