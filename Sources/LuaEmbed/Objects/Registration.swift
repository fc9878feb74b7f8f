// Classes and structures that Lua knows by a list of their members.

internal import CLuaShims

extension LuaState {
  /// Makes a class known to Lua, as a list of members.
  ///
  /// Objects of it, and of subclasses that are not registered themselves, then have these members
  /// in Lua. Members of the type itself are in a global table with its name. Registering a class
  /// again replaces what new objects offer.
  /// - Note: For the state's thread.
  public func register<Object: AnyObject>(
    _ type: Object.Type, as name: String, _ members: LuaMember<Object>...
  ) {
    guard body.isUsable("register") else { return }
    if type is any LuaStruct.Type { refuseClass(type, "register: ") }
    register(ObjectIdentifier(type), name, below: nil, isBoxed: false, members)
  }

  /// Makes a class known to Lua with the members of a superclass.
  ///
  /// Its own members override those with the same names.
  /// - Precondition: `parent` is registered, and `type` is a subclass of it.
  /// - Note: For the state's thread.
  public func register<Object: AnyObject, Parent: AnyObject>(
    _ type: Object.Type, as name: String, extending parent: Parent.Type,
    _ members: LuaMember<Object>...
  ) {
    guard body.isUsable("register") else { return }
    if type is any LuaStruct.Type { refuseClass(type, "register: ") }
    // The types that the compiler knows are less than those that these may be.
    guard superclasses(of: type).contains(where: { $0 == parent }) else {
      fatalError("register: \(type) is not a subclass of \(parent), which it extends")
    }
    guard let above = classes[ObjectIdentifier(parent)] else {
      fatalError(
        "register: class \(parent) is not registered with \(body.label); \(type) extends it")
    }
    register(ObjectIdentifier(type), name, below: above, isBoxed: false, members)
  }

  /// Makes a structure known to Lua, as a list of members. Lua has copies; each has its own fields.
  /// - Note: For the state's thread.
  public func register<Object: LuaStruct>(
    _ type: Object.Type, as name: String, _ members: LuaMember<Object>...
  ) {
    guard body.isUsable("register") else { return }
    if type is AnyClass { refuseClass(type, "register: ") }
    register(ObjectIdentifier(type), name, below: nil, isBoxed: true, members)
  }

  private func register<Object>(
    _ type: ObjectIdentifier, _ name: String, below parent: OpaquePointer?, isBoxed: Bool,
    _ members: [LuaMember<Object>]
  ) {
    body.beginCall()
    defer { body.endCall() }
    let stack = self.stack
    stack.requireRoom("register")
    let kind = makeKind(name, members.count, on: stack)
    if let parent { cml_kind_extend(kind, stack.L, parent) }
    let access = ObjectAccess<Object>(kind: kind, name: name, isBoxed: isBoxed)
    for member in members where member.fit == nil { add(member, access) }
    let operators = Dictionary(grouping: members.filter { $0.fit != nil }, by: \.name)
    for (name, alternatives) in operators { add(name, alternatives, access) }
    cml_kind_seal(kind, stack.L)
    classes[type] = kind
    forgetUnregistered(type)
    // Last, because a constant may be an object of the type.
    setType(name, members.filter { $0.place == .ofType || $0.place == .constant }, access)
  }

  /// Values of a type that is registered now, or of classes below it, get its kind.
  private func forgetUnregistered(_ type: ObjectIdentifier) {
    body.unregistered = body.unregistered.filter { own, entry in
      guard own != type else { return false }
      guard let known = entry.type as? AnyClass else { return true }
      return !superclasses(of: known).contains { ObjectIdentifier($0) == type }
    }
  }

  private func makeKind(_ name: String, _ members: Int, on stack: LuaStack) -> OpaquePointer {
    let kind = cml_kind_new(
      record, name, 0, { Unmanaged<AnyObject>.fromOpaque($0!.pointee.pointer!).release() }, nil,
      nil)!
    cml_kind_begin(kind, stack.L, Int32(members))
    body.objectKinds.insert(kind)
    return kind
  }

  /// The kind of a type that is not registered: Lua can keep its values and give them back, and
  /// each field is an error that says what is missing.
  func makeUnregistered(_ type: Any.Type) -> OpaquePointer {
    let name = String(describing: type)
    body.beginCall()
    defer { body.endCall() }
    let stack = self.stack
    stack.requireRoom("\(name), which is not registered", 40)
    let kind = makeKind(name, 0, on: stack)
    let fields = LuaHostFunction(name) { [label = body.label] stack in
      let field = stack.string(2) ?? stack.describe(2)
      throw LuaArgumentError(
        "no field '\(field)', as the type is not registered with \(label)",
        hint: "call register(\(name).self, …) before one crosses")
    }
    for place in [CML_OTHERS, CML_SET_OTHERS] {
      fields.pushCell(on: stack)
      cml_kind_set(kind, stack.L, Int32(place), "")
    }
    cml_kind_seal(kind, stack.L)
    body.unregistered[ObjectIdentifier(type)] = UnregisteredKind(type: type, kind: kind)
    return kind
  }

  private func add<Object>(_ member: LuaMember<Object>, _ access: ObjectAccess<Object>) {
    let body = member.make(access)
    switch member.place {
    case .method: add(body, access, CML_METHOD, member.name)
    case .meta: add(body, access, CML_META, member.name)
    case .getter: add(body, access, CML_GETTER, member.name)
    case .others: add(body, access, CML_OTHERS, member.name)
    case .setOthers: add(body, access, CML_SET_OTHERS, member.name)
    case .ofType, .constant: break
    }
    if let setter = member.setter { add(setter(access), access, CML_SETTER, member.name) }
  }

  private func add<Object>(
    _ body: @escaping LuaHostFunction.Body, _ access: ObjectAccess<Object>, _ place: Int,
    _ name: String
  ) {
    let stack = self.stack
    let function = LuaHostFunction("\(access.name).\(name)", body)
    if place == CML_METHOD || place == CML_META {
      function.push(on: stack)
    } else {
      function.pushCell(on: stack)
    }
    cml_kind_set(access.kind, stack.L, Int32(place), name)
  }

  /// An operator's function: the first of the alternatives that fit best.
  private func add<Object>(
    _ metamethod: String, _ alternatives: [LuaMember<Object>], _ access: ObjectAccess<Object>
  ) {
    let bodies = alternatives.map { (fit: $0.fit!, body: $0.make(access)) }
    if bodies.count == 1 { return add(bodies[0].body, access, CML_META, metamethod) }
    let body: LuaHostFunction.Body = { stack in
      var best = (fit: -1, index: 0)
      for (index, alternative) in bodies.enumerated() where best.fit < 2 {
        let fit = alternative.fit(stack)
        if fit > best.fit { best = (fit, index) }
      }
      return try bodies[best.index].body(stack)
    }
    add(body, access, CML_META, metamethod)
  }

  /// Sets the global table of a type, if it has content.
  private func setType<Object>(
    _ name: String, _ members: [LuaMember<Object>], _ access: ObjectAccess<Object>
  ) {
    if members.isEmpty { return }
    let stack = self.stack
    stack.newTable()
    for member in members {
      stack.push(member.name)
      let body = member.make(access)
      if member.place == .constant {
        do { _ = try body(stack) } catch {
          fatalError("register: constant \(name).\(member.name) has no value in Lua: \(error)")
        }
      } else {
        LuaHostFunction("\(name).\(member.name)", body).push(on: stack)
      }
      stack.rawSet(-3)
    }
    if let new = members.last(where: { $0.place == .ofType && $0.name == "new" }) {
      let body = new.make(access)
      stack.newTable()
      stack.push("__call")
      LuaHostFunction(name) { stack in
        stack.rotate(1, -1)  // the table that is called
        stack.pop()
        return try body(stack)
      }.push(on: stack)
      stack.rawSet(-3)
      cml_set_metatable(stack.L, -2)
    }
    setGlobal(name, on: stack)
  }

  /// Sets a global to an object of a registered class.
  public func set<Object: AnyObject>(_ name: String, _ object: Object) {
    guard body.isUsable("set") else { return }
    body.beginCall()
    defer { body.endCall() }
    let stack = self.stack
    stack.requireRoom("set")
    push(object: object, on: stack)
    setGlobal(name, on: stack)
  }

  /// Sets a global to a value.
  public func set<Value: LuaPushable>(_ name: String, _ value: Value) {
    guard body.isUsable("set") else { return }
    body.beginCall()
    defer { body.endCall() }
    let stack = self.stack
    stack.requireRoom("set")
    value.push(on: stack)
    setGlobal(name, on: stack)
  }
}

/// Lua holds structures in boxes and objects of classes bare: no type can be both.
func refuseClass(_ type: Any.Type, _ call: String = "") -> Never {
  fatalError("\(call)\(type) is a class, and conforms to LuaStruct; conform to LuaObject")
}
