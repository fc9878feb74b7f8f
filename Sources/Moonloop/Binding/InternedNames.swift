// Strings that Lua often gets, made once: pushing a reference is cheaper than making a string.

internal import LuaEmbed
internal import MoonloopCore

/// Registry references of the names of activities, results, events and modes, and of handles that
/// exist only once.
final class InternedNames {
  // Made on first use, like those of modes; 0: not yet.
  /// By the bit number of the activity.
  private var activities: ContiguousArray<Int32> = [0, 0, 0, 0, 0, 0, 0, 0]
  /// By the number of the result.
  private var results: ContiguousArray<Int32> = [0, 0, 0, 0, 0]
  private var modes: [ModeName: Int32] = [:]
  /// The handle of the loop; 0 until a script asks for it, since the tables of its kind take 7 kB.
  private var loop: Int32 = 0
  private let loopKind: LuaHandleKind
  /// The reply of messages that are not requests; 0 until needed.
  var nobody: Int32 = 0
  let read: Int32
  let write: Int32

  /// - Parameter kinds: The state's kinds of handles.
  init(_ state: LuaState, _ kinds: Kinds) {
    let stack = state.stack
    loopKind = kinds.loop
    stack.push("read" as StaticString)
    read = stack.popRef()
    stack.push("write" as StaticString)
    write = stack.popRef()
  }

  /// Pushes the handle of the loop, always the same one. [-0, +1, raises: -]
  func pushLoop(_ stack: LuaStack) {
    if loop == 0 {
      _ = loopKind.push(stack.L)
      loop = stack.popRef()
    }
    stack.push(ref: loop)
  }

  func ref(of activity: Activity, _ stack: LuaStack) -> Int32 {
    let bit = activity.rawValue.trailingZeroBitCount
    if activities[bit] == 0 {
      stack.push(activityNames.first { $0.value == activity }!.name)
      activities[bit] = stack.popRef()
    }
    return activities[bit]
  }

  func ref(of result: RunResult, _ stack: LuaStack) -> Int32 {
    if results[result.rawValue] == 0 {
      stack.push(resultNames[result.rawValue - 1].name)
      results[result.rawValue] = stack.popRef()
    }
    return results[result.rawValue]
  }

  /// The reference of a mode's name, made on first use.
  func ref(of mode: ModeName, _ stack: LuaStack) -> Int32 {
    if let ref = modes[mode] { return ref }
    stack.push(mode.rawValue)
    let ref = stack.popRef()
    modes[mode] = ref
    return ref
  }

  func drop(_ state: LuaState) { modes = [:] }
}

/// The activities as Lua names them, in the order of a run (D12).
let activityNames: [(name: String, value: Activity)] = [
  ("entry", .entry), ("before_timers", .beforeTimers), ("before_sources", .beforeSources),
  ("before_waiting", .beforeWaiting), ("after_waiting", .afterWaiting), ("exit", .exit),
]

/// The results as Lua names them, in the order of `RunResult` (D14).
let resultNames: [(name: String, result: RunResult)] = [
  ("finished", .finished), ("stopped", .stopped), ("timed_out", .timedOut),
  ("handled_source", .handledSource),
]
