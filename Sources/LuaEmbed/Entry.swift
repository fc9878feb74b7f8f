// What scripts see of the host: functions, methods and fields, by name. Their documentation is in
// docs/types.

/// A function, method or field that scripts see.
package struct LuaEntry: Sendable {
  package enum Form: Sendable { case function, method, field, metamethod }

  package let form: Form
  package let name: StaticString
  package let function: LuaRawFunction
  /// For a field: how it is set. For a function or method: its second half; see
  /// `LuaStack.push(function:then:)`.
  package let second: LuaRawFunction?

  private init(
    _ form: Form, _ name: StaticString, _ function: LuaRawFunction, _ second: LuaRawFunction?
  ) {
    self.form = form
    self.name = name
    self.function = function
    self.second = second
  }

  /// A function of a module, called with a dot.
  /// - Parameter second: The half that runs after a call of a Lua function, or after a wait.
  package static func function(
    _ name: StaticString, _ function: LuaRawFunction, then second: LuaRawFunction? = nil
  ) -> LuaEntry { LuaEntry(.function, name, function, second) }

  /// A method of a handle, called with a colon; in two halves as a function.
  package static func method(
    _ name: StaticString, _ function: LuaRawFunction, then second: LuaRawFunction? = nil
  ) -> LuaEntry { LuaEntry(.method, name, function, second) }

  /// A field of a handle: the getter gets the handle, the setter the handle and the value.
  package static func field(
    _ name: StaticString, _ getter: LuaRawFunction, set setter: LuaRawFunction? = nil
  ) -> LuaEntry { LuaEntry(.field, name, getter, setter) }

  /// Such as `__tostring`, `__close`, `__eq`, `__len`; in two halves as a function.
  package static func metamethod(
    _ name: StaticString, _ function: LuaRawFunction, then second: LuaRawFunction? = nil
  ) -> LuaEntry { LuaEntry(.metamethod, name, function, second) }
}
