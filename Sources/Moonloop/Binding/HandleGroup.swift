// How many handles scripts may have.

internal import LuaEmbed

/// What `ml.limit { handles }` bounds, each by itself. Timers are bounded by their loop.
enum HandleGroup: String {
  case items = "handles"
  case tasks
  case performs
  case channels = "channels and semaphores"
  case files = "open files"
}

/// Counts the handles of a group that has no list. Loop thread only.
final class HandleTally {
  private(set) var count = 0

  func add(_ change: Int) { count += change }

  /// One that is counted for as long as it lives.
  struct Place: ~Copyable {
    private let tally: HandleTally

    init(_ tally: HandleTally) {
      self.tally = tally
      tally.count += 1
    }

    deinit { tally.count -= 1 }
  }
}

extension HostCall {
  /// As `requireOpen`; and refuses to make more than `ml.limit` allows.
  /// - Parameter new: How many handles the call makes.
  func requireRoom(for group: HandleGroup = .items, new: Int = 1) throws(ScriptMistake) {
    try requireOpen()
    let runtime = runtime
    let limit = runtime.handles.limit
    if group.count(in: runtime) + new <= limit { return }
    runtime.state.collect()  // Perhaps some of them are garbage.
    let count = group.count(in: runtime)
    if count + new <= limit { return }
    let excess = count < limit ? "would be passed: \(count) exist, this makes \(new)" : "is reached"
    throw mistake("the limit of \(limit) \(group.rawValue) \(excess); see ml.limit")
  }
}

extension HandleGroup {
  /// How many there are. While a file is loaded again, what it may make again does not count: it
  /// takes the place of that, or that ends.
  fileprivate func count(in runtime: Runtime) -> Int {
    switch self {
    case .items: runtime.handles.itemCount - (runtime.generations.load?.oldItems ?? 0)
    case .tasks: runtime.tasks.count - (runtime.generations.load?.oldTasks ?? 0)
    case .performs: runtime.requests.waiting.count
    case .channels: runtime.handles.channels.count
    case .files: runtime.handles.files.count
    }
  }
}
