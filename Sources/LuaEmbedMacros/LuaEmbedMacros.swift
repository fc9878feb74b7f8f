// Macros that write the list of members of a class. With the package's trait `Macros` only.

#if Macros
  @_exported public import LuaEmbed

  /// Writes the function that registers a class with a state, by its members with `@LuaExposed`.
  ///
  /// ```swift
  /// @LuaObject final class Counter {
  ///   @LuaExposed var count = 0
  ///   @LuaExposed init(start: Int) { count = start }
  ///   @LuaExposed func add(_ n: Int) -> Int { count += n; return count }
  /// }
  /// Counter.register(with: lua)
  /// ```
  /// The class conforms to `LuaObject`. What is written is a call of `LuaState.register` with one
  /// `LuaMember` for each member; `close`, `pairs` and the like need the list by hand.
  /// - Parameters:
  ///   - name: What Lua calls the class; without it, the name in Swift.
  ///   - parent: The superclass to extend. It has `@LuaObject` too, or a `register(with:)` by hand
  ///     that can be overridden, and is registered first.
  @attached(member, conformances: LuaObject, names: named(register(with:)))
  @attached(extension, conformances: LuaObject)
  public macro LuaObject(_ name: StaticString? = nil, extending parent: AnyClass? = nil) =
    #externalMacro(module: "LuaEmbedMacrosPlugin", type: "ObjectMacro")

  /// Exposes a method, property, initialiser, operator, static function or static constant of a
  /// `@LuaObject`.
  ///
  /// A property with `let`, without a setter or with one of narrower access can only be read. A
  /// parameter with a default value may be left out. An initialiser is called `new`. Operators are
  /// those of Lua, and `callAsFunction` is a call of the object.
  /// - Parameter name: What Lua calls it; without it, the name in Swift.
  @attached(peer)
  public macro LuaExposed(_ name: StaticString? = nil) =
    #externalMacro(module: "LuaEmbedMacrosPlugin", type: "ExposedMacro")
#endif
