// Changes of a terminal's size, reached through the terminal's handle.

internal import MoonloopCore
internal import MoonloopSystem

final class ResizeKind: ItemKind {
  static let word = "tty resize"
  static var handles: ItemHandles? { nil }
  static var holdsAtTimes: Bool { true }

  let seat: KindSeat

  init(_ seat: KindSeat) { self.seat = seat }

  func stateText(of source: Loop.DescriptorSource) -> String { "" }
  func obstacle(to source: Loop.DescriptorSource) -> String { "the size has not changed" }

  func ended(_ source: Loop.DescriptorSource) {
    source.state(as: Loop.SignalWatch.self)?.end()
  }

  func collected(_ source: Loop.DescriptorSource) { ended(source) }
}
