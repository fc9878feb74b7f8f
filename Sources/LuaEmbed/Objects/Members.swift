// What a registered type offers to Lua: methods, properties, operators, and functions of
// the type itself.

/// One thing that a registered class or structure offers to Lua.
///
/// `Object` is the type that it belongs to; a closure gets an object of it first, a structure as a
/// copy. Closures are called on the thread of the state.
public struct LuaMember<Object> {
  @usableFromInline
  enum Place { case method, getter, meta, others, setOthers, ofType, constant }

  let place: Place
  let name: String
  /// Makes the body, given access to the object that is the first argument.
  let make: (ObjectAccess<Object>) -> LuaHostFunction.Body
  /// A property that can be set has a second half.
  @usableFromInline var setter: ((ObjectAccess<Object>) -> LuaHostFunction.Body)?
  /// How many of the two values on the stack fit an operator; nil: it is not an operator.
  var fit: ((LuaStack) -> Int)?

  @usableFromInline
  init(
    _ place: Place, _ name: String,
    _ make: @escaping (ObjectAccess<Object>) -> LuaHostFunction.Body
  ) {
    self.place = place
    self.name = name
    self.make = make
  }

  // MARK: Methods

  /// A method that Lua calls as `object:name(...)`.
  public static func method<each A: LuaReadable, R: LuaPushable>(
    _ name: String, _ body: @escaping (Object, repeat each A) throws -> R
  ) -> LuaMember { calling(.method, name, body) }

  /// A method without a result, or with several in a tuple.
  public static func method<each A: LuaReadable, each R: LuaPushable>(
    _ name: String, _ body: @escaping (Object, repeat each A) throws -> (repeat each R)
  ) -> LuaMember { calling(.method, name, body) }

  /// A method that gets the state after the object, so that it need not capture it.
  public static func method<each A: LuaReadable, R: LuaPushable>(
    _ name: String, _ body: @escaping (Object, LuaState, repeat each A) throws -> R
  ) -> LuaMember { callingWithState(name, body) }

  /// A method that gets the state, without a result, or with several in a tuple.
  public static func method<each A: LuaReadable, each R: LuaPushable>(
    _ name: String, _ body: @escaping (Object, LuaState, repeat each A) throws -> (repeat each R)
  ) -> LuaMember { callingWithState(name, body) }

  /// A method that changes a structure in place, from Lua's point of view.
  public static func mutating<each A: LuaReadable, R: LuaPushable>(
    _ name: String, _ body: @escaping (inout Object, repeat each A) throws -> R
  ) -> LuaMember { changing(name, body) }

  /// A method that changes a structure, without a result, or with several in a tuple.
  public static func mutating<each A: LuaReadable, each R: LuaPushable>(
    _ name: String, _ body: @escaping (inout Object, repeat each A) throws -> (repeat each R)
  ) -> LuaMember { changing(name, body) }

  /// A method that changes a structure, and gets the state after it.
  public static func mutating<each A: LuaReadable, R: LuaPushable>(
    _ name: String, _ body: @escaping (inout Object, LuaState, repeat each A) throws -> R
  ) -> LuaMember { changingWithState(name, body) }

  /// A method that changes a structure and gets the state, without a result, or with several.
  public static func mutating<each A: LuaReadable, each R: LuaPushable>(
    _ name: String,
    _ body: @escaping (inout Object, LuaState, repeat each A) throws -> (repeat each R)
  ) -> LuaMember { changingWithState(name, body) }

  /// Calling the object: `object(...)`.
  public static func call<each A: LuaReadable, R: LuaPushable>(
    _ body: @escaping (Object, repeat each A) throws -> R
  ) -> LuaMember { calling(.meta, "__call", body) }

  /// Calling the object, without a result, or with several in a tuple.
  public static func call<each A: LuaReadable, each R: LuaPushable>(
    _ body: @escaping (Object, repeat each A) throws -> (repeat each R)
  ) -> LuaMember { calling(.meta, "__call", body) }

  private static func calling<each A: LuaReadable, each R: LuaPushable>(
    _ place: Place, _ name: String,
    _ body: @escaping (Object, repeat each A) throws -> (repeat each R)
  ) -> LuaMember {
    LuaMember(place, name) { access in
      { stack in
        var index: Int32 = 1
        let object = try access.read(stack, 1)
        let results = try body(object, repeat stack.next((each A).self, &index))
        return try stack.results(repeat each results)
      }
    }
  }

  private static func callingWithState<each A: LuaReadable, each R: LuaPushable>(
    _ name: String,
    _ body: @escaping (Object, LuaState, repeat each A) throws -> (repeat each R)
  ) -> LuaMember {
    LuaMember(.method, name) { access in
      { stack in
        var index: Int32 = 1
        let object = try access.read(stack, 1)
        let results = try body(object, stack.state, repeat stack.next((each A).self, &index))
        return try stack.results(repeat each results)
      }
    }
  }

  private static func changing<each A: LuaReadable, each R: LuaPushable>(
    _ name: String, _ body: @escaping (inout Object, repeat each A) throws -> (repeat each R)
  ) -> LuaMember {
    LuaMember(.method, name) { access in
      { stack in
        let results = try access.change(stack) { object in
          var index: Int32 = 1
          return try body(&object, repeat stack.next((each A).self, &index))
        }
        return try stack.results(repeat each results)
      }
    }
  }

  private static func changingWithState<each A: LuaReadable, each R: LuaPushable>(
    _ name: String,
    _ body: @escaping (inout Object, LuaState, repeat each A) throws -> (repeat each R)
  ) -> LuaMember {
    LuaMember(.method, name) { access in
      { stack in
        let results = try access.change(stack) { object in
          var index: Int32 = 1
          return try body(&object, stack.state, repeat stack.next((each A).self, &index))
        }
        return try stack.results(repeat each results)
      }
    }
  }

  // MARK: Properties

  /// A property that Lua may read.
  @inlinable
  public static func property<R: LuaPushable>(_ name: String, _ path: KeyPath<Object, R>)
    -> LuaMember
  {
    LuaMember(.getter, name) { access in
      { stack in
        try access.read(stack, 1)[keyPath: path].push(on: stack)
        return 1
      }
    }
  }

  /// A property that Lua may read and set.
  @inlinable
  public static func property<R: LuaPushable & LuaReadable>(
    _ name: String, _ path: WritableKeyPath<Object, R>
  ) -> LuaMember {
    var member = property(name, path as KeyPath<Object, R>)
    member.setter = { access in
      if let path = path as? ReferenceWritableKeyPath<Object, R> {
        return { stack in
          try access.read(stack, 1)[keyPath: path] = stack.value(2)
          return 0
        }
      }
      return { stack in
        try access.change(stack) { $0[keyPath: path] = try stack.value(2) }
        return 0
      }
    }
    return member
  }

  /// A property that closures read and set: the compiler sees what they do, while a key path is
  /// looked up at each use.
  @inlinable
  public static func property<R: LuaPushable & LuaReadable>(
    _ name: String, get: @escaping (Object) throws -> R,
    set: @escaping (inout Object, R) throws -> Void
  ) -> LuaMember {
    var member = computed(name, get)
    member.setter = { access in
      { stack in
        try access.change(stack) { try set(&$0, stack.value(2)) }
        return 0
      }
    }
    return member
  }

  /// A property that a closure computes.
  @inlinable
  public static func computed<R: LuaPushable>(
    _ name: String, _ body: @escaping (Object) throws -> R
  ) -> LuaMember {
    LuaMember(.getter, name) { access in
      { stack in
        try body(access.read(stack, 1)).push(on: stack)
        return 1
      }
    }
  }

  // MARK: The type itself

  /// A function that makes an object: `Type.name(...)`; and `Type(...)`, if the name is `new`.
  public static func constructor<each A: LuaReadable>(
    _ name: String = "new", _ body: @escaping (repeat each A) throws -> Object
  ) -> LuaMember {
    LuaMember(.ofType, name) { access in
      { stack in
        var index: Int32 = 0
        access.push(try body(repeat stack.next((each A).self, &index)), on: stack)
        return 1
      }
    }
  }

  /// A function of the type: `Type.name(...)`.
  public static func function<each A: LuaReadable, R: LuaPushable>(
    _ name: String, _ body: @escaping (repeat each A) throws -> R
  ) -> LuaMember { LuaMember(.ofType, name) { _ in plain(body) } }

  /// A function of the type without a result, or with several in a tuple.
  public static func function<each A: LuaReadable, each R: LuaPushable>(
    _ name: String, _ body: @escaping (repeat each A) throws -> (repeat each R)
  ) -> LuaMember { LuaMember(.ofType, name) { _ in plain(body) } }

  /// A constant of the type: `Type.name`. It is read when the type is registered.
  public static func constant<R: LuaPushable>(_ name: String, _ value: R) -> LuaMember {
    LuaMember(.constant, name) { _ in
      { stack in
        value.push(on: stack)
        return 1
      }
    }
  }
}

extension LuaStack {
  /// Reads the value that a field is set to, or throws what is wrong with it.
  @inlinable
  func value<T: LuaReadable>(_ index: Int32) throws(LuaArgumentError) -> T {
    guard let value = T.read(self, index) else { throw misfit(index, T.self) }
    return value
  }

  @usableFromInline
  @inline(never)
  func misfit<T: LuaReadable>(_ index: Int32, _ type: T.Type) -> LuaArgumentError {
    LuaArgumentError(T.mismatch(LuaSlot(self, index)).message(of: "the value"))
  }
}
