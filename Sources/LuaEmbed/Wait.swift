// Why a coroutine cannot wait here, as text: never a silent nested run, never Lua's own
// "attempt to yield across a C-call boundary".

internal import CLuaShims

extension LuaState {
  package func waitObstacle(_ L: OpaquePointer) -> String? { door.waitObstacle(L) }
}

extension LuaDoor {
  /// Why the function that was called with `L` cannot wait; nil if it can.
  ///
  /// Such as "inside the comparator of table.sort". Cheap if it can.
  package func waitObstacle(_ L: OpaquePointer) -> String? {
    if cml_isyieldable(L) != 0 {
      if cml_is_synchronous(record) {
        return "inside a function whose result the host needs at once"
      }
      if cml_task_current(record, L) < 0 { return "inside a coroutine of the script's own" }
      return nil
    }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(CML_NAME_BYTES)) { name in
      guard cml_boundary(L, name.baseAddress!) else { return nil }
      return Self.place(in: String(cString: name.baseAddress!))
    }
  }

  private static func place(in function: String) -> String {
    switch function {
    case "table.sort": "inside the comparator of table.sort"
    case "string.gsub": "inside the replacement function of string.gsub"
    case "string.gmatch": "inside string.gmatch"
    case "require": "inside a module that require loads"
    case "tostring", "print": "inside __tostring, called by \(function)"
    case "load": "inside the reader of load"
    case "coroutine.close": "inside __close, called by coroutine.close"
    case "collectgarbage", "__gc": "inside a finalizer (__gc)"
    case "xpcall": "inside the message handler of xpcall"
    case "__close": "inside __close at the end of a task"
    case "debug.sethook": "inside a debug hook"
    case "the main coroutine": "outside of any task"
    default: "inside a function that \(function) calls"
    }
  }
}
