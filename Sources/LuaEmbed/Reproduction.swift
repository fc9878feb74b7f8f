// Runs that can be repeated: the same addresses, and libraries with changed functions.

internal import CLuaShims

extension LuaState {
  /// Makes the next state of this thread give the same addresses, and the same order of `pairs`, to
  /// scripts that do the same.
  package static func reproduceNext(seed: UInt32) { cml_reproduce_next(seed) }

  /// Runs a C function that changes the standard libraries, before the hooks of a program.
  /// - Returns: false if it raised an error.
  @discardableResult
  package func setUp(_ body: @convention(c) (OpaquePointer?) -> Int32) -> Bool {
    cml_set_up(record, body)
  }
}
