// What the limits of a process (`ulimit -v`, `-d`) leave for Lua: neither Swift nor liblua survives
// that there is no memory, so Lua's own limit has to come first.

internal import MoonloopSystem

/// How a process with little memory is shared between Lua and the rest of the program.
package enum ProcessMemory {
  /// What the program needs besides Lua, in bytes: its threads, and copies of messages.
  static let reserve: Int64 = 16 << 20

  /// The memory limit for Lua in this process; nil: the process has no limit.
  package static var limitForLua: Int? {
    guard let left = Confinement.memoryLeft else { return nil }
    return limitForLua(in: left, reserve: min(reserve, left / 2))
  }

  /// Lua may have twice its limit before it is refused more.
  static func limitForLua(in left: Int64, reserve: Int64) -> Int {
    Int(clamping: (left - reserve) / 2)
  }
}
