// Listeners: one event for each connection.

internal import LuaEmbed
internal import MoonloopCore

final class ServerKind: ItemKind {
  static let word = "server"
  static var handles: ItemHandles? { ItemHandles(slots: 1, serverEntries) }

  let seat: KindSeat
  let event: Loop.DescriptorSource.Handler

  init(_ seat: KindSeat) {
    self.seat = seat
    let door = seat.door
    event = { source, _ in
      door._withUnsafeGuaranteedRef { runtime in
        guard let server = ScriptServer.of(source) else { return }
        let outer = runtime.current
        runtime.current = .item(source)
        server.ready()
        runtime.current = outer
      }
    }
  }

  func ended(_ source: Loop.DescriptorSource) { ScriptServer.of(source)?.ended() }
  func collected(_ source: Loop.DescriptorSource) { ScriptServer.of(source)?.accepting = nil }

  func identity(of source: Loop.DescriptorSource) -> String {
    ScriptServer.of(source)?.identity ?? ""
  }

  func obstacle(to source: Loop.DescriptorSource) -> String {
    if let words = closedWords(source) { return words }
    guard let server = ScriptServer.of(source) else { return "it has ended" }
    if server.connections >= server.settings.mostConnections {
      return "\(server.connections) connections are open, which is the limit; more are accepted "
        + "when one is closed"
    }
    if server.isPaused { return "the system has no descriptors left; it tries again by itself" }
    if !server.hasHandler && !(server.accepting?.isActive ?? false) {
      return "it has no handler, and no task is waiting in server:accept()"
    }
    return runtime.loop.kernel.isReady(source.fd, for: .read)
      ? "a client waits: \(runtime.explanation.blocker()), then it is served" : "no client has come"
  }
}
