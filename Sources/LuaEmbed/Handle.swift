// Handles: userdata that holds a few plain words (an index, a generation), so that a script's
// object costs no Swift object and no reference count.

internal import CLuaShims

/// A host function in the loop's modules: called straight from C, without closure or boxing.
///
/// It gets the Lua stack and the object set with `LuaState.setHost`, and returns a `LuaStatus`
/// status.
package typealias LuaRawFunction =
  @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32

/// What a raw host function returns.
package enum LuaStatus {
  /// The top value is raised.
  package static let raise: Int32 = -1
  /// This many results are on top.
  @inline(__always)
  package static func results(_ count: Int32) -> Int32 { count }
  /// Calls the function below this many arguments on top; then the second half runs.
  package static func call(arguments count: Int32) -> Int32 { -1_000_000 - count }
  /// The same in either half, but the last step; afterwards the value below the function is closed,
  /// however the call ends.
  package static func guarded(arguments count: Int32) -> Int32 { -2_000_000_000 - count }
  /// The coroutine waits; this many values go to the host. Check `waitObstacle` first.
  package static func wait(handing count: Int32 = 0) -> Int32 { -1000 - count }
}

/// The words of a handle's userdata; valid while the userdata lies on a stack or is referenced.
package struct LuaHandle {
  let object: UnsafeMutablePointer<cml_object>

  init(object: UnsafeMutablePointer<cml_object>) { self.object = object }

  package var index: UInt32 {
    get { object.pointee.index }
    nonmutating set { object.pointee.index = newValue }
  }
  package var generation: UInt32 {
    get { object.pointee.generation }
    nonmutating set { object.pointee.generation = newValue }
  }
  /// For the kind's own use.
  package var word: UInt32 {
    get { object.pointee.word }
    nonmutating set { object.pointee.word = newValue }
  }
  package var pointer: UnsafeMutableRawPointer? {
    get { object.pointee.pointer }
    nonmutating set { object.pointee.pointer = newValue }
  }
}

/// A type of handle: its name, methods, properties and user values.
package struct LuaHandleKind {
  let kind: OpaquePointer

  /// The handle at an index, if it is of this kind.
  package func handle(_ L: OpaquePointer, _ index: Int32) -> LuaHandle? {
    guard let object = cml_to_object(L, index, kind) else { return nil }
    return LuaHandle(object: object)
  }

  package var name: String { String(cString: cml_kind_name(kind)) }

  /// Pushes a new handle; its words are zero. [-0, +1, raises: -]
  package func push(_ L: OpaquePointer) -> LuaHandle {
    let object = cml_push_object(L, kind)!
    object.pointee.live = true
    return LuaHandle(object: object)
  }
}

extension LuaHandleKind {
  /// Pushes a new handle whose first user value is the function at an index. There is no notice
  /// when it is collected: its maker holds it until its end, or calls `finalize`. [-0, +1, raises:
  /// -]
  package func push(_ L: OpaquePointer, function: Int32) -> LuaHandle {
    LuaHandle(object: cml_push_handle(L, kind, function))
  }

  /// The same, but held from the start together with its function, which is then not a user value:
  /// a door calls it without touching the handle. [-0, +1, raises: -]
  /// - Parameter ref: Gets the reference; see `LuaStack.dropHeld`.
  package func push(
    _ L: OpaquePointer, heldFunction function: Int32, _ ref: inout Int32
  ) -> LuaHandle {
    LuaHandle(object: cml_push_held(L, kind, function, &ref))
  }

  /// From now on the kind's release is called when the handle at an index is collected. For one
  /// that was just made: for others it takes a step for each Lua object that was made since.
  package func finalize(_ L: OpaquePointer, _ index: Int32) { cml_finalize_handle(L, index, kind) }

  /// The same for a handle of any age.
  package func guardOld(_ L: OpaquePointer, _ index: Int32) { cml_guard_handle(L, index, kind) }
}

extension LuaStack {
  /// The handle at an index, if its kind has a tag, and that tag. [-0, +0, raises: -]
  package func taggedHandle(_ index: Int32) -> (handle: LuaHandle, tag: Int)? {
    var tag: Int32 = 0
    guard let object = cml_tagged_object(L, index, &tag) else { return nil }
    return (LuaHandle(object: object), Int(tag))
  }
}

/// What a kind of handle consists of.
private final class HandleDefinition {
  let entries: () -> [LuaEntry]
  /// Called when a handle is collected.
  let release: ((LuaHandle) -> Void)?

  init(_ entries: @escaping () -> [LuaEntry], _ release: ((LuaHandle) -> Void)?) {
    self.entries = entries
    self.release = release
  }

  /// The definition of a kind.
  static func of(_ kind: OpaquePointer) -> Unmanaged<HandleDefinition> {
    .fromOpaque(cml_kind_context(kind)!)
  }
}

extension LuaState {
  /// Makes a kind of handle. Without getters, methods are found without a call. Its tables are made
  /// with the first handle.
  /// - Parameters:
  ///   - slots: User values, such as the handler; numbered from 1.
  ///   - tag: What `LuaStack.taggedHandle` finds; 0: it does not find these handles.
  ///   - native: The bytes outside of Lua's memory that a handle with a release counts as.
  ///   - release: Called once when a handle is collected, at any moment: it must not
  ///     touch the Lua stack, nor tables that are being changed.
  package func makeHandleKind(
    _ name: String, slots: Int32, _ entries: @autoclosure @escaping () -> [LuaEntry],
    tag: Int32 = 0, native: Int = 256, release: ((LuaHandle) -> Void)? = nil
  ) -> LuaHandleKind {
    let definition = HandleDefinition(entries, release)
    kept.append(definition)
    let kind = cml_kind_new(
      record, name, slots, release == nil ? nil : releaseHandle, openHandles,
      Unmanaged.passUnretained(definition).toOpaque())!
    cml_kind_set_tag(kind, tag)
    cml_kind_set_native(kind, native)
    return LuaHandleKind(kind: kind)
  }

  /// Makes the tables of all kinds, so that their members can be listed.
  package func openHandleKinds() { cml_open_kinds(record) }
}

extension LuaEntry {
  /// Whether it takes the place of the access to members.
  fileprivate var isAccess: Bool {
    form == .metamethod && ["__index", "__newindex"].contains("\(name)")
  }

  fileprivate static func add(_ entry: LuaEntry, to kind: OpaquePointer, _ L: OpaquePointer) {
    entry.name.withUTF8Buffer { bytes in
      // The text of a StaticString ends with a zero.
      let name = UnsafeRawPointer(bytes.baseAddress!).assumingMemoryBound(to: CChar.self)
      switch entry.form {
      case .function, .method, .metamethod:
        if let second = entry.second {
          cml_push_raw_halves(L, entry.function, second)
        } else {
          cml_push_raw_function(L, entry.function)
        }
        let sort = entry.form == .metamethod ? CML_META : CML_METHOD
        cml_kind_set(kind, L, Int32(sort), name)
      case .field:
        // Functions go to C as addresses, and come back as functions: a C function is
        // one address, as wide as a pointer.
        cml_pushlight(L, unsafeBitCast(entry.function, to: UnsafeMutableRawPointer.self))
        cml_kind_set(kind, L, Int32(CML_GETTER), name)
        guard let setter = entry.second else { return }
        // The same for the setter.
        cml_pushlight(L, unsafeBitCast(setter, to: UnsafeMutableRawPointer.self))
        cml_kind_set(kind, L, Int32(CML_SETTER), name)
      }
    }
  }
}

private func releaseHandle(_ object: UnsafeMutablePointer<cml_object>?) {
  HandleDefinition.of(object!.pointee.kind)._withUnsafeGuaranteedRef {
    $0.release?(LuaHandle(object: object!))
  }
}

/// Adds the members of a kind.
private func openHandles(_ kind: OpaquePointer?, _ L: OpaquePointer?) {
  let (kind, L) = (kind!, L!)
  let entries = HandleDefinition.of(kind)._withUnsafeGuaranteedRef { $0.entries() }
  cml_kind_begin(kind, L, Int32(entries.count))
  for entry in entries where !entry.isAccess { LuaEntry.add(entry, to: kind, L) }
  cml_kind_seal(kind, L)
  for entry in entries where entry.isAccess { LuaEntry.add(entry, to: kind, L) }
}

extension LuaStack {
  /// Pushes a raw host function. [-0, +1, raises: -]
  package func push(function: LuaRawFunction) { cml_push_raw_function(L, function) }

  /// Pops a value into a user value of the userdata at an index. [-1, +0, raises: -]
  package func popSlot(_ slot: Int32, of index: Int32) { _ = cml_setuservalue(L, index, slot) }

  /// Pushes a user value. [-0, +1, raises: -]
  package func pushSlot(_ slot: Int32, of index: Int32) { _ = cml_getuservalue(L, index, slot) }

  /// Holds the handle at an index together with its function, the first user value.
  /// [-0, +0, raises: -]
  package func hold(_ index: Int32) -> Int32 { cml_hold_handle(L, index) }

  /// Pushes a held handle and releases it: its function is its first user value again.
  /// [-0, +1, raises: -]
  package func pushUnheld(_ ref: Int32) { cml_unhold_handle(L, ref) }

  /// Ends the hold of a handle and its function. [-0, +0, raises: -]
  package func dropHeld(_ ref: Int32) { cml_unhold(L, ref) }

  /// Pushes a raw host function that may call one Lua function on its way: when the first half
  /// returns `LuaStatus.call` or `wait`, the second gets what was on the stack below, and the
  /// results, or what the host resumed with.
  /// [-0, +1, raises: -]
  package func push(function: LuaRawFunction, then second: LuaRawFunction) {
    cml_push_raw_halves(L, function, second)
  }

  /// Pushes a closure as a function. [-0, +1, raises: -]
  package func push(closure name: String, _ body: @escaping (LuaStack) throws -> Int) {
    LuaHostFunction(name, body).push(on: self)
  }

  /// Whether two values are the same, without metamethods. [-0, +0, raises: -]
  package func isSame(_ first: Int32, _ second: Int32) -> Bool {
    cml_rawequal(L, first, second) != 0
  }

  /// Whether a handle or host object was already collected: only the finalizer of another
  /// value can reach it. [-0, +0, raises: -]
  package func isCollected(_ index: Int32) -> Bool {
    cml_any_object(L, index).map { !$0.pointee.live } ?? false
  }

  /// Remembers the userdata on top of the stack for an address, without keeping it alive.
  /// [-0, +0, raises: -]
  package func makeKnown(_ pointer: UnsafeMutableRawPointer) { cml_make_known(L, pointer) }

  /// Pushes the userdata known for an address, if it is still alive. [-0, +(0|1), raises: -]
  package func pushKnown(_ pointer: UnsafeMutableRawPointer) -> Bool {
    cml_push_known(L, pointer)
  }

  package func pushValue(_ index: Int32) { cml_pushvalue(L, index) }
  package func pushInteger(_ value: Int64) { cml_pushinteger(L, value) }
  package func newTable(items: Int32 = 0, fields: Int32 = 0) { cml_newtable(L, items, fields) }
  package func rawSet(_ index: Int32) { cml_rawset(L, index) }
  package func rawSet(_ index: Int32, item: Int64) { cml_rawseti(L, index, item) }
  package func rawGet(_ index: Int32) -> LuaType {
    LuaType(rawValue: cml_rawget(L, index)) ?? .none
  }
  package func rawGet(_ index: Int32, item: Int64) -> LuaType {
    LuaType(rawValue: cml_rawgeti(L, index, item)) ?? .none
  }
  package func absolute(_ index: Int32) -> Int32 { cml_absindex(L, index) }
  package func rotate(_ index: Int32, _ count: Int32) { cml_rotate(L, index, count) }
  package func setCount(_ count: Int32) { cml_settop(L, count) }

  /// Pushes the coroutine of another stack. [-0, +1, raises: -]
  package func push(coroutineOf other: LuaStack) {
    _ = cml_pushthread(other.L)
    cml_xmove(other.L, L, 1)
  }

  /// Moves values from the top of this stack to another of the same state. [-count, +0, raises: -]
  package func move(_ count: Int32, to other: LuaStack) { cml_xmove(L, other.L, count) }
}
