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
final class Grant: Sendable {
  /// What a script gets in place of something that is not granted.
  struct Held: Sendable {
    /// As a script writes it: "ml.timer", "loop:after".
    let name: StaticString
    /// Asks for the grant, or raises that it is missing.
    let function: LuaRawFunction

    init(_ name: StaticString, _ function: LuaRawFunction) {
      (self.name, self.function) = (name, function)
    }

    /// The same without what it is in.
    var word: String { String("\(name)".drop { $0 != "." && $0 != ":" }.dropFirst()) }
  }

  let capability: LuaCapabilities
  /// Its name in programs: ".net".
  let name: StaticString
  /// Its name for guests: "net".
  let word: StaticString
  /// What it is in the module, and as methods of the loop.
  let ofModule: [Held]
  let ofLoop: [Held]
  /// Our module that `require` then also finds.
  let required: StaticString?
  /// What it allows, in plain words; nil: it is not asked for.
  let meaning: StaticString?

  private init(
    capability: LuaCapabilities, name: StaticString, word: StaticString, ofModule: [Held] = [],
    ofLoop: [Held] = [], required: StaticString? = nil, meaning: StaticString? = nil
  ) {
    (self.capability, self.name, self.word) = (capability, name, word)
    (self.ofModule, self.ofLoop) = (ofModule, ofLoop)
    (self.required, self.meaning) = (required, meaning)
  }

  /// What is refused, as text: "ml.net or ml.http".
  var subject: String {
    ofLoop.isEmpty ? ofModule.map { "\($0.name)" }.joined(separator: " or ") : "'\(word)'"
  }

  static let all: [Grant] = [
    Grant(
      capability: .timers, name: ".timers", word: "timers",
      ofModule: [
        .init("ml.timer") { hold($0, $1, "ml.timer", .timers) }
      ],
      ofLoop: [
        .init("loop:timer") { hold($0, $1, "loop:timer", .timers) },
        .init("loop:after") { hold($0, $1, "loop:after", .timers) },
        .init("loop:every") { hold($0, $1, "loop:every", .timers) },
        .init("loop:at") { hold($0, $1, "loop:at", .timers) },
        .init("loop:cron") { hold($0, $1, "loop:cron", .timers) },
        .init("loop:perform_after") { hold($0, $1, "loop:perform_after", .timers) },
        .init("loop:next_timer") { hold($0, $1, "loop:next_timer", .timers) },
      ],
      required: "moonloop.cron", meaning: "use timers"),
    Grant(
      capability: .net, name: ".net", word: "net",
      ofModule: [
        .init("ml.net") { hold($0, $1, "ml.net", .net) },
        .init("ml.http") { hold($0, $1, "ml.http", .net) },
      ],
      required: "moonloop.http"),
    Grant(
      capability: .files, name: ".files", word: "fs",
      ofModule: [
        .init("ml.fs") { hold($0, $1, "ml.fs", .files) }
      ],
      required: "moonloop.fs"),
    Grant(
      capability: .processes, name: ".processes", word: "process",
      ofModule: [
        .init("ml.process") { hold($0, $1, "ml.process", .processes) }
      ]),
    Grant(
      capability: .workers, name: ".workers", word: "worker",
      ofModule: [
        .init("ml.worker") { hold($0, $1, "ml.worker", .workers) },
        .init("ml.workers") { hold($0, $1, "ml.workers", .workers) },
        .init("ml.guest") { hold($0, $1, "ml.guest", .workers) },
      ],
      required: "moonloop.workers",
      meaning: "run scripts in threads of their own, with the same grants"),
    Grant(
      capability: .signals, name: ".signals", word: "signal",
      ofModule: [
        .init("ml.signal") { hold($0, $1, "ml.signal", .signals) }
      ],
      ofLoop: [
        .init("loop:signal") { hold($0, $1, "loop:signal", .signals) }
      ],
      meaning: "handle signals of this process"),
    Grant(
      capability: .watches, name: ".watches", word: "watch",
      ofModule: [
        .init("ml.watch") { hold($0, $1, "ml.watch", .watches) },
        .init("ml.pressure") { hold($0, $1, "ml.pressure", .watches) },
      ],
      ofLoop: [
        .init("loop:watch") { hold($0, $1, "loop:watch", .watches) },
        .init("loop:pressure") { hold($0, $1, "loop:pressure", .watches) },
      ],
      meaning: "watch files for changes, and the pressure on the system"),
    Grant(
      capability: .namedPorts, name: ".namedPorts", word: "port",
      ofModule: [
        .init("ml.port") { hold($0, $1, "ml.port", .namedPorts) }
      ],
      meaning: "talk to other processes through named ports"),
    Grant(
      capability: .descriptors, name: ".descriptors", word: "fd",
      ofModule: [
        .init("ml.fd") { hold($0, $1, "ml.fd", .descriptors) },
        .init("ml.stream") { hold($0, $1, "ml.stream", .descriptors) },
      ],
      ofLoop: [
        .init("loop:fd") { hold($0, $1, "loop:fd", .descriptors) },
        .init("loop:stream") { hold($0, $1, "loop:stream", .descriptors) },
        .init("loop:socket_source") { hold($0, $1, "loop:socket_source", .descriptors) },
      ]),
    Grant(
      capability: .terminal, name: ".terminal", word: "tty",
      ofModule: [
        .init("ml.tty") { hold($0, $1, "ml.tty", .terminal) },
        .init("ml.break_here") { hold($0, $1, "ml.break_here", .terminal) },
      ]),
    Grant(
      capability: .reload, name: ".reload", word: "reload",
      ofModule: [
        .init("ml.reload") { hold($0, $1, "ml.reload", .reload) }
      ],
      required: "moonloop.reload"),
    Grant(
      capability: .runs, name: ".runs", word: "run",
      ofLoop: [
        .init("loop:run") { hold($0, $1, "loop:run", .runs) },
        .init("loop:stop_when_next_looking") { hold($0, $1, "loop:stop_when_next_looking", .runs) },
      ]),
    Grant(
      capability: .inspection, name: ".inspection", word: "inspect",
      ofLoop: [
        .init("loop:why") { hold($0, $1, "loop:why", .inspection) },
        .init("loop:dump") { hold($0, $1, "loop:dump", .inspection) },
        .init("loop:metrics") { hold($0, $1, "loop:metrics", .inspection) },
        .init("loop:record") { hold($0, $1, "loop:record", .inspection) },
      ],
      meaning: "look at what is on its loop: why, dump, metrics"),
    Grant(
      capability: .limits, name: ".limits", word: "limit",
      ofModule: [
        .init("ml.limit") { hold($0, $1, "ml.limit", .limits) }
      ],
      meaning: "change its own limits"),
  ]

  /// What stands for each method of the loop that must be granted, by its name.
  static let methods: [String: (grant: Grant, held: Held)] = Dictionary(
    uniqueKeysWithValues: all.flatMap { grant in
      grant.ofLoop.map { ($0.word, (grant, $0)) }
    })

  /// The tables in the module that must be granted.
  static let tables: Set<String> = ["net", "http", "fs", "process", "port", "tty", "reload"]
}

/// Asks for a function that is not granted, or for a field of a table, and else raises that it is
/// not. If it is granted now, the second half is what was asked for.
private func hold(
  _ L: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ name: StaticString,
  _ capability: LuaCapabilities
) -> Int32 {
  let call = HostCall(L, context, name)
  let stack = call.stack
  do throws(ScriptMistake) { try call.requireAnswer(for: capability) } catch {
    let field = stack.type(1) == .table && stack.type(2) == .string ? stack.string(2) : nil
    let title = "\(name)" + (field.map { ".\(LuaText.clean(String($0.prefix(40))))" } ?? "")
    stack.push(error.message(in: title, site: stack.site))
    return LuaStatus.raise
  }
  stack.push(function: { _, _ in LuaStatus.results(0) })
  return LuaStatus.call(arguments: 0)
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

extension LuaCapabilities {
  /// The methods of the loop, by what is granted and whether others are asked for: made once, since
  /// a program may start many guests.
  private static let known = Guarded<[Bool: [LuaCapabilities: [LuaEntry]]]>([:])

  /// The methods of the loop, with refusals or questions for those that are not granted.
  func loopMethods(asks: Bool) -> [LuaEntry] {
    if self == .all { return loopEntries }
    return Self.known.withLock { known in
      if let entries = known[asks]?[self] { return entries }
      let entries = loopEntries.map { method(for: $0, asks: asks) }
      known[asks, default: [:]][self] = entries
      return entries
    }
  }

  private func method(for entry: LuaEntry, asks: Bool) -> LuaEntry {
    guard let (grant, held) = Grant.methods["\(entry.name)"], !contains(grant.capability)
    else { return entry }
    guard asks, grant.meaning != nil else { return .method(entry.name, held.function) }
    if entry.second == nil { return .method(entry.name, held.function, then: entry.function) }
    return "\(entry.name)" == "cron" ? askedCron : .method(entry.name, held.function)
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
        for held in grant.ofModule { refuse(held, grant, asks: asks) }
      }
    }
    if libraries == .safe {
      try state.makeSafe()
    }
    granted.capabilities = capabilities
  }

  /// Puts a refusal, or a question, into the module: a function, or a table any field of which
  /// raises or asks.
  private func refuse(_ held: Grant.Held, _ grant: Grant, asks: Bool) {
    let (stack, word) = (state.stack, held.word)
    stack.push(module)
    defer { stack.pop() }
    stack.push(word)
    guard Grant.tables.contains(word) else {
      if asks, grant.meaning != nil, let function = moduleFunction(word) {
        stack.push(function: held.function, then: function)
      } else {
        stack.push(function: held.function)
      }
      return stack.rawSet(-3)
    }
    stack.pushValue(-1)
    _ = stack.rawGet(-3)
    let fields = LuaReference(popping: stack)
    stack.newTable()
    stack.newTable(fields: 2)
    stack.push("__index")
    if asks, grant.meaning != nil {
      pushAsking(grant.capability, fields)
    } else {
      stack.push(function: held.function)
    }
    stack.rawSet(-3)
    stack.push("__call")
    if word == "port" {
      stack.push(function: modulePort, then: sourceResults)
    } else {
      stack.push(function: held.function)
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
    state.stack.push(closure: "__index") { [unowned self] stack in  // its state has the closure
      let context = Unmanaged.passUnretained(self).toOpaque()
      return Int(
        host(stack.L, context, "ml.port") { call throws in
          try call.requireAnswer(for: capability)
          stack.push(fields)
          stack.pushValue(2)
          _ = stack.rawGet(-2)
          return LuaStatus.results(1)
        })
    }
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
