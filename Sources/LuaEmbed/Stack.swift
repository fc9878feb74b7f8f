// A Lua stack as Swift sees it: where values are read and pushed without ever raising.

internal import CLuaShims

/// The stack of the running coroutine, for one call: do not keep it longer.
@usableFromInline
package struct LuaStack {
  @usableFromInline package let L: OpaquePointer

  @inline(__always) @usableFromInline
  package init(L: OpaquePointer) { self.L = L }

  /// The state of the stack: looked up on demand, so that a call that does not ask
  /// counts no reference.
  package var state: LuaState {
    Unmanaged<LuaState>.fromOpaque(cml_owner(cml_state_of(L))).takeUnretainedValue()
  }

  /// How many values lie on it.
  package var count: Int { Int(cml_gettop(L)) }

  /// Pushes nil. [-0, +1, raises: -]
  @usableFromInline
  package func pushNil() { cml_pushnil(L) }
  /// Pushes a boolean. [-0, +1, raises: -]
  @usableFromInline
  package func push(_ value: Bool) { cml_pushboolean(L, value ? 1 : 0) }
  /// Pushes an integer. [-0, +1, raises: -]
  @usableFromInline
  package func push(_ value: Int) { cml_pushinteger(L, Int64(value)) }
  /// Pushes a float. [-0, +1, raises: -]
  @usableFromInline
  package func push(_ value: Double) { cml_pushnumber(L, value) }

  /// Pushes a string. [-0, +1, raises: -]
  @usableFromInline
  package func push(_ value: String) {
    // `withUTF8` alone would need a copy, whose references are counted.
    let isPushed: Void? = value.utf8.withContiguousStorageIfAvailable { push(bytes: .init($0)) }
    if isPushed == nil { push(copyOf: value) }
  }

  /// The same for a string that is not in one piece; none of Swift's own.
  @inline(never)
  private func push(copyOf value: String) {
    var value = value
    value.withUTF8 { push(bytes: .init($0)) }
  }

  /// Pushes a string that the program holds. [-0, +1, raises: -]
  @usableFromInline
  package func push(_ value: StaticString) {
    _ = cml_pushbytes(L, value.utf8Start, value.utf8CodeUnitCount)
  }

  /// Pushes bytes as a string. [-0, +1, raises: -]
  package func push(bytes: UnsafeRawBufferPointer) {
    _ = cml_pushbytes(L, bytes.baseAddress, bytes.count)
  }

  /// Pushes the value a reference holds, or nil if its state is closed. [-0, +1, raises: -]
  package func push(_ reference: LuaReference) {
    reference.put(on: self)
  }

  /// Pushes the value under a registry reference. [-0, +1, raises: -]
  package func push(ref: Int32) { _ = cml_rawgeti(L, registryIndex, Int64(ref)) }

  /// Pops the top value into the registry. [-1, +0, raises: -]
  package func popRef() -> Int32 { cml_ref(L) }

  package func dropRef(_ ref: Int32) { cml_unref(L, ref) }

  /// Takes values off the top. [-count, +0, raises: -]
  @usableFromInline
  package func pop(_ count: Int = 1) { cml_settop(L, -Int32(count) - 1) }

  /// Makes room; false when the stack cannot grow. [-0, +0, raises: -]
  package func reserve(_ count: Int) -> Bool { cml_checkstack(L, Int32(clamping: count)) != 0 }

  /// Makes room for the values of one conversion; stops the program if they are nested so deeply
  /// that the stack cannot grow.
  func requireRoom(_ what: @autoclosure () -> String, _ room: Int = 8) {
    if !reserve(room) {
      fatalError("\(what()): \(count) values wait on Lua's stack, which is full")
    }
  }

  /// The type of a value.
  package func type(_ index: Int32) -> LuaType { LuaType(rawValue: cml_type(L, index)) ?? .none }

  /// The bytes of a string, valid while it is on the stack; nil for anything else, also a number.
  package func bytes(_ index: Int32) -> UnsafeRawBufferPointer? {
    var count = 0
    guard let base = cml_string(L, index, &count) else { return nil }
    return UnsafeRawBufferPointer(start: base, count: count)
  }

  /// The same while a closure runs.
  package func withBytes<R>(_ index: Int32, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows
    -> R?
  {
    guard let bytes = bytes(index) else { return nil }
    return try body(bytes)
  }

  /// A string, with invalid UTF-8 replaced; nil for anything else, numbers included.
  package func string(_ index: Int32) -> String? {
    withBytes(index) { String(decoding: $0, as: UTF8.self) }
  }

  /// A string that is UTF-8; nil for anything else.
  @inline(__always)
  package func text(_ index: Int32) -> String? {
    var text = cml_text()
    switch cml_text(L, index, &text) {
    case CML_TEXT_KNOWN: return text.kept.assumingMemoryBound(to: String.self).pointee
    case CML_TEXT_NEW: break
    default: return nil
    }
    let bytes = UnsafeRawBufferPointer(start: text.bytes, count: text.count)
      .bindMemory(to: UInt8.self)
    // Not checked again: `cml_text` has found valid UTF-8. `String(validating:)` takes 800
    // instructions more, and `String(decoding:)` looks once more.
    let string = String(copying: UTF8Span(unchecked: bytes.span, isKnownASCII: text.is_ascii))
    if text.kept != nil || text.asks { keep(string, in: text.kept) }
    return string
  }

  /// Keeps a string for its next crossing, or from now on those that cross often.
  @inline(never)
  private func keep(_ string: String, in place: UnsafeMutableRawPointer?) {
    if let place {
      place.assumingMemoryBound(to: String.self).pointee = string
    } else if cml_kept_texts(cml_state_of(L)) == nil {
      let room = UnsafeMutablePointer<String>.allocate(capacity: Int(CML_KNOWN_COUNT))
      room.initialize(repeating: "", count: Int(CML_KNOWN_COUNT))
      cml_keep_texts(cml_state_of(L), room)
    }
  }

  /// An integer, or a float or string that Lua converts to one.
  @usableFromInline
  package func integer(_ index: Int32) -> Int? {
    var ok: Int32 = 0
    let value = cml_tointeger(L, index, &ok)
    return ok != 0 ? Int(value) : nil
  }

  /// A number, or a string that Lua converts to one.
  @usableFromInline
  package func number(_ index: Int32) -> Double? {
    var ok: Int32 = 0
    let value = cml_tonumber(L, index, &ok)
    return ok != 0 ? value : nil
  }

  /// The value of a number; nil for anything else, including numeric strings.
  func exactNumber(_ index: Int32) -> Double? {
    var ok = false
    let value = cml_number(L, index, &ok)
    return ok ? value : nil
  }

  /// Whether the value is a function.
  func isFunction(_ index: Int32) -> Bool { cml_type(L, index) == Int32(CML_TFUNCTION) }

  /// Whether the value counts as true.
  package func boolean(_ index: Int32) -> Bool { cml_toboolean(L, index) != 0 }
}

/// The types of Lua.
public enum LuaType: Int32, Sendable {
  case none = -1
  case `nil`, boolean, lightuserdata, number, string, table, function, userdata, thread

  /// The type's name in Lua.
  public var name: String {
    switch self {
    case .none: "no value"
    case .lightuserdata, .userdata: "userdata"
    default: String(describing: self)
    }
  }
}

let registryIndex = Int32(CML_REGISTRY)

/// Where a script called the host: a chunk by number, and a line.
package struct LuaPosition: Hashable, Sendable, BitwiseCopyable {
  package let source: Int32
  package let line: Int32

  package init(source: Int32, line: Int32) {
    self.source = source
    self.line = line
  }
  /// No place of a script.
  package static let nowhere = LuaPosition(source: -1, line: 0)
}

extension LuaStack {
  /// The innermost Lua function's place; its source is -1 if there is none.
  package var position: LuaPosition {
    let position = cml_position(L)
    return LuaPosition(source: position.source, line: position.line)
  }

  /// From now on what our own Lua modules make counts as made at a line of a file; nil: where
  /// their caller is. [-0, +0, raises: -]
  package func setMaker(_ file: String?, line: Int32) { cml_set_maker(L, file, line) }

  /// Pops the top value into a global, without metamethods. [-1, +0, raises: -]
  package func popGlobal(_ name: String) { state.setGlobal(name, on: self) }

  /// Pushes the table of globals. [-0, +1, raises: -]
  package func pushGlobals() {
    _ = cml_rawgeti(L, registryIndex, 2)  // LUA_RIDX_GLOBALS
  }

  /// Pushes a global, without metamethods. [-0, +1, raises: -]
  package func pushGlobal(_ name: String) {
    pushGlobals()
    push(name)
    _ = cml_rawget(L, -2)
    cml_rotate(L, -2, -1)
    pop()
  }
}

extension LuaState {
  /// The chunk of a place, as Lua shortens its name.
  package func name(of position: LuaPosition) -> String {
    String(cString: cml_source_name(record, position.source))
  }

  /// The place as text, such as `app.lua:12`.
  package func text(of position: LuaPosition) -> String {
    "\(String(cString: cml_source_name(record, position.source))):\(position.line)"
  }
}
