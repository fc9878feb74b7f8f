// What a guest has used, and what it may use in a second.

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
  private(set) var instructions: Int?

  mutating func note(turn: GuestTurn, at now: Int64, _ limits: GuestLimits) {
    wakes += 1
    busy += now - turn.began
    processor += turn.used[.processor]
    budget.note(turn.used, limits)
  }

  /// What is left in this second; a great number where there is no limit.
  mutating func left(at now: Int64, _ limits: GuestLimits) -> GuestAmounts {
    budget.begin(second: now / 1_000_000_000, limits)
    return budget.left(of: limits)
  }

  /// Which limit per second is reached, and until when; nil: none.
  func exhausted(_ limits: GuestLimits) -> (what: StaticString, until: Int64)? {
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
    instructions = lua.limits.instructions == nil ? nil : lua.instructionCount
  }
}

/// What a guest may do only so often, or for so long, in a second.
enum GuestRate: Int, CaseIterable {
  case processor, callouts, wakes, messages, logLines

  /// Its name in `limits`.
  var word: StaticString {
    switch self {
    case .processor: "cpu"
    case .callouts: "callouts"
    case .wakes: "wakes"
    case .messages: "messages"
    case .logLines: "log_lines"
    }
  }
}

/// A number for each rate; processor time in nanoseconds.
struct GuestAmounts {
  private var numbers: InlineArray<5, Int64>

  init(all number: Int64 = 0) { numbers = InlineArray(repeating: number) }

  subscript(rate: GuestRate) -> Int64 {
    get { numbers[rate.rawValue] }
    set { numbers[rate.rawValue] = newValue }
  }
}

/// What a guest did while it was served once.
struct GuestTurn {
  let began: Int64
  var used = GuestAmounts()
}

/// What a guest has used of its limits per second. Loop thread only.
struct GuestBudget {
  private var second: Int64 = 0
  /// Used in this second, plus what went beyond the limit in earlier ones.
  private var used = GuestAmounts()

  mutating func begin(second: Int64, _ limits: GuestLimits) {
    let passed = second - self.second
    if passed == 0 { return }
    self.second = second
    for rate in GuestRate.allCases {
      let limit = limits.rates[rate]
      if limit == .max { continue }
      used[rate] = used[rate] / limit < passed ? 0 : used[rate] - limit * passed
    }
  }

  mutating func note(_ turn: GuestAmounts, _ limits: GuestLimits) {
    for rate in GuestRate.allCases where limits.rates[rate] < .max { used[rate] += turn[rate] }
  }

  func left(of limits: GuestLimits) -> GuestAmounts {
    var left = GuestAmounts()
    for rate in GuestRate.allCases { left[rate] = max(0, limits.rates[rate] - used[rate]) }
    return left
  }

  func exhausted(_ limits: GuestLimits) -> (what: StaticString, until: Int64)? {
    for rate in GuestRate.allCases where used[rate] >= limits.rates[rate] {
      return (rate.word, (second + used[rate] / limits.rates[rate]) * 1_000_000_000)
    }
    return nil
  }
}

extension LocalGuest {
  var ownUsage: GuestUsage {
    var (account, usage) = (account, GuestUsage())
    if let lua = runtime?.state { account.keepLast(lua) }
    usage.memory = runtime?.state.bytesInUse ?? 0
    usage.kinds = runtime.map { handleCounts(of: $0) } ?? [:]
    (usage.callouts, usage.stops) = (account.callouts, account.stops)
    usage.instructions = account.instructions
    (usage.wakes, usage.written) = (account.wakes, account.written)
    (usage.sent, usage.messages, usage.logLines) = (tally.sent, tally.messages, tally.logLines)
    (usage.busy, usage.processor) = (Int(account.busy), account.processor)
    return usage
  }
}

/// How many handles, timers and tasks a runtime has, by kind.
private func handleCounts(of runtime: Runtime) -> [String: Int] {
  let handles = runtime.handles
  var counts: [String: Int] = [:]
  for item in handles.items { counts[runtime.itemKinds.word(for: item), default: 0] += 1 }
  let own = Unmanaged.passUnretained(runtime).toOpaque()
  counts["timer", default: 0] += handles.timers(of: runtime.loop, madeBy: own).count
  counts["task"] = runtime.tasks.count
  counts["channel"] = handles.channels.count
  counts["file"] = handles.files.count
  return counts
}
