// What Lua's operators and generic functions do with objects of a registered type.

/// An operator of Lua.
public enum LuaOperator: String, Sendable, CaseIterable {
  case add
  case subtract = "sub"
  case multiply = "mul"
  case divide = "div"
  case modulo = "mod"
  case power = "pow"
  case floorDivide = "idiv"
  case and = "band"
  case or = "bor"
  case exclusiveOr = "bxor"
  case shiftLeft = "shl"
  case shiftRight = "shr"
  case concatenate = "concat"
  /// Called only for two different objects.
  case equal = "eq"
  case less = "lt"
  case lessOrEqual = "le"
}

extension LuaMember {
  /// A binary operator.
  ///
  /// Either operand may be the object. Of several members for one operator, the first whose operand
  /// types match is used: `.operator(.multiply) { (v: Vector, k: Double) in … }`.
  public static func `operator`<A: LuaReadable, B: LuaReadable, R: LuaPushable>(
    _ operator: LuaOperator, _ body: @escaping (A, B) throws -> R
  ) -> LuaMember {
    var member = LuaMember(.meta, "__\(`operator`.rawValue)") { _ in
      { stack in
        var index: Int32 = 0
        let (left, right) = try (stack.next(A.self, &index), stack.next(B.self, &index))
        try body(left, right).push(on: stack)
        return 1
      }
    }
    member.fit = { (A.read($0, 1) == nil ? 0 : 1) + (B.read($0, 2) == nil ? 0 : 1) }
    return member
  }

  /// Unary minus.
  public static func negated<R: LuaPushable>(_ body: @escaping (Object) throws -> R) -> LuaMember {
    unary("__unm", body)
  }

  /// The operator `~`.
  public static func complement<R: LuaPushable>(
    _ body: @escaping (Object) throws -> R
  ) -> LuaMember { unary("__bnot", body) }

  /// The operator `#`.
  public static func length(_ body: @escaping (Object) throws -> Int) -> LuaMember {
    unary("__len", body)
  }

  /// The text for `tostring`.
  public static func tostring(_ body: @escaping (Object) -> String) -> LuaMember {
    unary("__tostring", body)
  }

  private static func unary<R: LuaPushable>(
    _ name: String, _ body: @escaping (Object) throws -> R
  ) -> LuaMember {
    LuaMember(.meta, name) { access in
      { stack in
        try body(access.read(stack, 1)).push(on: stack)
        return 1
      }
    }
  }

  /// What happens when a `local x <close>` goes out of scope.
  public static func close(_ body: @escaping (Object) -> Void) -> LuaMember {
    LuaMember(.meta, "__close") { access in
      { stack in
        body(try access.read(stack, 1))
        return 0
      }
    }
  }

  // MARK: Fields that are not members

  /// The value of a field that is not a member: `object.key`, `object[key]`.
  public static func index<K: LuaReadable, R: LuaPushable>(
    _ body: @escaping (_ object: Object, _ key: K) throws -> R
  ) -> LuaMember {
    LuaMember(.others, "index") { access in
      { stack in
        var index: Int32 = 1
        let object = try access.read(stack, 1)
        try body(object, stack.key(K.self, &index)).push(on: stack)
        return 1
      }
    }
  }

  /// Sets such a field: `object[key] = value`.
  public static func newindex<K: LuaReadable, V: LuaReadable>(
    _ body: @escaping (_ object: inout Object, _ key: K, _ value: V) throws -> Void
  ) -> LuaMember {
    LuaMember(.setOthers, "newindex") { access in
      { stack in
        try access.change(stack) { object in
          var index: Int32 = 1
          try body(&object, stack.key(K.self, &index), stack.value(3))
        }
        return 0
      }
    }
  }

  /// What `pairs` iterates over: a sequence of pairs, made once for each loop.
  public static func pairs<Pairs: Sequence, K: LuaPushable, V: LuaPushable>(
    _ body: @escaping (Object) throws -> Pairs
  ) -> LuaMember where Pairs.Element == (K, V) { iterating { try body($0).makeIterator() } }

  /// A dictionary for `pairs` to iterate over, in its order, which differs from run to run.
  public static func pairs<K: LuaPushable, V: LuaPushable>(
    _ body: @escaping (Object) throws -> [K: V]
  ) -> LuaMember {
    iterating { try body($0).lazy.map { ($0.key, $0.value) }.makeIterator() }
  }

  private static func iterating<Pairs: IteratorProtocol, K: LuaPushable, V: LuaPushable>(
    _ body: @escaping (Object) throws -> Pairs
  ) -> LuaMember where Pairs.Element == (K, V) {
    LuaMember(.meta, "__pairs") { access in
      { stack in
        var iterator = try body(access.read(stack, 1))
        var isBusy = false
        let next = LuaHostFunction("next") { stack in
          // What the iterator calls may come back, through a function of the script.
          if isBusy {
            throw LuaArgumentError("this iteration is asked by itself for the next pair")
          }
          isBusy = true
          let found = iterator.next()
          isBusy = false
          guard let (key, value) = found else {
            stack.pushNil()
            return 1
          }
          key.push(on: stack)
          value.push(on: stack)
          return 2
        }
        next.push(on: stack)
        return 1
      }
    }
  }
}

extension LuaStack {
  /// Reads the key of a field.
  func key<K: LuaReadable>(
    _ type: K.Type, _ index: inout Int32
  ) throws(LuaArgumentError) -> K {
    index += 1
    if let key = K.read(self, index) { return key }
    throw LuaArgumentError("the key \(mustBe(LuaText.withArticle(K.luaTypeName), index))")
  }
}
