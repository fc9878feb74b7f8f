// Typed closures of up to three arguments: the same as the general form in `Function`, but written
// out, because the compiler does not specialise parameter packs in the program that registers.

extension LuaState {
  /// Makes a Swift closure without arguments a global function.
  @inlinable
  public func register<R: LuaPushable>(_ name: String, _ body: @escaping () throws -> R) {
    setFunction(name) { stack in
      try body().push(on: stack)
      return 1
    }
  }

  /// Makes a Swift closure without arguments and result a global function.
  @inlinable
  public func register(_ name: String, _ body: @escaping () throws -> Void) {
    setFunction(name) { _ in
      try body()
      return 0
    }
  }

  /// Makes a Swift closure with one argument a global function.
  @inlinable
  public func register<A: LuaReadable, R: LuaPushable>(
    _ name: String, _ body: @escaping (A) throws -> R
  ) {
    setFunction(name) { stack in
      try body(stack.argument(1)).push(on: stack)
      return 1
    }
  }

  /// Makes a Swift closure with one argument and no result a global function.
  @inlinable
  public func register<A: LuaReadable>(_ name: String, _ body: @escaping (A) throws -> Void) {
    setFunction(name) { stack in
      try body(stack.argument(1))
      return 0
    }
  }

  /// Makes a Swift closure with two arguments a global function.
  @inlinable
  public func register<A: LuaReadable, B: LuaReadable, R: LuaPushable>(
    _ name: String, _ body: @escaping (A, B) throws -> R
  ) {
    setFunction(name) { stack in
      try body(stack.argument(1), stack.argument(2)).push(on: stack)
      return 1
    }
  }

  /// Makes a Swift closure with two arguments and no result a global function.
  @inlinable
  public func register<A: LuaReadable, B: LuaReadable>(
    _ name: String, _ body: @escaping (A, B) throws -> Void
  ) {
    setFunction(name) { stack in
      try body(stack.argument(1), stack.argument(2))
      return 0
    }
  }

  /// Makes a Swift closure with three arguments a global function.
  @inlinable
  public func register<A: LuaReadable, B: LuaReadable, C: LuaReadable, R: LuaPushable>(
    _ name: String, _ body: @escaping (A, B, C) throws -> R
  ) {
    setFunction(name) { stack in
      try body(stack.argument(1), stack.argument(2), stack.argument(3)).push(on: stack)
      return 1
    }
  }

  /// Makes a Swift closure with three arguments and no result a global function.
  @inlinable
  public func register<A: LuaReadable, B: LuaReadable, C: LuaReadable>(
    _ name: String, _ body: @escaping (A, B, C) throws -> Void
  ) {
    setFunction(name) { stack in
      try body(stack.argument(1), stack.argument(2), stack.argument(3))
      return 0
    }
  }
}

extension LuaStack {
  /// Reads the argument at an index, or throws what is wrong with it.
  @inlinable
  package func argument<T: LuaReadable>(_ index: Int32) throws(LuaArgumentError) -> T {
    guard let value = T.read(self, index) else { throw mistake(index, T.self) }
    return value
  }
}
