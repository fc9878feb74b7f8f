// The program that runs an isolated guest: this one, started again, with the guest's grants.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// How the process of a guest is started.
package enum GuestProgram {
  /// The command of the program that runs `GuestServer`.
  package static let command = "isolated-guest"
  /// The program: this process's own, once it has said so.
  private static let path = Guarded("moonloop")

  /// Notes where the program is; that of this process is at `/proc/self/exe`.
  package static func isAt(_ path: String) { self.path.withLock { $0 = path } }

  /// - Parameter socket: Becomes its standard input; closed here.
  static func start(
    _ grants: GuestGrants, _ limits: GuestLimits, _ script: WorkerText, socket: Int32
  ) throws -> Child {
    defer { ChildDescriptors.close(socket) }
    let null = try ChildDescriptors.null()
    defer { ChildDescriptors.close(null) }
    var plan = ChildPlan()
    plan.arguments = arguments(grants, limits, script).map { Array($0.utf8) }
    plan.environment = environment
    plan.streams = [socket, null, null]
    plan.leadsGroup = true  // a terminal's keys are not for it
    do throws(SpawnFailure) { return try Child.spawn(plan) } catch {
      let program = plan.arguments[0]
      throw OperatingFailure(
        "ml.guest: cannot start '\(String(decoding: program, as: UTF8.self))' for it: "
          + error.error.message, error.error.name)
    }
  }

  private static func arguments(
    _ grants: GuestGrants, _ limits: GuestLimits, _ script: WorkerText
  ) -> [String] {
    let setup = GuestSetup(
      parent: Child.ownID, memory: limits.state.memory ?? 0, handles: limits.state.handles ?? 0,
      message: limits.message, file: script.file, grants: grants.words)
    return [path.withLock { $0 }, command] + setup.arguments
  }

  /// Contains nothing of the host's, which the guest could read if it broke out.
  private static var environment: [[UInt8]] {
    let kept = ["TZ=", "LD_LIBRARY_PATH="].map { Array($0.utf8) }
    return Child.environment.filter { line in kept.contains { line.starts(with: $0) } }
      + [Array("SWIFT_BACKTRACE=enable=no".utf8)]
  }
}

/// What the process needs to know before it confines itself.
struct GuestSetup {
  var parent: Int32 = 0
  var memory = 0
  var handles = 0
  /// The maximum size of a message.
  var message = 0
  /// The script, if it is a file.
  var file: String?
  var grants: [String] = []

  var arguments: [String] {
    ["\(parent)", "\(memory)", "\(handles)", "\(message)", file ?? ""] + grants
  }

  init(
    parent: Int32, memory: Int, handles: Int, message: Int, file: String?, grants: [String]
  ) {
    (self.parent, self.memory, self.handles, self.message) = (parent, memory, handles, message)
    (self.file, self.grants) = (file, grants)
  }

  /// - Returns: nil if these are not the arguments of a host.
  init?(_ arguments: [String]) {
    guard arguments.count >= 5, let parent = Int32(arguments[0]), let memory = Int(arguments[1]),
      let handles = Int(arguments[2]), let message = Int(arguments[3])
    else { return nil }
    (self.parent, self.memory, self.handles, self.message) = (parent, memory, handles, message)
    file = arguments[4].isEmpty ? nil : arguments[4]
    grants = Array(arguments[5...])
  }
}

extension WorkerText {
  /// The file that it was read from.
  var file: String? { chunkName.hasPrefix("@") ? String(chunkName.dropFirst()) : nil }
}
