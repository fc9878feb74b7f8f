// Child processes: started without a shell, known by a kernel descriptor. There is no SIGCHLD
// handler, and no wait that could take another component's child.

internal import CLinuxShims
package import MoonloopCore

/// What to start: bytes as the system takes them, without zeros.
package struct ChildPlan {
  /// The program and its arguments.
  package var arguments: [[UInt8]] = []
  /// Lines such as `HOME=/root`; nil: this process's environment.
  package var environment: [[UInt8]]?
  /// Its working folder; nil: that of this process.
  package var folder: [UInt8]?
  /// Its descriptors 0, 1, 2 and so on; -1: it has none of this number.
  package var streams: [Int32] = [0, 1, 2]
  /// The numbers of the user and the group whose it is; nil: those of this process.
  package var user: Int32?
  package var userGroup: Int32?
  /// Whether it leads its own process group.
  package var leadsGroup = false
  /// Whether it leads its own session, without a terminal.
  package var leadsSession = false
  /// Whether its standard input becomes the terminal of its session.
  package var ownsTerminal = false

  package init() {}
}

/// Why a child could not be started.
package struct SpawnFailure: Error, Sendable {
  package enum Stage: Sendable { case clone, group, folder, streams, owner, program }
  package let stage: Stage
  package let error: SystemError

  package init(stage: Stage, error: SystemError) {
    self.stage = stage
    self.error = error
  }
}

/// How a child ended.
package struct ChildStatus: Equatable, Sendable {
  /// The exit code; nil if it was killed, or if other code took the status.
  package let code: Int32?
  /// The signal that killed it.
  package let signal: Int32?

  /// Other code in this process took the status.
  package static let unknown = ChildStatus(code: nil, signal: nil)
}

/// A child of this process, until its status is taken. One thread at a time.
package final class Child {
  package let pid: Int32
  /// The pidfd: readable when the child has ended; -1 once closed.
  package private(set) var fd: Int32
  let leadsGroup: Bool
  /// How it ended, once that is known.
  package private(set) var status: ChildStatus?
  /// Whether its process ID may have been reused.
  package private(set) var isReaped = false

  private init(pid: Int32, fd: Int32, leadsGroup: Bool) {
    self.pid = pid
    self.fd = fd
    self.leadsGroup = leadsGroup
  }

  /// A child that is still running is reaped later, so that no zombie stays.
  deinit { close() }

  /// Closes the descriptor, which must not be watched any more.
  package func close() {
    if fd < 0 { return }
    if isReaped { cmx_close(fd) } else { Orphans.add(fd) }
    isReaped = true
    fd = -1
  }

  /// Starts a child; it runs its program when this returns.
  package static func spawn(_ plan: ChildPlan) throws(SpawnFailure) -> Child {
    Orphans.collect()
    let spawned = try Adopted.noting { start(plan) }.get()
    return Child(
      pid: spawned.pid, fd: spawned.fd, leadsGroup: plan.leadsGroup || plan.leadsSession)
  }

  private static func start(_ plan: ChildPlan) -> Result<cmx_spawned, SpawnFailure> {
    let environment = plan.environment ?? Self.environment
    var spawned = cmx_spawned()
    var streams = plan.streams
    let result: Int32 = withStrings(programs(plan, environment)) { programs in
      withStrings(plan.arguments) { arguments in
        withStrings(environment) { environment in
          withString(plan.folder) { folder in
            streams.withUnsafeMutableBufferPointer { streams in
              var raw = cmx_spawn(
                programs: UnsafeRawPointer(programs).assumingMemoryBound(
                  to: UnsafePointer<CChar>?.self),
                arguments: arguments, environment: environment, folder: folder,
                streams: streams.baseAddress!, count: Int32(streams.count),
                user: plan.user ?? -1, group: plan.userGroup ?? -1,
                leadsGroup: plan.leadsGroup, leadsSession: plan.leadsSession,
                ownsTerminal: plan.ownsTerminal)
              return cmx_child_start(&raw, &spawned)
            }
          }
        }
      }
    }
    if result < 0 {
      return .failure(
        SpawnFailure(stage: stage(spawned.stage), error: SystemError(call: "spawn", code: -result)))
    }
    return .success(spawned)
  }

  /// Checks whether the child has ended. It stays a zombie, so that its process ID is not reused.
  package func look() -> Bool {
    if status != nil { return true }
    var exit = cmx_exit()
    let result = cmx_exit_of(fd, false, &exit)
    if result == 0 { return false }
    if result < 0 {
      status = .unknown
      isReaped = true
    } else {
      status = Self.status(exit)
    }
    return true
  }

  /// Reaps a child that has ended.
  package func reap() {
    guard !isReaped else { return }
    var exit = cmx_exit()
    let result = cmx_exit_of(fd, true, &exit)
    if result == 0 { return }
    isReaped = true
    Adopted.forget(pid)
    if status == nil {
      status = result > 0 ? Self.status(exit) : .unknown
    }
  }

  private static func status(_ exit: cmx_exit) -> ChildStatus {
    exit.signal == 0
      ? ChildStatus(code: exit.code, signal: nil) : ChildStatus(code: nil, signal: exit.signal)
  }

  /// Sends a signal to the child, or to the group that it leads.
  /// - Throws: ESRCH if it has ended and was reaped.
  package func send(_ number: Int32, toGroup: Bool) throws(SystemError) {
    if isReaped { throw SystemError(call: "kill", code: Errno.noProcess) }
    let result =
      toGroup && leadsGroup ? cmx_signal_send(-pid, number) : cmx_process_signal(fd, number)
    if result < 0 { throw SystemError(call: "kill", code: -result) }
  }

  /// Whether others of the group that it leads still run.
  package var groupRuns: Bool { leadsGroup && !isReaped && cmx_group_runs(pid) }

  /// Ends it at once.
  package func kill() { _ = isReaped ? 0 : cmx_process_signal(fd, 9) }

  /// The time of processors that it took, and the memory that it has; nil once it has ended.
  package var usage: (nanoseconds: Int64, resident: Int)? {
    var usage = cmx_process_usage()
    return !isReaped && cmx_usage_of(pid, &usage) ? (usage.nanoseconds, Int(usage.resident)) : nil
  }

  /// Waits in the kernel until these have ended, or for this long. For the end of a program.
  package static func awaitExits(_ children: [Child], milliseconds: Int32) {
    let fds = children.map(\.fd)
    _ = cmx_await_exits(fds, Int32(fds.count), milliseconds)
  }

  /// Makes sure that this program gets its children's statuses, even if it inherited SIGCHLD
  /// ignored.
  package static func keepStatuses() { cmx_keep_children() }

  /// This process's ID.
  package static var ownID: Int32 { cmx_own_id() }

  /// Sends a signal to any process; or to a group, for a negative number.
  package static func send(_ number: Int32, to pid: Int32) throws(SystemError) {
    let result = cmx_signal_send(pid, number)
    if result < 0 { throw SystemError(call: "kill", code: -result) }
  }

  // MARK: What is run

  /// The environment of this process, line by line.
  package static var environment: [[UInt8]] {
    guard let lines = cmx_environment() else { return [] }
    var found: [[UInt8]] = []
    var place = 0
    while let line = lines[place] {
      found.append(Array(UnsafeRawBufferPointer(start: line, count: length(line))))
      place += 1
    }
    return found
  }

  private static func length(_ text: UnsafePointer<CChar>) -> Int {
    var count = 0
    while text[count] != 0 { count += 1 }
    return count
  }

  /// Whether another working folder could make it another program.
  package static func dependsOnFolder(_ plan: ChildPlan) -> Bool {
    programs(plan, plan.environment ?? environment).contains { $0.first != UInt8(ascii: "/") }
  }

  /// The paths to try: for a name without a slash, those of PATH in the child's environment.
  private static func programs(_ plan: ChildPlan, _ environment: [[UInt8]]) -> [[UInt8]] {
    guard let name = plan.arguments.first, !name.isEmpty else { return [] }
    let slash = UInt8(ascii: "/")
    if name.contains(slash) { return [name] }
    let key = Array("PATH=".utf8)
    let line = environment.first { $0.starts(with: key) }
    let path =
      line.map { Array($0.dropFirst(key.count)) } ?? Array("/usr/local/bin:/usr/bin:/bin".utf8)
    return path.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map {
      ($0.isEmpty ? [UInt8(ascii: ".")] : Array($0)) + [slash] + name
    }
  }

  private static func stage(_ number: Int32) -> SpawnFailure.Stage {
    switch UInt32(bitPattern: number) {
    case cmx_spawn_group.rawValue: .group
    case cmx_spawn_folder.rawValue: .folder
    case cmx_spawn_streams.rawValue: .streams
    case cmx_spawn_owner.rawValue: .owner
    case cmx_spawn_program.rawValue: .program
    default: .clone
    }
  }
}

/// Children that no handle waits for any more: reaped at the next opportunity after they end. Any
/// thread.
package enum Orphans {
  private static let fds = Guarded<[Int32]>([])

  fileprivate static func add(_ fd: Int32) {
    fds.withLock { $0.append(fd) }
    collect()
  }

  /// Reaps those that have ended.
  static func collect() {
    fds.withLock { fds in
      fds.removeAll { fd in
        var exit = cmx_exit()
        if cmx_exit_of(fd, true, &exit) == 0 { return false }
        cmx_close(fd)
        return true
      }
    }
  }
}

/// Passes texts to C: an array of pointers that ends with nil.
private func withStrings<Result>(
  _ texts: [[UInt8]],
  _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  let size = texts.reduce(0) { $0 + $1.count + 1 }
  let bytes = UnsafeMutablePointer<CChar>.allocate(capacity: max(1, size))
  let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(
    capacity: texts.count + 1)
  defer {
    bytes.deallocate()
    pointers.deallocate()
  }
  var place = 0
  for (index, text) in texts.enumerated() {
    pointers[index] = bytes + place
    for byte in text {
      bytes[place] = CChar(bitPattern: byte)
      place += 1
    }
    bytes[place] = 0
    place += 1
  }
  pointers[texts.count] = nil
  return body(pointers)
}

private func withString<Result>(
  _ text: [UInt8]?, _ body: (UnsafePointer<CChar>?) -> Result
) -> Result {
  guard let text else { return body(nil) }
  return withStrings([text]) { body($0[0]) }
}
