// The kinds of items in one list: a kind that is added here is available everywhere.

internal import LuaEmbed
internal import MoonloopCore

/// The first kind of a class is also that of items that no script made.
private var allItemKinds: [any ItemKind.Type] {
  [
    SourceKind.self, DescriptorKind.self, StreamKind.self, PortKind.self, ObserverKind.self,
    TimerKind.self, ServerKind.self, DatagramsKind.self, SignalKind.self, WatchKind.self,
    WorkerKind.self, ProcessKind.self, ResizeKind.self, PressureKind.self,
    NotificationsKind.self, SocketKind.self, GuestKind.self,
  ]
}

/// The names of the kinds; two may have the same.
var itemWords: [String] { allItemKinds.map { $0.word } }

/// What the kinds add to the loop and to the module, such as `loop:pressure` and `ml.pressure`.
var loopKindEntries: [LuaEntry] { allItemKinds.flatMap { $0.loopEntries } }
var moduleKindEntries: [LuaEntry] { allItemKinds.flatMap { $0.moduleEntries } }

/// The kinds of a runtime. The number of a kind, which its items and its handles have, is one more
/// than its index. Loop thread only.
final class ItemKinds {
  /// A type of its own: the library makes those of lists of optionals and tuples at each start.
  private struct Handles { let kind: LuaHandleKind? }
  private var handles: [Handles] = []
  /// Never changed once it is open: no access to it spans a change.
  @exclusivity(unchecked) private var all: ContiguousArray<any ItemKind> = []
  private unowned(unsafe) var runtime: Runtime! = nil  // it holds this, and ends all items first

  /// Makes the kinds of handles.
  init(_ state: LuaState) {
    handles = allItemKinds.enumerated().map { place, kind in
      guard let own = kind.handles else { return Handles(kind: nil) }
      let made = state.makeHandleKind(
        kind.word, slots: own.slots, own.entries(), tag: Int32(place) + 1, native: 512
      ) { [unowned(unsafe) self] in runtime.release($0) }  // like `runtime`
      return Handles(kind: made)
    }
  }

  /// Makes the kinds; what handles do needs them.
  func open(_ runtime: Runtime) {
    self.runtime = runtime
    for (place, kind) in allItemKinds.enumerated() {
      all.append(
        kind.init(
          KindSeat(number: UInt8(place) + 1, handles: handles[place].kind, runtime: runtime)))
    }
  }

  // MARK: Finding

  /// The kind of an item.
  subscript(item: Loop.Item) -> any ItemKind {
    let number = Int(item.maker.kind)
    if number > 0 { return all[number - 1] }
    return all.first { $0.fits(item) }!  // there is a kind for each class
  }

  /// The kind of handles with a tag.
  subscript(tag tag: Int) -> any ItemKind { all[tag - 1] }

  subscript<Kind: ItemKind>(type: Kind.Type) -> Kind {
    for kind in all where Swift.type(of: kind) == type {
      return unsafeDowncast(kind, to: Kind.self)  // its type was compared
    }
    fatalError("\(type) is not in the list of kinds")
  }

  /// The handles of a kind that has some.
  func handles<Kind: ItemKind>(of kind: Kind.Type) -> LuaHandleKind {
    handles[allItemKinds.firstIndex { $0 == kind }!].kind!
  }

  /// An item's name in messages and in `loop:dump`.
  func word(for item: Loop.Item) -> String { self[item].word }
}

extension HostCall {
  func kind<Kind: ItemKind>(_ type: Kind.Type) -> Kind { withRuntime { $0.itemKinds[type] } }

  /// The handle of an item at an index, of any kind; nil if it is not one.
  func itemHandle(_ index: Int32) -> LuaHandle? { stack.taggedHandle(index)?.handle }

  /// The item of the first argument, which must be a handle of this kind.
  func selfItem<Kind: ItemKind>(of kind: Kind.Type) throws(ScriptMistake) -> Kind.Item {
    guard let (handle, tag) = stack.taggedHandle(1),
      type(of: runtime.itemKinds[tag: tag]) == kind
    else { throw notSelf(kind.word) }
    return handle.item(as: Kind.Item.self)
  }
}
