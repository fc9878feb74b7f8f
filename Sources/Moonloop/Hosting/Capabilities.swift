// What a state's scripts may reach: parts of the module, and of the standard libraries.

internal import LuaEmbed
internal import MoonloopCore

/// The parts of `moonloop` that scripts may reach. Using any other raises an error that names its
/// grant.
///
/// Tasks, sources, observers, perform requests, channels, ports within the process, and time are
/// available to every script.
public struct LuaCapabilities: OptionSet, Hashable, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Timers of any kind, and delayed perform requests.
  public static let timers = LuaCapabilities(rawValue: 1 << 0)
  /// Sockets, servers, names of hosts, and HTTP.
  public static let net = LuaCapabilities(rawValue: 1 << 1)
  /// Files by their paths: `ml.fs`.
  public static let files = LuaCapabilities(rawValue: 1 << 2)
  /// Child processes.
  public static let processes = LuaCapabilities(rawValue: 1 << 3)
  /// Scripts on threads of their own, which may reach all that a program may; and guests.
  public static let workers = LuaCapabilities(rawValue: 1 << 4)
  /// Signals of the process.
  public static let signals = LuaCapabilities(rawValue: 1 << 5)
  /// Watched files, and the pressure on the system.
  public static let watches = LuaCapabilities(rawValue: 1 << 6)
  /// Ports that other processes find by their names.
  public static let namedPorts = LuaCapabilities(rawValue: 1 << 7)
  /// Descriptors by their numbers, and the calls of the system on them.
  public static let descriptors = LuaCapabilities(rawValue: 1 << 8)
  /// The terminal.
  public static let terminal = LuaCapabilities(rawValue: 1 << 9)
  /// Loading other versions of scripts while the program runs.
  public static let reload = LuaCapabilities(rawValue: 1 << 10)
  /// Running the loop: `loop:run`, which keeps the host waiting.
  public static let runs = LuaCapabilities(rawValue: 1 << 11)
  /// Looking at all that is on the loop, the host's things too: `why`, `dump`, `metrics`, `record`.
  public static let inspection = LuaCapabilities(rawValue: 1 << 12)
  /// Setting the limits that the host has set.
  public static let limits = LuaCapabilities(rawValue: 1 << 13)

  /// All of them, now and in later versions.
  public static let all = LuaCapabilities(rawValue: .max)
}

/// Which of the standard libraries scripts get.
public enum LuaLibraries: Sendable, Hashable {
  /// All of them, and `require` for files and native modules.
  case all
  /// Nothing that reaches outside the state: no `io`, no files, no processes, no environment, no
  /// native code, no binary chunks, of `debug` only `traceback`. `require` returns what the host
  /// defines by `LuaState.module`. Nothing shows an address, and there are no finalizers (`__gc`).
  case safe
}

/// A part of the module, or of the loop's methods, that must be granted.
struct Grant: Sendable {
  let capability: LuaCapabilities
  /// Its name in programs: ".net".
  let name: StaticString
  /// Its name for guests: "net".
  let word: StaticString
  /// What it is in the module, and as methods of the loop.
  let ofModule: [StaticString]
  let ofLoop: [StaticString]
  /// Our module that `require` then also finds.
  var required: StaticString?
  /// Raises that it is not granted.
  let refusal: LuaRawFunction
  /// What it allows, in plain words, and what asks for it; nil: it is not asked for.
  var meaning: StaticString?
  var asking: LuaRawFunction?

  /// What is refused, as text: "ml.net or ml.http".
  var subject: String {
    if !ofLoop.isEmpty { return "'\(word)'" }
    return ofModule.map { "ml.\($0)" }.joined(separator: " or ")
  }

  static let all: [Grant] = [
    Grant(
      capability: .timers, name: ".timers", word: "timers", ofModule: ["timer"],
      ofLoop: ["timer", "after", "every", "at", "cron", "perform_after", "next_timer"],
      required: "moonloop.cron",
      refusal: { L, context in refuse(L, context, .timers) },
      meaning: "use timers",
      asking: { L, context in ask(L, context, .timers) }),
    Grant(
      capability: .net, name: ".net", word: "net", ofModule: ["net", "http"], ofLoop: [],
      required: "moonloop.http", refusal: { L, context in refuse(L, context, .net) }),
    Grant(
      capability: .files, name: ".files", word: "fs", ofModule: ["fs"], ofLoop: [],
      required: "moonloop.fs", refusal: { L, context in refuse(L, context, .files) }),
    Grant(
      capability: .processes, name: ".processes", word: "process", ofModule: ["process"],
      ofLoop: [],
      refusal: { L, context in refuse(L, context, .processes) }),
    Grant(
      capability: .workers, name: ".workers", word: "worker",
      ofModule: ["worker", "workers", "guest"],
      ofLoop: [], required: "moonloop.workers",
      refusal: { L, context in refuse(L, context, .workers) },
      meaning: "run scripts in threads of their own, with the same grants",
      asking: { L, context in ask(L, context, .workers) }),
    Grant(
      capability: .signals, name: ".signals", word: "signal", ofModule: ["signal"],
      ofLoop: ["signal"],
      refusal: { L, context in refuse(L, context, .signals) },
      meaning: "handle signals of this process",
      asking: { L, context in ask(L, context, .signals) }),
    Grant(
      capability: .watches, name: ".watches", word: "watch", ofModule: ["watch", "pressure"],
      ofLoop: ["watch", "pressure"], refusal: { L, context in refuse(L, context, .watches) },
      meaning: "watch files for changes, and the pressure on the system",
      asking: { L, context in ask(L, context, .watches) }),
    Grant(
      capability: .namedPorts, name: ".namedPorts", word: "port", ofModule: ["port"], ofLoop: [],
      refusal: { L, context in refuse(L, context, .namedPorts) },
      meaning: "talk to other processes through named ports",
      asking: { L, context in ask(L, context, .namedPorts) }),
    Grant(
      capability: .descriptors, name: ".descriptors", word: "fd", ofModule: ["fd", "stream"],
      ofLoop: ["fd", "stream", "socket_source"],
      refusal: { L, context in refuse(L, context, .descriptors) }),
    Grant(
      capability: .terminal, name: ".terminal", word: "tty", ofModule: ["tty", "break_here"],
      ofLoop: [],
      refusal: { L, context in refuse(L, context, .terminal) }),
    Grant(
      capability: .reload, name: ".reload", word: "reload", ofModule: ["reload"], ofLoop: [],
      required: "moonloop.reload", refusal: { L, context in refuse(L, context, .reload) }),
    Grant(
      capability: .runs, name: ".runs", word: "run", ofModule: [],
      ofLoop: ["run", "stop_when_next_looking"],
      refusal: { L, context in refuse(L, context, .runs) }),
    Grant(
      capability: .inspection, name: ".inspection", word: "inspect", ofModule: [],
      ofLoop: ["why", "dump", "metrics", "record"],
      refusal: { L, context in refuse(L, context, .inspection) },
      meaning: "look at what is on its loop: why, dump, metrics",
      asking: { L, context in ask(L, context, .inspection) }),
    Grant(
      capability: .limits, name: ".limits", word: "limit", ofModule: ["limit"], ofLoop: [],
      refusal: { L, context in refuse(L, context, .limits) },
      meaning: "change its own limits",
      asking: { L, context in ask(L, context, .limits) }),
  ]
}

private func refuse(
  _ L: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ capability: LuaCapabilities
) -> Int32 {
  host(L, context, "moonloop") { call throws in throw call.refusal(of: capability, isWhole: true) }
}

/// The first half of a function that is asked for: the second is the function.
private func ask(
  _ L: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ capability: LuaCapabilities
) -> Int32 {
  host(L, context, "moonloop") { call throws in
    try call.requireAnswer(for: capability)
    call.stack.push(function: { _, _ in LuaStatus.results(0) })
    return LuaStatus.call(arguments: 0)
  }
}

extension HostCall {
  /// Throws unless it is granted, now or before.
  func requireAnswer(for capability: LuaCapabilities) throws(ScriptMistake) {
    if runtime.granted.capabilities.contains(capability) { return }
    let grant = Grant.all.first { $0.capability == capability }!
    if !isGranted(GuestQuestion(grant)) { throw refusal(of: capability, isWhole: true) }
  }

  /// - Parameter isWhole: Whether the call has no other use; then the message names it.
  fileprivate func refusal(of capability: LuaCapabilities, isWhole: Bool) -> ScriptMistake {
    let grant = Grant.all.first { $0.capability == capability }!
    if let guest = runtime.granted.guest, !isWhole {
      return mistake(guest.refusal("\(grant.word)"))
    } else if let guest = runtime.granted.guest {
      let advice = guest.advice(of: "\(grant.word)")
      return mistake("this guest may not use \(grant.subject); \(advice)")
    }
    return mistake("this script may not use that; its host can grant \(grant.name)")
  }

  /// For part of something that needs no grant.
  func requireGrant(of capability: LuaCapabilities) throws(ScriptMistake) {
    if runtime.granted.capabilities.contains(capability) { return }
    let grant = Grant.all.first { $0.capability == capability }!
    if isGranted(GuestQuestion(grant)) { return }
    throw refusal(of: capability, isWhole: false)
  }
}

extension LuaCapabilities {
  /// The grant that a method of the loop lacks; nil: it is granted.
  fileprivate func missing(ofLoop name: StaticString) -> Grant? {
    refused.first { $0.ofLoop.contains { "\($0)" == "\(name)" } }
  }

  var refused: [Grant] { self == .all ? [] : Grant.all.filter { !contains($0.capability) } }

  /// Whether scripts may load one of our modules by its name.
  func allowsModule(_ name: String) -> Bool {
    if self == .all { return true }
    if name == "moonloop.generation" { return contains(.reload) }
    let granted = Grant.all.filter { contains($0.capability) }.compactMap(\.required)
    let pure = ["inspect", "json", "log", "text", "unheld", "warning"].map { "moonloop.\($0)" }
    let others = contains(.net) ? ["moonloop.broker", "moonloop.redis"] : []
    return (granted.map { "\($0)" } + pure + others).contains { part in
      name == part || (name.hasPrefix("\(part).") && part != "moonloop.fs")
    }
  }
}

extension [LuaEntry] {
  /// The methods of the loop, with refusals or questions for those that are not granted.
  func granting(_ capabilities: LuaCapabilities, asks: Bool) -> [LuaEntry] {
    if capabilities == .all { return self }
    return map { entry in
      guard let grant = capabilities.missing(ofLoop: entry.name) else { return entry }
      guard asks, let asking = grant.asking else { return .method(entry.name, grant.refusal) }
      if entry.second == nil { return .method(entry.name, asking, then: entry.function) }
      return "\(entry.name)" == "cron" ? askedCron : .method(entry.name, grant.refusal)
    }
  }
}

extension LuaState {
  /// Makes `require` load a module again.
  fileprivate func forgetLoaded(_ name: String) {
    stack.pushNil()
    popLoaded(name, on: stack)
  }
}

/// What the state's scripts may reach.
struct Granted {
  var capabilities = LuaCapabilities.all
  /// The grants of a guest, as words; nil: the scripts are not a guest's.
  var guest: GuestGrants?
  /// Counts what a guest does; nil where no host asks.
  var tally: GuestTally?
}

extension Runtime {
  /// Sets the limits for handles of each group, including timers; nil: no limit.
  func setHandleLimit(_ count: Int?) {
    if count == nil && handles.limit == .max { return }
    handles.limit = count ?? .max
    loop.timerLimit = min(handles.limit, TimerQueue.slotLimit)
  }

  /// Removes what is not granted from the module, before any script runs.
  func hold(
    to capabilities: LuaCapabilities, _ libraries: LuaLibraries, asks: Bool
  ) throws(LuaError) {
    if capabilities != .all {
      // It takes what it needs itself while everything is there.
      if capabilities.contains(.files) {
        try state.run("require 'moonloop.fs'", name: "=moonloop")
        if capabilities.contains(.net) {
          try state.run("require 'moonloop.http.files'", name: "=moonloop")
        }
        for module in hiddenModules { state.forgetLoaded(module.name) }
        state.forgetLoaded("moonloop.fs.file")  // it wraps descriptors by number
        state.forgetLoaded("moonloop.unheld")
      }
      for grant in capabilities.refused {
        for name in grant.ofModule { refuse(name, grant, asks: asks) }
      }
    }
    if libraries == .safe {
      try state.makeSafe()
      try state.run("require 'moonloop.safe'", name: "=moonloop")
      state.forgetLoaded("moonloop.safe")
    }
    granted.capabilities = capabilities
  }

  /// Puts a refusal, or a question, into the module: a function, or a table any field of which
  /// raises or asks.
  private func refuse(_ name: StaticString, _ grant: Grant, asks: Bool) {
    let (stack, word) = (state.stack, "\(name)")
    stack.push(module)
    defer { stack.pop() }
    guard tablesOfModule.contains(word) else {
      stack.push(word)
      if asks, let asking = grant.asking, let function = moduleFunction(word) {
        stack.push(function: asking, then: function)
      } else {
        stack.push(function: grant.refusal)
      }
      return stack.rawSet(-3)
    }
    stack.push(word)
    stack.pushValue(-1)
    _ = stack.rawGet(-3)
    let fields = LuaReference(popping: stack)
    stack.newTable()
    stack.newTable(fields: 2)
    stack.push("__index")
    if asks, grant.meaning != nil {
      pushAsking(grant.capability, fields)
    } else {
      stack.push(function: grant.refusal)
    }
    stack.rawSet(-3)
    stack.push("__call")
    if word == "port" {
      stack.push(function: modulePort, then: sourceResults)
    } else {
      stack.push(function: grant.refusal)
    }
    stack.rawSet(-3)
    stack.popMetatable(of: -2)
    stack.rawSet(-3)
  }

  /// A function of the module that has no second half.
  private func moduleFunction(_ name: String) -> LuaRawFunction? {
    (moduleEntries + moduleKindEntries).first { "\($0.name)" == name && $0.second == nil }?.function
  }

  /// Pushes what reads a field of a table in the module, once that is granted.
  private func pushAsking(_ capability: LuaCapabilities, _ fields: LuaReference) {
    state.stack.push(closure: "__index") { [unowned self] stack in
      let context = Unmanaged.passUnretained(self).toOpaque()
      return Int(
        host(stack.L, context, "moonloop") { call throws in
          try call.requireAnswer(for: capability)
          stack.push(fields)
          stack.pushValue(2)
          _ = stack.rawGet(-2)
          return LuaStatus.results(1)
        })
    }
  }

  private var tablesOfModule: Set<String> {
    ["net", "http", "fs", "process", "port", "tty", "reload"]
  }
}

/// `loop:cron` is written in Lua: it is asked for in its first half.
private let askedCron = LuaEntry.method(
  "cron",
  { L, context in
    let status = host(L, context, "loop:cron") { call throws in
      try call.requireAnswer(for: .timers)
      return LuaStatus.results(0)
    }
    return status == LuaStatus.raise ? status : loopCron(L, context)
  }, then: sourceResults)
