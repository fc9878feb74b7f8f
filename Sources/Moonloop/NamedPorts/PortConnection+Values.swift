// The values in the messages of a connection, and the ports that came in them.

internal import MoonloopCore
internal import MoonloopSystem

extension PortConnection {
  func value(of frame: PortFrame) throws(PortDamage) -> StructuredClone {
    if frame.descriptors > descriptors.count {
      throw PortDamage(
        "a message with \(frame.descriptors) descriptors, of which \(descriptors.count) came")
    }
    var attachments: [Attachment] = []
    var frozen: [Int: Int] = [:]
    for passed in frame.passed {
      switch passed {
      case .descriptor:
        let number = descriptors.removeFirst()
        attachments.append(.descriptor(SentDescriptor(Descriptor(owning: number))))
      case .own(let number): attachments.append(.port(exports.right(number)))
      case .port(let number): attachments.append(.port(try proxy(number)))
      case .frozen(let number):
        frozen[attachments.count] = Int(clamping: number)
        attachments.append(.frozen(.empty))  // until the value has been checked
      }
    }
    do throws(StructuredClone.Damage) {
      return try StructuredClone(decoding: frame.body, attachments: attachments).refrozen(frozen)
    } catch { throw PortDamage("an invalid value: \(error.what), at byte \(error.offset)") }
  }

  /// A port of the peer has no sender left here.
  private func release(_ port: Loop.Port, _ number: UInt64) {
    while let message = port.take() { forward(message, to: number) }
    port.invalidate()
    exports.forget(number)
    say(.released, target: number)
  }

  /// A sender for a port of the peer: a queue here, which the hub sends on.
  private func proxy(_ number: UInt64) throws(PortDamage) -> PortRight {
    if exports.proxies.count >= PortExports.limit { throw PortDamage("too many ports") }
    let port = Loop.Port(name: outgoing.name, capacity: outgoing.capacity) { _, _ in }
    port.listen { [weak self] _, message in self?.forward(message, to: number) }
    guard exports.add(port, number) else { throw PortDamage("port \(number) twice") }
    if isBlocked { port.setSuspended(true) }
    try? hub.add(port)
    return PortRight(port, home: 0, isForeign: true, keepsFrozen: keepsFrozen) { [self] in
      hub.change { [self] _ in release(port, number) }
    }
  }
}
