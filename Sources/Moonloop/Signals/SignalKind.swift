// Signals of the process, read from a signalfd like any descriptor.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

final class SignalKind: ItemKind {
  static let word = "signal"
  static var handles: ItemHandles? { ItemHandles(slots: 1, signalEntries) }
  static var loopEntries: [LuaEntry] {
    [.method("signal") { hostLoop($0, $1, "loop:signal") { try makeSignal($0, .loop) } }]
  }
  static var moduleEntries: [LuaEntry] {
    [.function("signal") { host($0, $1, "ml.signal") { try makeSignal($0, .module) } }]
  }

  let seat: KindSeat

  init(_ seat: KindSeat) { self.seat = seat }

  /// The watch of an item; nil once that has ended.
  static func watch(of source: Loop.DescriptorSource) -> Loop.SignalWatch? {
    source.state(as: Loop.SignalWatch.self)
  }

  /// A signal has arrived: the handler gets the handle, its name, and its details.
  func deliver(_ source: Loop.DescriptorSource, _ arrival: SignalArrival) {
    runtime.callOut(source) { ref in
      runtime.state.dispatch(ref: ref, slot: 1) { stack in
        stack.push(SignalNumber.name(of: arrival.number))
        stack.newTable(fields: 4)
        stack.setField("number", Int(arrival.number))
        stack.setField("count", arrival.count)
        stack.setField("pid", Int(arrival.pid))
        stack.setField("uid", Int(arrival.uid))
        return 2
      }
    }
  }

  func ended(_ source: Loop.DescriptorSource) { Self.watch(of: source)?.end() }
  func collected(_ source: Loop.DescriptorSource) { ended(source) }

  // MARK: As text

  func stateText(of source: Loop.DescriptorSource) -> String {
    guard let watch = Self.watch(of: source) else { return "" }
    return "on \(list(watch))" + (watch.waiting > 0 ? ", \(watch.waiting) waiting" : "")
  }

  func obstacle(to source: Loop.DescriptorSource) -> String {
    guard let watch = Self.watch(of: source) else { return "it has ended" }
    if watch.waiting > 0 { return "\(watch.waiting) waiting, one is served a pass" }
    return "no \(watch.numbers.count == 1 ? list(watch) : "signal of " + list(watch)) has come"
  }

  private func list(_ watch: Loop.SignalWatch) -> String {
    watch.numbers.map(SignalNumber.name).joined(separator: ",")
  }
}
