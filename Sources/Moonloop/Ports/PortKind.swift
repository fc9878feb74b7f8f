// Ports: queues of messages.

internal import LuaEmbed
internal import MoonloopCore

final class PortKind: ItemKind {
  static let word = "port"
  static var handles: ItemHandles? { ItemHandles(slots: 1, portEntries) }
  static var holdsAtTimes: Bool { true }
  static var loopEntries: [LuaEntry] { [.method("port", loopPort)] }

  let seat: KindSeat
  let parcel: Loop.Port.ParcelHandler

  init(_ seat: KindSeat) {
    self.seat = seat
    let door = seat.door
    parcel = { port, parcel in door._withUnsafeGuaranteedRef { $0.deliver(port, parcel) } }
  }

  func ended(_ port: Loop.Port) { PortShape.of(port)?.receiver?.finish(nil) }

  // MARK: In words

  func stateText(of port: Loop.Port) -> String {
    port.isSuspended ? "no handler, \(port.waiting) waiting" : "\(port.waiting) waiting"
  }

  func obstacle(to port: Loop.Port) -> String {
    if let worker = runtime.workers.of(runtime.loop).first(where: { $0.link.outward === port }) {
      if port.waiting > 0 { return "\(waiting(in: port)): \(service(of: port))" }
      let reason = runtime.itemKinds[WorkerKind.self].obstacle(to: worker.link.control)
      return "no message waits in it; \(worker.link.label): \(reason)"
    }
    if port.isSuspended { return "it has no handler, \(waiting(in: port)); use port:on" }
    if port.waiting == 0 { return "no message waits in it" }
    if port.waiting >= port.capacity {
      return "it is full, \(waiting(in: port)), and sending fails or waits: \(service(of: port)); "
        + "give it a greater capacity, or send less"
    }
    return "\(waiting(in: port)): \(service(of: port))"
  }

  private func service(of port: Loop.Port) -> String {
    "\(runtime.explanation.blocker()), then "
      + (port.waiting == 1 ? "it is served" : "they are served, one a pass")
  }
}

extension ItemKind where Item == Loop.Port {
  func pending(in port: Loop.Port) -> String {
    port.waiting > 0 ? "; \(waiting(in: port))" : ""
  }

  fileprivate func waiting(in port: Loop.Port) -> String {
    port.waiting == 1 ? "1 message waits" : "\(port.waiting) messages wait"
  }
}
