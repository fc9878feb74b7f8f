// The ports that were sent over a connection in messages: ours, which the peer can send to, and the
// peer's, each with a queue here.

internal import MoonloopCore

/// Both directions, by number. Hub thread only.
struct PortExports {
  /// How many of each a connection may have.
  static let limit = 1 << 16

  private var rights: [UInt64: PortRight] = [:]
  private var lastNumber: UInt64 = 0
  private var byNumber: [UInt64: Loop.Port] = [:]
  private var numbers: [ObjectIdentifier: UInt64] = [:]

  /// Whether the peer can send to ports of ours other than the connection's.
  var areOurs: Bool { !rights.isEmpty }

  /// The queues for ports of the peer.
  var proxies: [Loop.Port] { Array(byNumber.values) }
  /// The same with their numbers.
  var numbered: [(number: UInt64, port: Loop.Port)] { byNumber.map { ($0.key, $0.value) } }

  /// A port's number in a frame: the one the peer knows, or a new one.
  mutating func number(of right: PortRight) -> PortFrame.Passed {
    if let number = numbers[ObjectIdentifier(right.port)] { return .own(number) }
    if rights.count >= Self.limit { return .own(0) }  // for no port
    lastNumber += 1
    rights[lastNumber] = right
    return .port(lastNumber)
  }

  /// A port of ours by the peer's number for it; if there is none, one that has ended.
  func right(_ number: UInt64) -> PortRight {
    if let right = rights[number] { return right }
    let port = Loop.Port(name: "unknown", capacity: 1) { _, _ in }
    port.invalidate()
    return PortRight(port, home: 0)
  }

  func port(_ number: UInt64) -> Loop.Port? { rights[number]?.port }

  /// Records a queue for a port of the peer.
  /// - Returns: false if the number is already used.
  mutating func add(_ port: Loop.Port, _ number: UInt64) -> Bool {
    if byNumber[number] != nil { return false }
    byNumber[number] = port
    numbers[ObjectIdentifier(port)] = number
    return true
  }

  mutating func forget(_ number: UInt64) {
    if let port = byNumber.removeValue(forKey: number) { numbers[ObjectIdentifier(port)] = nil }
  }

  /// The peer has no sender left for a port of ours.
  mutating func released(_ number: UInt64) { rights[number] = nil }

  /// A port of the peer has ended.
  mutating func gone(_ number: UInt64) { byNumber[number]?.invalidate() }

  /// The connection is over, and so are all its ports.
  mutating func end() {
    for port in byNumber.values { port.invalidate() }
    byNumber = [:]
    numbers = [:]
    rights = [:]
  }
}
