// Methods of up to two arguments: the same as the general form in `Members`, but written out, as in
// `Function+Arities`.

extension LuaMember {
  /// A method without arguments that Lua calls as `object:name()`.
  @inlinable
  public static func method<R: LuaPushable>(
    _ name: String, _ body: @escaping (Object) throws -> R
  ) -> LuaMember {
    LuaMember(.method, name) { access in
      { stack in
        try body(access.read(stack, 1)).push(on: stack)
        return 1
      }
    }
  }

  /// A method without arguments and result.
  @inlinable
  public static func method(
    _ name: String, _ body: @escaping (Object) throws -> Void
  ) -> LuaMember {
    LuaMember(.method, name) { access in
      { stack in
        try body(access.read(stack, 1))
        return 0
      }
    }
  }

  /// A method with an argument.
  @inlinable
  public static func method<A: LuaReadable, R: LuaPushable>(
    _ name: String, _ body: @escaping (Object, A) throws -> R
  ) -> LuaMember {
    LuaMember(.method, name) { access in
      { stack in
        try body(access.read(stack, 1), stack.argument(2)).push(on: stack)
        return 1
      }
    }
  }

  /// A method with an argument and no result.
  @inlinable
  public static func method<A: LuaReadable>(
    _ name: String, _ body: @escaping (Object, A) throws -> Void
  ) -> LuaMember {
    LuaMember(.method, name) { access in
      { stack in
        try body(access.read(stack, 1), stack.argument(2))
        return 0
      }
    }
  }

  /// A method with two arguments.
  @inlinable
  public static func method<A: LuaReadable, B: LuaReadable, R: LuaPushable>(
    _ name: String, _ body: @escaping (Object, A, B) throws -> R
  ) -> LuaMember {
    LuaMember(.method, name) { access in
      { stack in
        try body(access.read(stack, 1), stack.argument(2), stack.argument(3)).push(on: stack)
        return 1
      }
    }
  }

  /// A method with two arguments and no result.
  @inlinable
  public static func method<A: LuaReadable, B: LuaReadable>(
    _ name: String, _ body: @escaping (Object, A, B) throws -> Void
  ) -> LuaMember {
    LuaMember(.method, name) { access in
      { stack in
        try body(access.read(stack, 1), stack.argument(2), stack.argument(3))
        return 0
      }
    }
  }
}
