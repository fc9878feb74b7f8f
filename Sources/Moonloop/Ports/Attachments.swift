// The parts of a message besides bytes: senders for ports, descriptors, and frozen tables.

package import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem
internal import Synchronization

/// A sender for a port of another state, or of this one. Any thread.
package final class PortRight: Sendable {
  let port: Loop.Port
  /// The number of the state that the port belongs to.
  let home: UInt64
  /// Whether the port belongs to another process: what it sends is input, which holds clocks.
  let isForeign: Bool
  /// Whether frozen tables that are sent to it stay frozen.
  let keepsFrozen: Bool
  private let whenReleased: (@Sendable () -> Void)?

  init(
    _ port: Loop.Port, home: UInt64, isForeign: Bool = false, keepsFrozen: Bool? = nil,
    whenReleased: (@Sendable () -> Void)? = nil
  ) {
    self.port = port
    self.home = home
    self.isForeign = isForeign
    self.keepsFrozen = keepsFrozen ?? !isForeign
    self.whenReleased = whenReleased
  }

  deinit { whenReleased?() }
}

/// A descriptor on its way from one state to another; it belongs to the message. Any thread.
package final class SentDescriptor: Sendable {
  private let number: Guarded<Int32>

  init(_ descriptor: consuming Descriptor) { number = Guarded(descriptor.release()) }

  /// Its number; -1 once it has been taken.
  var fd: Int32 { number.withLock { $0 } }

  /// Takes the descriptor over; nil if it was taken before.
  func take() -> Descriptor? {
    let taken = number.withLock { number in
      defer { number = -1 }
      return number
    }
    return taken < 0 ? nil : Descriptor(owning: taken)
  }

  deinit { _ = take() }
}

extension Runtime {
  /// What a handle of this state is sent as.
  package func attachment(
    _ stack: LuaStack, _ index: Int32
  ) -> Result<Attachment, StructuredClone.Refusal>? {
    if let handle = kinds.port.handle(stack.L, index) {
      let port = handle.item(as: Loop.Port.self)
      guard port.isValid else { return .failure(.init("a port that has ended")) }
      let right = PortShape.of(port)?.peer ?? PortRight(port, home: number)
      return .success(.port(right))
    }
    if let handle = kinds.remotePort.handle(stack.L, index) {
      guard let right = remoteRight(handle) else {
        return .failure(.init("a port that has ended"))
      }
      return .success(.port(right))
    }
    if let table = kinds.frozenTable(stack, index) { return .success(.frozen(table)) }
    if let handle = kinds.fd.handle(stack.L, index) {
      return duplicate(handle.item(as: Loop.DescriptorSource.self))
    }
    if let handle = kinds.stream.handle(stack.L, index) {
      let stream = ScriptStream.of(handle)
      if stream?.bytes.tls != nil { return .failure(.init("a stream with TLS")) }
      stream?.connection = nil  // the receiver will have it too
      return duplicate(handle.item(as: Loop.DescriptorSource.self))
    }
    return nil
  }

  private func duplicate(
    _ source: Loop.DescriptorSource
  ) -> Result<Attachment, StructuredClone.Refusal> {
    guard source.isValid else {
      return .failure(.init("a \(itemKinds.word(for: source)) that has ended"))
    }
    do throws(SystemError) {
      return .success(.descriptor(SentDescriptor(try Descriptor(duplicateOf: source.fd))))
    } catch {
      return .failure(
        .init("one whose descriptor \(source.fd) cannot be duplicated (\(error.name))"))
    }
  }

  /// Pushes what a state gets for an attachment. [-0, +1]
  package func push(_ attachment: Attachment, on stack: LuaStack) {
    switch attachment {
    case .port(let right): push(right, on: stack)
    case .descriptor(let sent):
      guard let descriptor = sent.take() else { return stack.pushNil() }
      push(descriptor, on: stack)
    case .frozen(let table):
      table.arrival?.charge(to: state)
      kinds.push(table, on: stack)
    }
  }

  /// Received as a stream, which closes the descriptor.
  private func push(_ descriptor: consuming Descriptor, on stack: LuaStack) {
    var traits = StreamTraits()
    traits.name = "received"
    traits.closesDescriptor = true
    let number = descriptor.release()
    do { _ = try makeStream(number, traits, on: stack) } catch {
      _ = Descriptor(owning: number)
      stack.pushNil()
    }
  }

  /// A port that returns to its own state becomes its original handle; any other, a sender.
  private func push(_ right: PortRight, on stack: LuaStack) {
    let address = Unmanaged.passUnretained(right.port).toOpaque()
    if right.home == number {
      if right.port.maker.ref > 0 { return stack.push(ref: right.port.maker.ref) }
      if stack.pushKnown(address) { return }
    }
    kinds.remotePort.push(stack.L).hold(right)
  }
}
