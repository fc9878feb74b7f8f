// Objects that Lua has while a closure runs.

internal import CLuaShims

/// An object that is lent to Lua: an argument for functions, until the closure that it was passed
/// to returns.
public struct LuaLent: LuaPushable {
  let reference: LuaReference

  /// Puts the value in a seat.
  public func push(to seat: inout LuaSeat) { reference.push(to: &seat) }
}

extension LuaState {
  /// Lends an object of a registered class to Lua while a closure runs.
  ///
  /// Then the loan is over: whatever a script has kept of it raises an error that says so, and Lua
  /// no longer holds it. A method under way keeps it until it returns.
  /// - Throws: What the closure throws; the loan is over then, too.
  /// - Note: For the state's thread.
  public func lend<Object: LuaObject, R>(
    _ object: Object, _ body: (LuaLent) throws -> R
  ) rethrows -> R {
    try lend(holding: object, { kind(of: object) }, body)
  }

  /// Lends a value of a registered structure to Lua while a closure runs: scripts change it in
  /// place.
  /// - Throws: What the closure throws; changes that were made until then are kept.
  /// - Note: For the state's thread.
  public func lend<Object: LuaStruct, R>(
    _ value: inout Object, _ body: (LuaLent) throws -> R
  ) rethrows -> R {
    let box = Boxed(value)
    defer { value = box.value }
    return try lend(holding: box, { kind(of: Object.self) }, body)
  }

  private func lend<R>(
    holding object: AnyObject, _ kind: () -> OpaquePointer, _ body: (LuaLent) throws -> R
  ) rethrows -> R {
    guard self.body.isUsable("lend") else {
      fatalError("lend: \(self.body.label) has closed with its loop; ask isClosed first")
    }
    self.body.beginCall()
    defer { self.body.endCall() }
    let stack = self.stack
    stack.pushNew(object, of: kind())
    let lent = LuaLent(reference: LuaReference(popping: stack))
    defer { end(lent) }
    return try body(lent)
  }

  private func end(_ lent: LuaLent) {
    let stack = self.stack
    lent.reference.put(on: stack)
    if let userdata = cml_any_object(stack.L, -1), userdata.pointee.live {
      userdata.pointee.live = false
      Unmanaged<AnyObject>.fromOpaque(userdata.pointee.pointer!).release()
    }
    stack.pop()
  }
}
