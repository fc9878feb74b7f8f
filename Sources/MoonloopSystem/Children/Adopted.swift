// Descendants of this process that lost their parent and became its children: daemons that the
// programs of a test started.

internal import CLinuxShims
internal import MoonloopCore

/// The processes that this one has adopted. Any thread.
package enum Adopted {
  package struct One {
    package let pid: Int32
    package let group: Int32
    package let command: String
  }

  /// The children that this process has started itself; nil: it adopts none. Under its lock no
  /// child is started, and none that ended is taken for an adopted one.
  private static let own = Guarded<Set<Int32>?>(nil)
  private static let isReaping = Guarded(false)

  /// How often those that have ended are reaped, in milliseconds.
  private static let distance: Int32 = 20
  private static let mostChildren = 1 << 12

  /// What loses its parent from now on becomes a child of this process.
  package static func begin() {
    own.withLock { own in
      if own == nil { own = Set(children()) }
    }
    cmx_adopt()
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
        One(pid: $0, group: cmx_group_of($0), command: command(of: $0))
      }
    }
  }

  /// Waits for the end of one, and kills it after a time.
  /// - Returns: Whether it ended by itself.
  package static func end(_ pid: Int32, within nanoseconds: Int64) -> Bool {
    cmx_child_await(pid, Int32(clamping: nanoseconds / 1_000_000))
    return own.withLock { own in
      guard running(but: own ?? []).contains(pid) else { return true }
      cmx_child_kill(pid)
      return false
    }
  }

  private static func startReaping() {
    isReaping.withLock { isReaping in
      if isReaping { return }
      isReaping = true
      // If the system refuses a thread, they are reaped when they are listed.
      try? startThread(stackSize: 256 << 10, blocksSignals: true) {
        while true {
          own.withLock { _ = running(but: $0 ?? []) }
          cmx_rest(distance)
        }
      }
    }
  }

  /// The adopted processes that run; those that have ended are reaped.
  private static func running(but own: Set<Int32>) -> [Int32] {
    // What was started without a process group of its own, as by io.popen, is not ours to end.
    children().filter { !own.contains($0) && !cmx_shares_group($0) && cmx_child_runs($0) }
  }

  /// The children of this process, of all its threads.
  private static func children() -> [Int32] {
    withUnsafeTemporaryAllocation(of: Int32.self, capacity: mostChildren) { pids in
      Array(pids.prefix(Int(cmx_children(pids.baseAddress!, Int32(mostChildren)))))
    }
  }

  private static func command(of pid: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 16) { text in
      let count = Int(cmx_command_of(pid, text.baseAddress!, Int32(text.count)))
      return text[..<count].split(separator: 0).map {
        String(decoding: $0.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      }.joined(separator: " ")
    }
  }
}
