// Guests: untrusted scripts in this process. The item keeps them in modes.

internal import LuaEmbed
internal import MoonloopCore

final class GuestKind: ItemKind {
  static let word = "guest"
  static var handles: ItemHandles? { ItemHandles(slots: 2, guestEntries) }
  static var holdsAtTimes: Bool { true }
  static var keepsState: Bool { true }  // what a guest has used can still be queried
  static var moduleEntries: [LuaEntry] { [.function("guest", moduleGuest)] }

  let seat: KindSeat

  init(_ seat: KindSeat) { self.seat = seat }

  func ended(_ source: Loop.Source) { ScriptGuest.of(source)?.close() }
  func collected(_ source: Loop.Source) { ScriptGuest.of(source)?.closeLater() }

  // MARK: In words

  func stateText(of source: Loop.Source) -> String {
    ScriptGuest.of(source).map { "\($0.status)" } ?? ""
  }

  func obstacle(to source: Loop.Source) -> String {
    ScriptGuest.of(source).map { "it is \($0.status)" } ?? "it has ended"
  }
}

/// The user values of a guest's handle.
enum GuestSlot {
  static let onOutput: Int32 = 1
  static let onLimit: Int32 = 2
}

/// What the handle of a guest offers.
let guestEntries: [LuaEntry] =
  [
    .method("call") { host($0, $1, "guest:call", guestCall) },
    .method("suspend") { host($0, $1, "guest:suspend", guestSuspend) },
    .method("resume") { host($0, $1, "guest:resume", guestResume) },
    .method("stop", itemInvalidate),
    .method("usage", guestUsage),
    .field("status") { hostValue($0, $1, "guest.status") { try $0.selfGuest().status } },
    .method("keep_alive") { host($0, $1, "guest:keep_alive", guestKeepAlive) },
  ] + itemEntries.filter { "\($0.name)" != "keep_alive" }

extension Explanation {
  var guests: [ScriptGuest] {
    handles.items.compactMap { item in
      itemKinds[item] is GuestKind ? item.state(as: ScriptGuest.self) : nil
    }
  }

  /// The item of the guest that an item which no script made serves; nil: it serves none.
  func guest(servedBy item: Loop.Item) -> Loop.Item? {
    if item.maker.kind != 0 { return nil }
    return guests.first { $0.isServed(by: item) }?.source
  }
}
