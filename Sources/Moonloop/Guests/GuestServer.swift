// The process of an isolated guest: it confines itself, then runs what its host sends.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// Runs in the process of a guest.
package enum GuestServer {
  /// Serves the host that started this process, until one of them ends. For the main thread, before
  /// there are other threads.
  /// - Parameter arguments: The command-line arguments after the command.
  /// - Returns: The exit status.
  package static func run(_ arguments: [String]) -> Int32 {
    guard let setup = GuestSetup(arguments),
      Confinement.endWithParent(setup.parent, by: SignalNumber.kill)
    else {
      writeToStandardError("moonloop: this command is for the hosts of isolated guests")
      return 2
    }
    var obstacle: String?
    var memory = setup.memory
    do throws(SystemError) {
      let holds = try confinement(of: setup).apply()
      if let limit = GuestGrants.memoryLimit(memory, in: holds.memory) {
        memory = limit
      } else {
        obstacle = "cannot isolate the guest: \(GuestGrants.memoryRefusal(holds.memory))"
      }
      StructuredClone.setSizeLimit(
        memory < setup.memory ? min(setup.message, max(1 << 20, memory / 8)) : setup.message)
    } catch { obstacle = "cannot isolate the guest: \(error.call): \(error.message)" }
    do { return try serve(obstacle, memory: memory) } catch {
      writeToStandardError("moonloop: \(error)")
      return 1
    }
  }

  private static func confinement(of setup: GuestSetup) -> Confinement {
    var grants = GuestGrants()
    if let file = setup.file { grants.setScript(file) }
    for word in setup.grants { try? grants.allow(word) }  // unreadable ones grant nothing
    return grants.confinement(
      memory: setup.memory, handles: setup.handles, files: setup.file.map { [$0] } ?? [])
  }

  private static func serve(_ obstacle: String?, memory: Int) throws -> Int32 {
    let kernel = try LinuxKernel(clock: .real)
    let loop = try Loop.makeIsolated("guest", kernel)
    return try loop.isolate { loop in
      let lua = try LuaState(on: loop)
      let port = Loop.Port(name: "host", capacity: 1 << 16, parcels: { _, _ in })
      let connection = PortConnection(
        try PortHub.loop(), label: "the host", peer: "host", capacity: 1 << 16, to: port,
        isListeners: false, frozen: .in
      ) { _ in loop.change { $0.endRuns() } }
      try PortHub.loop().change { _ in connection.begin(0) }
      sendOutput(of: lua.runtime!, to: connection.outgoing)
      try begin(lua.runtime!, port, connection, obstacle, memory: memory)
      loop.run()
      return 0
    }
  }

  /// The process has no standard error of its own: warnings are the host's.
  private static func sendOutput(of runtime: Runtime, to host: Loop.Port) {
    let stack = runtime.state.stack
    _ = runtime.state.divertOutput { stream, bytes in
      guard stack.reserve(8) else { return }
      stack.newTable()
      defer { stack.pop() }
      stack.setField("output") { stack.push(bytes: bytes) }
      stack.setField("stream", Int(stream))
      guard let value = try? StructuredClone(stack, -1) else { return }
      try? host.post(parcel: PortMessage(value: value))
    }
  }

  private static func begin(
    _ runtime: Runtime, _ port: Loop.Port, _ connection: PortConnection, _ obstacle: String?,
    memory: Int
  ) throws {
    let text: StaticString = "require 'moonloop.isolated' (...)"
    let bytes = UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    try runtime.mainChunk.start(bytes: bytes, name: "=moonloop") { stack in
      let peer = PortRight(connection.outgoing, home: 0, isForeign: true)
      runtime.push(port, sendingTo: peer, on: stack)
      if let obstacle { stack.push(obstacle) } else { stack.pushNil() }
      stack.push(memory)
      return 3
    }
  }
}
