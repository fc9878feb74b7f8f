// What happens when an object is called: its entry in the trace, then its actions.

import ConformanceFormat
import MoonloopCore
import Synchronization

extension Engine {
  func called(_ id: String, _ event: Event) {
    guard let spec = specs[id], let thread = current else { return }
    world.spendTime()
    if world.now() - state.withLock({ $0.start }) > Scenario.limit * scale { job.giveUp() }
    if !spec.isQuiet {
      let stamp = spec.isStamped ? "@\(Trace.slot(nanoseconds: elapsed()))" : ""
      job.trace.add(prefix + event.entry(of: spec) + stamp)
    }
    // Schedule and cancel do not count as calls.
    guard !event.isLifecycle else { return }
    let (all, same) = state.withLock { state in
      state.calls[id, default: 0] += 1
      guard let word = event.word else { return (state.calls[id, default: 0], 0) }
      state.calls["\(id) \(word)", default: 0] += 1
      return (state.calls[id, default: 0], state.calls["\(id) \(word)", default: 0])
    }
    for action in spec.actions {
      if let on = action.on, on != event.word { continue }
      if let nth = action.nth, nth != (action.on == nil ? all : same) { continue }
      perform(action, by: thread)
    }
  }
}

extension Event {
  var isLifecycle: Bool {
    switch self {
    case .schedule, .cancel: true
    default: false
    }
  }

  /// The event that an action's `on` names.
  var word: String? {
    switch self {
    case .ready(let direction): direction.rawValue
    case .activity(let activity): activity.rawValue
    default: nil
    }
  }

  /// Its entry in the trace.
  func entry(of spec: ObjectSpec) -> String {
    let name = "\(spec.type.rawValue):\(spec.id)"
    return switch self {
    case .plain: name
    case .perform: "\(name):perform"
    case .schedule(let mode): "\(name):schedule:\(mode)"
    case .cancel(let mode): "\(name):cancel:\(mode)"
    case .message(let message): "\(name):\(message)"
    case .ready(let direction): "\(name):\(direction.rawValue)"
    case .activity(let activity): "\(name):\(activity.rawValue)"
    }
  }
}
