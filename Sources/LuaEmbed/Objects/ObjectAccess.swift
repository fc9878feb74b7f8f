// From a userdata to the Swift object behind it, and back: a class is retained while Lua holds it
// and released once; a structure is in a box.

internal import CLuaShims

/// A structure while Lua holds it.
@usableFromInline
final class Boxed<Value> {
  @usableFromInline var value: Value
  /// Whether a member is changing it: its copy replaces the value when it returns.
  @usableFromInline var isChanging = false
  init(_ value: Value) { self.value = value }
}

/// Access to objects of one registered type. For the state's thread.
@usableFromInline
struct ObjectAccess<Object> {
  let kind: OpaquePointer
  let name: String
  /// Whether Lua holds a structure's objects in boxes, and not objects of a class.
  @usableFromInline let isBoxed: Bool

  /// The object at an index.
  @inlinable
  func read(_ stack: LuaStack, _ index: Int32) throws(LuaArgumentError) -> Object {
    let pointer = try pointer(stack, index)
    if isBoxed { return Unmanaged<Boxed<Object>>.fromOpaque(pointer).takeUnretainedValue().value }
    let object = Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
    return unsafeBitCast(object, to: Object.self)  // the kind is that of the class or below it
  }

  /// Lets a member change the object that is the first argument: a structure is put back in place
  /// when the closure returns, and refused meanwhile to other members that would change it.
  @inlinable
  func change<R>(_ stack: LuaStack, _ body: (inout Object) throws -> R) throws -> R {
    if !isBoxed {
      var object = try read(stack, 1)
      return try body(&object)
    }
    let box = Unmanaged<Boxed<Object>>.fromOpaque(try pointer(stack, 1)).takeUnretainedValue()
    if box.isChanging { throw isBeingChanged() }
    box.isChanging = true
    defer { box.isChanging = false }
    var object = box.value
    let result = try body(&object)
    _ = try pointer(stack, 1)  // a loan may have ended meanwhile
    box.value = object
    return result
  }

  @usableFromInline
  @inline(never)
  func isBeingChanged() -> LuaArgumentError {
    LuaArgumentError("this \(name) is being changed by a call that has not returned")
  }

  /// What the userdata at an index holds.
  @usableFromInline
  func pointer(
    _ stack: LuaStack, _ index: Int32
  ) throws(LuaArgumentError) -> UnsafeMutableRawPointer {
    if let pointer = cml_to_object(stack.L, index, kind)?.pointee.pointer { return pointer }
    throw stack.notObject(index, name)
  }

  /// Pushes an object: a class as the userdata that Lua may already have, a structure as a new one.
  func push(_ object: Object, on stack: LuaStack) {
    if isBoxed {
      stack.pushNew(Boxed(object), of: kind)
      return
    }
    // Anything without a box is an object of a class.
    stack.state.push(object: unsafeBitCast(object, to: AnyObject.self), on: stack)
  }
}

extension LuaStack {
  /// What is wrong with an argument that must be an object.
  fileprivate func notObject(_ index: Int32, _ name: String) -> LuaArgumentError {
    cml_is_over(L, index)
      ? LuaArgumentError("\(argumentName(index)) is a \(describe(index)) whose loan has ended")
      : mismatch(index, name)
  }

  /// Pushes a new userdata, which holds an object; in a state that is closing one that holds
  /// nothing. [-0, +1, raises: -]
  func pushNew(_ object: AnyObject, of kind: OpaquePointer) {
    guard let userdata = cml_push_retained(L, kind) else { return }
    userdata.pointee.pointer = Unmanaged.passRetained(object).toOpaque()
    userdata.pointee.live = true
  }
}

extension LuaState {
  /// Pushes the userdata of an object: the same one as long as Lua holds it. [-0, +1, raises: -]
  func push(object: AnyObject, on stack: LuaStack) {
    let kind = kind(of: object)
    let pointer = Unmanaged.passUnretained(object).toOpaque()
    if cml_push_known(stack.L, pointer) {
      return cml_change_kind(stack.L, kind)  // its class may have been registered since
    }
    stack.pushNew(object, of: kind)
    cml_make_known(stack.L, pointer)
  }

  /// The kind of the object's nearest registered class, its own included.
  func kind(of object: AnyObject) -> OpaquePointer {
    let own: AnyClass = type(of: object)
    if let kind = known(ObjectIdentifier(own)) { return kind }
    for type in superclasses(of: own) {
      if let kind = classes[ObjectIdentifier(type)] {
        body.unregistered[ObjectIdentifier(own)] = UnregisteredKind(type: own, kind: kind)
        return kind
      }
    }
    return makeUnregistered(own)
  }

  /// The kind of a type, which may have no members yet.
  func kind(of type: Any.Type) -> OpaquePointer {
    known(ObjectIdentifier(type)) ?? makeUnregistered(type)
  }

  /// The kind of a type, if one has crossed or it is registered.
  fileprivate func known(_ type: ObjectIdentifier) -> OpaquePointer? {
    classes[type] ?? body.unregistered[type]?.kind
  }
}

/// The kind of the values of a type that is not registered.
struct UnregisteredKind {
  let type: Any.Type
  /// An empty one, or that of the nearest registered class.
  let kind: OpaquePointer
}

/// The classes above a class, the nearest first. A mirror shows what the class wants.
func superclasses(of type: AnyClass) -> some Sequence<AnyClass> {
  sequence(state: _getSuperclass(type)) { next -> AnyClass? in
    defer { next = next.flatMap { _getSuperclass($0) } }
    return next
  }
}

extension LuaStack {
  /// The value of this type at an index, whatever its kind in Lua.
  fileprivate func object<T>(_ index: Int32, ofAnyKind: T.Type) -> T? {
    guard let object = cml_any_object(L, index), object.pointee.live,
      state.body.objectKinds.contains(object.pointee.kind), let pointer = object.pointee.pointer
    else { return nil }
    return Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() as? T
  }
}

// MARK: - Conversions

/// A registered class whose objects may be arguments and results of functions.
///
/// Conforming takes no code; register the class with each state that uses it. Until then, Lua can
/// keep its objects and give them back, and reading a field raises an error.
public protocol LuaObject: AnyObject, LuaReadable, LuaPushable {}

extension LuaObject {
  /// What messages call it.
  public static var luaTypeName: String { String(describing: Self.self) }

  /// Reads the value in a slot; nil if it is of another type.
  public static func read(_ slot: borrowing LuaSlot) -> Self? {
    let stack = slot.stack
    if let kind = stack.state.classes[ObjectIdentifier(Self.self)],
      let object = stack.object(slot.index, of: kind, as: Self.self)
    {
      return object
    }
    // Of a class that is not registered, or was not when the object crossed.
    return stack.object(slot.index, ofAnyKind: Self.self)
  }

  /// Puts the value in a seat.
  public func push(to seat: inout LuaSeat) {
    let stack = seat.take()
    stack.state.push(object: self, on: stack)
  }
}

/// A registered structure: Lua has values of it with methods and operators; each crossing copies.
///
/// Conforming takes no code; register the structure with each state that uses it, as a class.
public protocol LuaStruct: LuaReadable, LuaPushable {}

extension LuaStruct {
  /// What messages call it.
  public static var luaTypeName: String { String(describing: Self.self) }

  /// Reads the value in a slot; nil if it is of another type.
  public static func read(_ slot: borrowing LuaSlot) -> Self? {
    let stack = slot.stack
    if Self.self is AnyClass { refuseClass(Self.self) }
    if let kind = stack.state.classes[ObjectIdentifier(Self.self)],
      let box = stack.object(slot.index, of: kind, as: Boxed<Self>.self)
    {
      return box.value
    }
    return stack.object(slot.index, ofAnyKind: Boxed<Self>.self)?.value
  }

  /// Puts the value in a seat.
  public func push(to seat: inout LuaSeat) {
    if Self.self is AnyClass { refuseClass(Self.self) }
    let stack = seat.take()
    stack.pushNew(Boxed(self), of: stack.state.kind(of: Self.self))
  }
}
