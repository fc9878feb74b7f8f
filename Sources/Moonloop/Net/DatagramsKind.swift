// Datagram sockets.

internal import LuaEmbed
internal import MoonloopCore

final class DatagramsKind: ItemKind {
  static let word = "socket"
  static var handles: ItemHandles? {
    ItemHandles(slots: 1, datagramEntries)
  }
  static var holdsAtTimes: Bool { true }

  let seat: KindSeat
  let event: Loop.DescriptorSource.Handler

  init(_ seat: KindSeat) {
    self.seat = seat
    let door = seat.door
    event = { source, _ in door._withUnsafeGuaranteedRef { Self.deliver(source, $0) } }
  }

  /// A datagram has arrived.
  private static func deliver(_ source: Loop.DescriptorSource, _ runtime: Runtime) {
    guard let socket = ScriptDatagrams.of(source) else { return }
    if let waiting = socket.waiting, waiting.isActive { return waiting.goOn() }
    guard socket.hasHandler else { return socket.settle() }
    runtime.callOut(source) { ref in
      runtime.state.dispatch(ref: ref, slot: 1) { stack in
        // Readiness may have been spurious: the handler then gets EAGAIN.
        socket.receive(on: stack) ?? stack.pushFailure("there was no datagram", "EAGAIN")
      }
    }
  }

  func ended(_ source: Loop.DescriptorSource) { ScriptDatagrams.of(source)?.ended() }
  func collected(_ source: Loop.DescriptorSource) { ScriptDatagrams.of(source)?.waiting = nil }

  func identity(of source: Loop.DescriptorSource) -> String {
    ScriptDatagrams.of(source)?.identity ?? ""
  }

  func obstacle(to source: Loop.DescriptorSource) -> String {
    closedWords(source) ?? "no datagram has arrived that a task is waiting for"
  }
}
