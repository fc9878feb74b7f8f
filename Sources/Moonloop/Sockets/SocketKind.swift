// Sockets of scripts, by kind of callback.

internal import LuaEmbed
internal import MoonloopCore

final class SocketKind: ItemKind {
  static let word = "socket_source"
  static var handles: ItemHandles? { ItemHandles(slots: 3, socketSourceEntries) }
  static var loopEntries: [LuaEntry] { [.method("socket_source", loopSocketSource)] }

  let seat: KindSeat

  init(_ seat: KindSeat) { self.seat = seat }

  func deliver(_ event: SocketSource.Event, of socket: SocketSource) {
    let runtime = runtime
    let slot: Int32 =
      switch event {
      case .readable, .accepted, .data, .failed: 1
      case .writable: 2
      case .connected: 3
      }
    runtime.callOut(socket.source) { ref in
      runtime.state.dispatch(ref: ref, slot: slot) { stack in Self.push(event, on: stack) }
    }
  }

  private static func push(_ event: SocketSource.Event, on stack: LuaStack) -> Int {
    switch event {
    case .readable, .writable, .connected(nil): return 0
    case .accepted(let fd): stack.push(Int(fd))
    case .data(let bytes): bytes.withUnsafeBytes { stack.push(bytes: $0) }
    case .connected(let error?), .failed(let error):
      stack.pushNil()
      stack.push("\(error.message) (\(error.name))")
      stack.push(error.name)
      return 3
    }
    return 1
  }

  func identity(of source: Loop.DescriptorSource) -> String {
    source.name.isEmpty ? "#\(source.fd)" : source.name
  }

  func obstacle(to source: Loop.DescriptorSource) -> String {
    if let words = closedWords(source) { return words }
    if source.enabled.isEmpty { return "none of its events is enabled" }
    return "its socket is not ready: \(stateText(of: source))"
  }
}
