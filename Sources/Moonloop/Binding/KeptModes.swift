// Lists of modes that are kept with what scripts make.

internal import LuaEmbed
internal import MoonloopCore

extension LuaState {
  /// Counts a list of modes as script memory, if it is long.
  /// - Returns: What to keep with the list.
  func charge(_ modes: [ModeName]) -> MemoryCharge? {
    let size = modes.footprint
    return size > 256 ? charge(size) : nil
  }
}

extension [ModeName] {
  /// Approximate bytes of the list. Names may be long, and each list may have its own copies.
  var footprint: Int {
    reduce(count * 16) { sum, mode in
      let bytes = mode.rawValue.utf8.count
      return bytes > 15 ? sum + 32 + bytes : sum  // shorter ones have no memory of their own
    }
  }
}
