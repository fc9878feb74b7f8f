// Swift classes as Lua userdata: a type is a list of members; the object is retained while Lua
// holds it, and released exactly once.

internal import CLuaShims

/// One thing that a registered class offers to Lua.
public struct LuaMember<Object: AnyObject> {
  enum Place { case method, getter, setter, meta }

  let place: Place
  let name: String
  /// Makes the body, given the way to read the object from the first argument.
  let make: (ObjectReader<Object>) -> LuaHostFunction.Body
  /// A property that can be set has a second half.
  var setter: ((ObjectReader<Object>) -> LuaHostFunction.Body)?

  /// A method that Lua calls as `object:name(...)`.
  public static func method<each A: LuaReadable, R: LuaPushable>(
    _ name: String, _ body: @escaping (Object, repeat each A) throws -> R
  ) -> LuaMember {
    LuaMember(place: .method, name: name) { reader in
      { stack in
        var index: Int32 = 1
        let object = try reader.read(stack, 1)
        try body(object, repeat stack.next((each A).self, &index)).push(on: stack)
        return 1
      }
    }
  }

  /// A method without a result.
  public static func method<each A: LuaReadable>(
    _ name: String, _ body: @escaping (Object, repeat each A) throws -> Void
  ) -> LuaMember {
    LuaMember(place: .method, name: name) { reader in
      { stack in
        var index: Int32 = 1
        let object = try reader.read(stack, 1)
        try body(object, repeat stack.next((each A).self, &index))
        return 0
      }
    }
  }

  /// A property that Lua may read.
  public static func property<R: LuaPushable>(_ name: String, _ path: KeyPath<Object, R>)
    -> LuaMember
  {
    LuaMember(place: .getter, name: name) { reader in
      { stack in
        try reader.read(stack, 1)[keyPath: path].push(on: stack)
        return 1
      }
    }
  }

  /// A property that Lua may read and set.
  public static func property<R: LuaPushable & LuaReadable>(
    _ name: String, _ path: ReferenceWritableKeyPath<Object, R>
  ) -> LuaMember {
    var member = property(name, path as KeyPath<Object, R>)
    member.setter = { reader in
      { stack in
        var index: Int32 = 1
        try reader.read(stack, 1)[keyPath: path] = stack.next(R.self, &index)
        return 0
      }
    }
    return member
  }

  /// What `tostring` gives.
  public static func tostring(_ body: @escaping (Object) -> String) -> LuaMember {
    LuaMember(place: .meta, name: "__tostring") { reader in
      { stack in
        stack.push(body(try reader.read(stack, 1)))
        return 1
      }
    }
  }

  /// What happens when a `local x <close>` goes out of scope.
  public static func close(_ body: @escaping (Object) -> Void) -> LuaMember {
    LuaMember(place: .meta, name: "__close") { reader in
      { stack in
        body(try reader.read(stack, 1))
        return 0
      }
    }
  }
}

/// Reads objects of one registered class.
struct ObjectReader<Object: AnyObject> {
  let kind: OpaquePointer
  let name: String

  func read(_ stack: LuaStack, _ index: Int32) throws(LuaArgumentError) -> Object {
    if let object = stack.object(index, of: kind, as: Object.self) { return object }
    throw stack.mismatch(index, name)
  }
}

extension LuaState {
  /// Makes a class known to Lua, as a list of members.
  ///
  /// Objects of it can then be handed to Lua with `set`. Registering a class again replaces what
  /// new
  /// objects offer.
  public func register<Object: AnyObject>(
    _ type: Object.Type, as name: String, _ members: LuaMember<Object>...
  ) {
    guard body.isUsable("register") else { return }
    let stack = self.stack
    let kind = cml_kind_new(
      record, name, 0, { Unmanaged<AnyObject>.fromOpaque($0!.pointee.pointer!).release() }, nil,
      nil)!
    cml_kind_begin(kind, stack.L, Int32(members.count))
    let reader = ObjectReader<Object>(kind: kind, name: name)
    for member in members {
      let function = LuaHostFunction("\(name).\(member.name)", member.make(reader))
      switch member.place {
      case .method: add(function, to: kind, CML_METHOD, member.name)
      case .meta: add(function, to: kind, CML_META, member.name)
      case .getter, .setter: add(function, to: kind, CML_GETTER, member.name)
      }
      if let setter = member.setter {
        let function = LuaHostFunction("\(name).\(member.name)", setter(reader))
        add(function, to: kind, CML_SETTER, member.name)
      }
    }
    cml_kind_seal(kind, stack.L)
    classes[ObjectIdentifier(type)] = kind
  }

  private func add(
    _ function: LuaHostFunction, to kind: OpaquePointer, _ place: Int, _ name: String
  ) {
    let stack = self.stack
    if place == CML_GETTER || place == CML_SETTER {
      function.pushCell(on: stack)
    } else {
      function.push(on: stack)
    }
    cml_kind_set(kind, stack.L, Int32(place), name)
  }

  /// Hands an object of a registered class to Lua as a global.
  public func set<Object: AnyObject>(_ name: String, _ object: Object) {
    guard body.isUsable("set") else { return }
    let stack = self.stack
    push(object: object, on: stack)
    setGlobal(name, on: stack)
  }

  /// Sets a global to a value.
  public func set<Value: LuaPushable>(_ name: String, _ value: Value) {
    guard body.isUsable("set") else { return }
    body.beginCall()
    defer { body.endCall() }
    let stack = self.stack
    value.push(on: stack)
    setGlobal(name, on: stack)
  }

  /// Pushes the userdata of an object: the same one while Lua holds it. [-0, +1, raises: -]
  func push<Object: AnyObject>(object: Object, on stack: LuaStack) {
    guard let kind = classes[ObjectIdentifier(Object.self)] else {
      fatalError("class \(Object.self) is not registered with \(body.label)")
    }
    let pointer = Unmanaged.passUnretained(object).toOpaque()
    if cml_push_known(stack.L, pointer) { return }
    let userdata = cml_push_object(stack.L, kind)!
    userdata.pointee.pointer = Unmanaged.passRetained(object).toOpaque()
    userdata.pointee.live = true
    cml_make_known(stack.L, pointer)
  }
}
