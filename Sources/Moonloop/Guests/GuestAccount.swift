// What a guest has used.

internal import LuaEmbed
internal import MoonloopCore

/// The account of a guest. Loop thread only.
struct GuestAccount {
  enum Room { case fits, isFirstTooMany, isTooMuch }

  /// How often it was served, and how long that took on the host's clock.
  private(set) var wakes = 0
  private(set) var busy: Int64 = 0
  /// The processor time that it has taken.
  private(set) var processor: Int64 = 0
  private(set) var written = 0
  private var second: Int64 = -1
  private var writtenInSecond = 0
  private var isTold = false
  private var budget = GuestBudget()
  /// What its state had used when it ended.
  private(set) var callouts = 0
  private(set) var stops = 0

  mutating func note(turn: GuestTurn, at now: Int64) {
    wakes += 1
    busy += now - turn.began
    processor += turn.processor
    budget.note(turn)
  }

  /// How many call-outs are left in this second; nil: there is no limit.
  mutating func calloutsLeft(at now: Int64, _ limits: GuestLimits) -> Int? {
    budget.begin(second: now / 1_000_000_000, limits)
    return limits.callouts.map { max(0, $0 - budget.callouts) }
  }

  /// Which limit per second is reached, and until when; nil: none.
  func exhausted(_ limits: GuestLimits) -> (what: String, until: Int64)? {
    budget.exhausted(limits)
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

/// What a guest did while it was served once.
struct GuestTurn {
  let began: Int64
  var processor: Int64 = 0
  var callouts = 0
}

/// What a guest has used of its limits per second. Loop thread only.
struct GuestBudget {
  private var second: Int64 = 0
  /// Used in this second, plus what went beyond the limit in earlier ones.
  private var processor: Int64 = 0
  private(set) var callouts = 0

  mutating func begin(second: Int64, _ limits: GuestLimits) {
    let passed = second - self.second
    if passed == 0 { return }
    self.second = second
    processor = left(processor, of: limits.processor, passed)
    callouts = Int(left(Int64(callouts), of: limits.callouts.map { Int64($0) }, passed))
  }

  private func left(_ used: Int64, of limit: Int64?, _ seconds: Int64) -> Int64 {
    guard let limit else { return 0 }
    return used / limit < seconds ? 0 : used - limit * seconds
  }

  mutating func note(_ turn: GuestTurn) {
    processor += turn.processor
    callouts += turn.callouts
  }

  func exhausted(_ limits: GuestLimits) -> (what: String, until: Int64)? {
    if let limit = limits.processor, processor >= limit {
      return ("cpu", (second + processor / limit) * 1_000_000_000)
    }
    if let limit = limits.callouts, callouts >= limit {
      return ("callouts", (second + Int64(callouts / limit)) * 1_000_000_000)
    }
    return nil
  }
}

extension LocalGuest {
  func pushOwnUsage(on stack: LuaStack) {
    var account = account
    if let lua = runtime?.state { account.keepLast(lua) }
    stack.newTable(fields: 8)
    stack.setField("memory", runtime?.state.bytesInUse ?? 0)
    stack.setField("handles", handleCount)
    stack.setField("callouts", account.callouts)
    stack.setField("stops", account.stops)
    stack.setField("wakes", account.wakes)
    stack.setField("busy", Double(account.busy) / 1e9)
    stack.setField("cpu", Double(account.processor) / 1e9)
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
