// What a guest has used.

internal import LuaEmbed
internal import MoonloopCore

/// The account of a guest. Loop thread only.
struct GuestAccount {
  enum Room { case fits, isFirstTooMany, isTooMuch }

  /// How often it was served, and how long that took on the host's clock.
  private(set) var wakes = 0
  private(set) var busy: Int64 = 0
  private(set) var written = 0
  private var second: Int64 = -1
  private var writtenInSecond = 0
  private var isTold = false
  /// What its state had used when it ended.
  private(set) var callouts = 0
  private(set) var stops = 0

  mutating func note(turn nanoseconds: Int64) {
    wakes += 1
    busy += nanoseconds
  }

  mutating func note(written count: Int, in second: Int64, limit: Int) -> Room {
    if second != self.second { (self.second, writtenInSecond, isTold) = (second, 0, false) }
    writtenInSecond += count
    if writtenInSecond <= limit {
      written += count
      return .fits
    }
    defer { isTold = true }
    return isTold ? .isTooMuch : .isFirstTooMany
  }

  mutating func keepLast(_ lua: LuaState) {
    if lua.isClosed { return }
    (callouts, stops) = (lua.inner.callouts, lua.stopCount)
  }
}

extension LocalGuest {
  func pushOwnUsage(on stack: LuaStack) {
    var account = account
    if let lua = runtime?.state { account.keepLast(lua) }
    stack.newTable(fields: 7)
    stack.setField("memory", runtime?.state.bytesInUse ?? 0)
    stack.setField("handles", handleCount)
    stack.setField("callouts", account.callouts)
    stack.setField("stops", account.stops)
    stack.setField("wakes", account.wakes)
    stack.setField("busy", Double(account.busy) / 1e9)
    stack.setField("written", account.written)
  }

  /// How many handles, timers and tasks it has.
  private var handleCount: Int {
    guard let runtime else { return 0 }
    let (handles, own) = (runtime.handles, Unmanaged.passUnretained(runtime).toOpaque())
    return handles.itemCount + handles.timers(of: runtime.loop, madeBy: own).count
      + runtime.tasks.count + handles.channels.count
  }
}
