// What the model is made of: items, modes, runs, blocks, threads.

import ConformanceFormat

extension Model {
  final class Item {
    let spec: ObjectSpec
    var isValid = true
    var isFiring = false
    /// It has ended the sleep of an outer run in this mode, and only that run serves it there; a
    /// port is served by that run in no mode but this (R135).
    var keptIn: Mode?
    /// In order of joining.
    var modes: [Mode] = []
    /// How often it was called, and for which activity.
    var calls: [String?: Int] = [:]
    // A timer: when it fires, and what it says of it.
    var date: Int64 = 0
    var shown: Int64 = 0
    var postponements = 0
    // A source: the number of its first signal.
    var mark: Int?
    // A port: its messages, and whether the kernel knows of them.
    var messages: [String] = []
    var isRaised = false
    // A descriptor: what can be read, and whether it is looked for.
    var bytes: [UInt8] = []
    var peerIsClosed = false
    var isEnabled = false
    /// The block that a timer performs, if it is a delayed request.
    var request: Item?

    init(_ spec: ObjectSpec) {
      self.spec = spec
      if case .descriptor(let events, _, _) = spec.kind { isEnabled = events.contains(.read) }
    }

    var isDescriptor: Bool { spec.type == .fd }
    var isReadable: Bool { isValid && isEnabled && (!bytes.isEmpty || peerIsClosed) }
    var isOneShot: Bool {
      guard case .descriptor(_, let reenabled, _) = spec.kind else { return false }
      return !reenabled.contains(.read)
    }
    var isThere: Bool { isDescriptor ? isReadable : !messages.isEmpty }

    var interval: Int64 {
      if case .timer(_, let interval, _) = spec.kind { interval } else { 0 }
    }
    var order: Int {
      switch spec.kind {
      case .source(let order, _, _): order
      case .observer(_, _, let order): order
      default: 0
      }
    }
    var activities: [ActivityName] {
      if case .observer(let activities, _, _) = spec.kind { activities } else { [] }
    }
    var repeats: Bool {
      if case .observer(_, let repeats, _) = spec.kind { repeats } else { true }
    }
    var hasLifecycle: Bool {
      if case .source(_, let hasLifecycle, _) = spec.kind { hasLifecycle } else { false }
    }
  }

  final class Mode {
    let name: String
    var sources: [Item] = []
    var ports: [Item] = []
    /// By date, equal ones by adding.
    var timers: [Item] = []
    /// By order, equal ones by adding.
    var observers: [Item] = []
    /// What has become ready, first come first.
    var ready: [Ready] = []
    /// CF's kernel timer: when it rings, whether it has, and for which date it was set last.
    var alarm: Int64?
    var alarmRang = false
    var armedFor: Int64?

    init(_ name: String) { self.name = name }

    func append(_ entry: Ready) { if !ready.contains(entry) { ready.append(entry) } }
  }

  /// What can end a sleep.
  enum Ready: Equatable {
    case wakeUp, timers, mainQueue
    case port(Item)

    static func == (one: Ready, other: Ready) -> Bool {
      switch (one, other) {
      case (.wakeUp, .wakeUp), (.timers, .timers), (.mainQueue, .mainQueue): true
      case (.port(let one), .port(let other)): one === other
      default: false
      }
    }
    var isWithheld: Bool { if case .port(let port) = self { port.keptIn != nil } else { false } }
    var isPort: Bool { self != .wakeUp && self != .timers }
    /// What only the kernel knows about: the main queue and descriptors.
    var isOfKernel: Bool {
      if case .port(let port) = self { port.isDescriptor } else { self == .mainQueue }
    }
    var isTimers: Bool { self == .timers }
    var isWakeUp: Bool { self == .wakeUp }
  }

  enum Sort { case ports, timers }

  final class Run {
    let mode: Mode
    let polls: Bool
    let returnAfterSource: Bool
    var deadline: Int64?
    /// Whether the deadline has passed, which CF turns into a wake-up.
    var hasRung = false
    var isStopped = false
    var isExiting = false
    /// What ended the sleep, while observers are called for it (R135).
    var eventOfSleep: [Item] = []
    /// When timers ended the sleep: a timer that is added later with such a date is one of them.
    var timersDueAt: Int64?
    /// The same for the main queue.
    var isEventMainQueue = false
    /// CF: whether step 5 leaves the main queue to the sleep, as in the first pass and in each
    /// after one that has served it.
    var leavesMainQueue = true
    /// CF: wake-ups have no effect from the end of the sleep to the next pass.
    var ignoresWakes = false
    var wakesSeen = 0
    /// What may be the event of this pass: everything, until a stop leaves only what is ready by
    /// then (R15). In CF the wake-up that is part of the stop has the same effect.
    var open: Set<Sort> = []
    /// Whether the last pass served a port (R31).
    var servedPort = false

    init(mode: Mode, polls: Bool, returnAfterSource: Bool) {
      self.mode = mode
      self.polls = polls
      self.returnAfterSource = returnAfterSource
    }
  }

  /// The libdispatch main queue.
  struct MainQueue {
    var blocks: [Item] = []
    /// Whether it asks to be served.
    var isRaised = false
    /// Whether its blocks are being performed (R124).
    var isServed = false
    /// Whether it has ended the sleep of an outer run, which alone serves it (R135).
    var isKept = false
  }

  final class Block {
    let item: Item
    let modes: [String]

    init(item: Item, modes: [String]) {
      self.item = item
      self.modes = modes
    }

    func isFor(_ mode: Mode, _ model: Model) -> Bool {
      modes.contains(mode.name)
        || (modes.contains("common") && model.commonModes.contains(mode.name))
    }
  }

  /// Another thread: its remaining actions, and when it performs the next one.
  final class Actor {
    let name: String
    var actions: [Action]
    var date: Int64
    /// When it acted.
    var acts: [Int64] = []

    init(_ name: String, _ actions: [Action], at date: Int64) {
      self.name = name
      self.actions = actions
      self.date = date
    }
  }
}
