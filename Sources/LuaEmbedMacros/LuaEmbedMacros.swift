// Macros that write the list of members of a class or structure. With the package's trait `Macros`
// only.

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
  /// `LuaMember` for each mark.
  /// - Parameters:
  ///   - name: What Lua calls the class; without it, the name in Swift.
  ///   - parent: The superclass to extend. It has `@LuaObject` too, or a `register(with:)` by hand
  ///     that can be overridden, and is registered first.
  @attached(member, conformances: LuaObject, names: named(register(with:)))
  @attached(extension, conformances: LuaObject)
  public macro LuaObject(_ name: StaticString? = nil, extending parent: AnyClass? = nil) =
    #externalMacro(module: "LuaEmbedMacrosPlugin", type: "ObjectMacro")

  /// Does the same for a structure, which conforms to `LuaStruct`: each crossing copies.
  /// - Parameter name: What Lua calls the structure; without it, the name in Swift.
  @attached(member, conformances: LuaStruct, names: named(register(with:)))
  @attached(extension, conformances: LuaStruct)
  public macro LuaStruct(_ name: StaticString? = nil) =
    #externalMacro(module: "LuaEmbedMacrosPlugin", type: "ObjectMacro")

  /// Exposes a method, property, subscript, initialiser, operator or static member to Lua.
  ///
  /// It is for members of a class with `@LuaObject` or a structure with `@LuaStruct`. A property
  /// with `let`, without a setter or with one of narrower access can only be read. A parameter with
  /// a default value may be left out. An initialiser is called `new`. A subscript is for the fields
  /// that are not members. Operators are those of Lua, `callAsFunction` is a call of the object.
  /// - Parameter name: What Lua calls it; without it, the name in Swift.
  @attached(peer)
  public macro LuaExposed(_ name: StaticString? = nil) =
    #externalMacro(module: "LuaEmbedMacrosPlugin", type: "ExposedMacro")

  /// Lets Lua use a method or property of a `@LuaObject` or `@LuaStruct` without its name.
  ///
  /// A member may have this mark and the other one: then it has a name as well.
  /// - Parameter purpose: What Lua uses it for.
  @attached(peer)
  public macro LuaExposed(_ purpose: LuaPurpose) =
    #externalMacro(module: "LuaEmbedMacrosPlugin", type: "ExposedMacro")

  /// What Lua uses a member for without its name; each is the `LuaMember` of that name.
  public enum LuaPurpose: Sendable {
    /// A method for the end of a `local x <close>`.
    case close
    /// The operator `#`: an `Int`.
    case length
    /// What `pairs(object)` iterates over: a dictionary, or a sequence of pairs.
    case pairs
    /// The `String` for `tostring(object)`.
    case tostring
  }
#endif
