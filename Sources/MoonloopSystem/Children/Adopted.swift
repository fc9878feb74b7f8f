// Descendants of this process that lost their parent and became its children: daemons that the
// programs of a test started.

internal import CLinuxShims
internal import Glibc
internal import MoonloopCore

/// The processes that this one has adopted. Any thread.
package enum Adopted {
  package struct One {
    package let pid: Int32
    package let group: Int32
    package let command: String
  }

  /// The children that this process has started itself; nil: it adopts none. Under its lock nobody
  /// starts a child, and none that ended is taken for an adopted one.
  private static let own = Guarded<Set<Int32>?>(nil)
  private static let isReaping = Guarded(false)

  /// How often those that have ended are reaped.
  private static let distance: UInt32 = 20_000
  /// How often the end of one is looked for.
  private static let endDistance: UInt32 = 5_000

  /// What loses its parent from now on becomes a child of this process.
  package static func begin() {
    own.withLock { own in
      if own == nil { own = Set(children()) }
    }
    Child.adopt()
  }

  /// Calls a body that starts a child, and notes that child.
  static func noting(
    _ body: () -> Result<cmx_spawned, SpawnFailure>
  ) -> Result<cmx_spawned, SpawnFailure> {
    own.withLock { own in
      let result = body()
      if case .success(let spawned) = result { own?.insert(spawned.pid) }
      return result
    }
  }

  /// A child that this process started was reaped.
  static func forget(_ pid: Int32) { own.withLock { _ = $0?.remove(pid) } }

  /// Those that run. From now on those that end are reaped at once, as init does it: programs that
  /// wait for the end of a daemon look whether its process is still there.
  package static func list() -> [One] {
    startReaping()
    return own.withLock { own in
      running(but: own ?? []).map {
        One(pid: $0, group: getpgid($0), command: command(of: $0))
      }
    }
  }

  /// Waits for the end of one, and kills it after a time.
  /// - Returns: Whether it ended by itself.
  package static func end(_ pid: Int32, within nanoseconds: Int64) -> Bool {
    let limit = RealTime.monotonic + nanoseconds
    while own.withLock({ running(but: $0 ?? []).contains(pid) }) {
      if RealTime.monotonic >= limit {
        own.withLock { own in
          guard running(but: own ?? []).contains(pid) else { return }
          kill(pid, SIGKILL)
          waitpid(pid, nil, 0)
        }
        return false
      }
      usleep(endDistance)
    }
    return true
  }

  private static func startReaping() {
    isReaping.withLock { isReaping in
      if isReaping { return }
      isReaping = true
      // If the system refuses a thread, they are reaped when they are listed.
      try? startThread(stackSize: 256 << 10, blocksSignals: true) {
        while true {
          own.withLock { _ = running(but: $0 ?? []) }
          usleep(distance)
        }
      }
    }
  }

  /// The adopted processes that run; those that have ended are reaped.
  private static func running(but own: Set<Int32>) -> [Int32] {
    let group = getpgrp()
    // What was started without a process group of its own, as by io.popen, is not ours to end.
    return children().filter {
      !own.contains($0) && getpgid($0) != group && waitpid($0, nil, WNOHANG) == 0
    }
  }

  /// The children of this process, of all its threads.
  private static func children() -> [Int32] {
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

  private static func command(of pid: Int32) -> String {
    let words = contents(of: "/proc/\(pid)/cmdline").split(separator: 0)
    return words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
  }

  private static func contents(of path: String) -> [UInt8] {
    guard let file = fopen(path, "re") else { return [] }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 65536)
    let count = fread(&bytes, 1, bytes.count, file)
    return Array(bytes.prefix(count))
  }
}
