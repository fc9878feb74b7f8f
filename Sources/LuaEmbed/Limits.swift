// What a script may use: memory, time in one call-out, nesting.

internal import CLuaShims

/// What the scripts of one state may use.
public struct LuaLimits: Sendable, Equatable {
  /// The most bytes Lua may hold, or nil. A script that passes it is stopped, not refused.
  public var memory: Int?
  /// The most time one call-out may run, waits not counted, or nil.
  public var callout: Duration?
  /// How deep calls of Lua and the host may lie in one another.
  public var nesting: Int

  /// Limits; nil is no limit.
  /// - Parameters:
  ///   - memory: Bytes, at least 1 MiB to be of use: the libraries alone take 25 kB.
  ///   - callout: The time of one call-out; from 10 ms.
  ///   - nesting: 1 to 60.
  public init(memory: Int? = nil, callout: Duration? = nil, nesting: Int = 32) {
    self.memory = memory
    self.callout = callout
    self.nesting = nesting
  }
}

/// Counts stops, and says when they are too many: more than ten in a minute.
struct StopRate {
  static let bound = 10
  private var times: [ContinuousClock.Instant] = []
  private(set) var isExceeded = false
  private(set) var total = 0

  mutating func note(at now: ContinuousClock.Instant = .now) {
    total += 1
    times.append(now)
    times.removeAll { $0.duration(to: now) > .seconds(60) }
    if times.count > Self.bound { isExceeded = true }
  }
}

extension LuaState {
  /// Whether scripts of this state were stopped more than ten times within a minute.
  ///
  /// It stays true; the host is expected to end such a state.
  public var isCondemned: Bool { stops.isExceeded }

  /// How many call-outs were stopped by a limit or an interrupt.
  public var stopCount: Int { stops.total }

  func startWatchdog() {}
}
