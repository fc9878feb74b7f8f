// Members whose arguments and results are Codable, or whose results are a list. The compiler takes
// them last: what is both plain and Codable crosses as a plain value.

extension LuaMember {
  // MARK: Methods

  /// A method whose arguments and result are Codable; see `LuaCoded`.
  ///
  /// If the arguments are plain and the closure is one expression, declare its result:
  /// `{ (shop: Shop, id: Int) -> Reply in … }`.
  @_disfavoredOverload
  public static func method<each A: Decodable, R: Encodable>(
    _ name: String, _ body: @escaping (Object, repeat each A) throws -> R
  ) -> LuaMember { calling(.method, name, coded: body) }

  /// A method with Codable arguments, and no result, or several in a tuple.
  @_disfavoredOverload
  public static func method<each A: Decodable, each R: Encodable>(
    _ name: String, _ body: @escaping (Object, repeat each A) throws -> (repeat each R)
  ) -> LuaMember { calling(.method, name, coded: body) }

  /// A method with any number of results.
  public static func method<each A: LuaReadable, R: LuaResults>(
    _ name: String, _ body: @escaping (Object, repeat each A) throws -> R
  ) -> LuaMember { calling(.method, name, listing: body) }

  /// A method that gets the state after the object, with any number of results.
  public static func method<each A: LuaReadable, R: LuaResults>(
    _ name: String, _ body: @escaping (Object, LuaState, repeat each A) throws -> R
  ) -> LuaMember {
    LuaMember(.method, name) { access in
      { stack in
        var index: Int32 = 1
        let object = try access.read(stack, 1)
        return try stack.results(
          in: body(object, stack.state, repeat stack.next((each A).self, &index)))
      }
    }
  }

  /// A method that gets the state after the object, with Codable arguments and result.
  @_disfavoredOverload
  public static func method<each A: Decodable, R: Encodable>(
    _ name: String, _ body: @escaping (Object, LuaState, repeat each A) throws -> R
  ) -> LuaMember { callingWithState(name, coded: body) }

  /// A method that gets the state, with Codable arguments, and no result, or several in a tuple.
  @_disfavoredOverload
  public static func method<each A: Decodable, each R: Encodable>(
    _ name: String, _ body: @escaping (Object, LuaState, repeat each A) throws -> (repeat each R)
  ) -> LuaMember { callingWithState(name, coded: body) }

  /// A method that changes a structure, with any number of results.
  public static func mutating<each A: LuaReadable, R: LuaResults>(
    _ name: String, _ body: @escaping (inout Object, repeat each A) throws -> R
  ) -> LuaMember {
    LuaMember(.method, name) { access in
      { stack in
        let results = try access.change(stack) { object in
          var index: Int32 = 1
          return try body(&object, repeat stack.next((each A).self, &index))
        }
        return try stack.results(in: results)
      }
    }
  }

  /// A method that changes a structure, with Codable arguments and result.
  @_disfavoredOverload
  public static func mutating<each A: Decodable, R: Encodable>(
    _ name: String, _ body: @escaping (inout Object, repeat each A) throws -> R
  ) -> LuaMember { changing(name, coded: body) }

  /// A method that changes a structure, with Codable arguments, and no result, or several.
  @_disfavoredOverload
  public static func mutating<each A: Decodable, each R: Encodable>(
    _ name: String, _ body: @escaping (inout Object, repeat each A) throws -> (repeat each R)
  ) -> LuaMember { changing(name, coded: body) }

  /// Calling the object, with Codable arguments and result.
  @_disfavoredOverload
  public static func call<each A: Decodable, R: Encodable>(
    _ body: @escaping (Object, repeat each A) throws -> R
  ) -> LuaMember { calling(.meta, "__call", coded: body) }

  /// Calling the object, with Codable arguments, and no result, or several in a tuple.
  @_disfavoredOverload
  public static func call<each A: Decodable, each R: Encodable>(
    _ body: @escaping (Object, repeat each A) throws -> (repeat each R)
  ) -> LuaMember { calling(.meta, "__call", coded: body) }

  /// Calling the object, with any number of results.
  public static func call<each A: LuaReadable, R: LuaResults>(
    _ body: @escaping (Object, repeat each A) throws -> R
  ) -> LuaMember { calling(.meta, "__call", listing: body) }

  // MARK: Properties

  /// A property with a Codable value, which Lua may read. Each use makes a new table: setting a
  /// field of that does not change the object.
  @_disfavoredOverload
  public static func property<R: Encodable>(_ name: String, _ path: KeyPath<Object, R>)
    -> LuaMember
  { computed(name) { $0[keyPath: path] } }

  /// A property with a Codable value, which Lua may read and set.
  @_disfavoredOverload
  public static func property<R: Codable>(_ name: String, _ path: WritableKeyPath<Object, R>)
    -> LuaMember
  { property(name, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 }) }

  /// A property with a Codable value, which closures read and set.
  @_disfavoredOverload
  public static func property<R: Codable>(
    _ name: String, get: @escaping (Object) throws -> R,
    set: @escaping (inout Object, R) throws -> Void
  ) -> LuaMember {
    var member = computed(name, get)
    member.setter = { access in
      { stack in
        try access.change(stack) { try set(&$0, stack.decodedValue(2)) }
        return 0
      }
    }
    return member
  }

  /// A property with a Codable value, which a closure computes.
  @_disfavoredOverload
  public static func computed<R: Encodable>(
    _ name: String, _ body: @escaping (Object) throws -> R
  ) -> LuaMember {
    LuaMember(.getter, name) { access in
      { stack in try stack.push(coded: body(access.read(stack, 1))) }
    }
  }

  /// The Codable value of a field that is not a member.
  @_disfavoredOverload
  public static func index<K: LuaReadable, R: Encodable>(
    _ body: @escaping (_ object: Object, _ key: K) throws -> R
  ) -> LuaMember {
    LuaMember(.others, "index") { access in
      { stack in
        var index: Int32 = 1
        let object = try access.read(stack, 1)
        return try stack.push(coded: body(object, stack.key(K.self, &index)))
      }
    }
  }

  /// Sets such a field to a Codable value.
  @_disfavoredOverload
  public static func newindex<K: LuaReadable, V: Decodable>(
    _ body: @escaping (_ object: inout Object, _ key: K, _ value: V) throws -> Void
  ) -> LuaMember {
    LuaMember(.setOthers, "newindex") { access in
      { stack in
        try access.change(stack) { object in
          var index: Int32 = 1
          try body(&object, stack.key(K.self, &index), stack.decodedValue(3))
        }
        return 0
      }
    }
  }

  // MARK: The type itself

  /// A function that makes an object of Codable arguments.
  @_disfavoredOverload
  public static func constructor<each A: Decodable>(
    _ name: String = "new", _ body: @escaping (repeat each A) throws -> Object
  ) -> LuaMember {
    LuaMember(.ofType, name) { access in
      { stack in
        var index: Int32 = 0
        access.push(try body(repeat stack.decoded((each A).self, &index)), on: stack)
        return 1
      }
    }
  }

  /// A function of the type whose arguments and result are Codable.
  @_disfavoredOverload
  public static func function<each A: Decodable, R: Encodable>(
    _ name: String, _ body: @escaping (repeat each A) throws -> R
  ) -> LuaMember { LuaMember(.ofType, name) { _ in coded(body) } }

  /// A function of the type with Codable arguments, and no result, or several in a tuple.
  @_disfavoredOverload
  public static func function<each A: Decodable, each R: Encodable>(
    _ name: String, _ body: @escaping (repeat each A) throws -> (repeat each R)
  ) -> LuaMember { LuaMember(.ofType, name) { _ in coded(body) } }

  /// A function of the type with any number of results.
  public static func function<each A: LuaReadable, R: LuaResults>(
    _ name: String, _ body: @escaping (repeat each A) throws -> R
  ) -> LuaMember { LuaMember(.ofType, name) { _ in listing(body) } }

  /// A Codable constant of the type.
  ///
  /// It is encoded when the type is registered; one that cannot be encoded, such as a number too
  /// large for Lua, stops the program then.
  @_disfavoredOverload
  public static func constant<R: Encodable>(_ name: String, _ value: R) -> LuaMember {
    LuaMember(.constant, name) { _ in { stack in try stack.push(coded: value) } }
  }
}

// MARK: - Bodies

extension LuaMember {
  private static func calling<each A: Decodable, each R: Encodable>(
    _ place: Place, _ name: String,
    coded body: @escaping (Object, repeat each A) throws -> (repeat each R)
  ) -> LuaMember {
    LuaMember(place, name) { access in
      { stack in
        var index: Int32 = 1
        let object = try access.read(stack, 1)
        let results = try body(object, repeat stack.decoded((each A).self, &index))
        return try stack.push(coded: repeat each results)
      }
    }
  }

  private static func calling<each A: LuaReadable, R: LuaResults>(
    _ place: Place, _ name: String, listing body: @escaping (Object, repeat each A) throws -> R
  ) -> LuaMember {
    LuaMember(place, name) { access in
      { stack in
        var index: Int32 = 1
        let object = try access.read(stack, 1)
        return try stack.results(in: body(object, repeat stack.next((each A).self, &index)))
      }
    }
  }

  private static func callingWithState<each A: Decodable, each R: Encodable>(
    _ name: String,
    coded body: @escaping (Object, LuaState, repeat each A) throws -> (repeat each R)
  ) -> LuaMember {
    LuaMember(.method, name) { access in
      { stack in
        var index: Int32 = 1
        let object = try access.read(stack, 1)
        let results = try body(object, stack.state, repeat stack.decoded((each A).self, &index))
        return try stack.push(coded: repeat each results)
      }
    }
  }

  private static func changing<each A: Decodable, each R: Encodable>(
    _ name: String,
    coded body: @escaping (inout Object, repeat each A) throws -> (repeat each R)
  ) -> LuaMember {
    LuaMember(.method, name) { access in
      { stack in
        let results = try access.change(stack) { object in
          var index: Int32 = 1
          return try body(&object, repeat stack.decoded((each A).self, &index))
        }
        return try stack.push(coded: repeat each results)
      }
    }
  }
}

extension LuaStack {
  /// Decodes the value that a field is set to, or throws what is wrong with it.
  fileprivate func decodedValue<T: Decodable>(_ index: Int32) throws(LuaArgumentError) -> T {
    let value: LuaCoded<T> = try value(index)
    return value.value
  }
}
