// Drives the run loop through its Lua interface: each loop has its own Lua state, and Lua functions
// do what is done on its thread (`LuaScript`).

import ConformanceFormat
import LuaEmbed
import Moonloop
import MoonloopCore
import Synchronization

final class LuaFace: Face {
  private let receiver: any CallbackReceiver
  private let world: any World
  /// By id: the loop on which an object lives, as the name of its thread.
  private let places: [String: String]
  /// The objects of several loops. Swift makes them, like a program that hands one thing to several
  /// states; a handler that runs on two threads cannot be a function of one Lua state.
  private let shared: SwiftFace
  private let sharedIDs: Set<String>

  private struct State {
    var sides: [String: LuaSide] = [:]
    var names: [ObjectIdentifier: String] = [:]
    /// What is left to do on the loops of threads that have not started yet.
    var waiting: [String: [@Sendable (LuaSide) -> Void]] = [:]
  }
  private let state = Mutex(State())

  init(_ receiver: any CallbackReceiver, _ world: any World, _ scenario: Scenario) {
    self.receiver = receiver
    self.world = world
    let loops = Self.loops(in: scenario)
    places = loops.compactMapValues(\.first)
    shared = SwiftFace(receiver, world)
    sharedIDs = Set(loops.filter { $0.value.count > 1 }.keys)
  }

  static func reasonNotToRun(_ scenario: Scenario) -> String? {
    guard isComplete else { return "the Lua interface has only timers and runs so far" }
    return nil
  }

  /// Whether the module has all that `LuaScript` uses, by asking a state on a loop of its own.
  private static let isComplete = Loop.isolated { loop in
    let question = "local ml = require 'moonloop' return ml.source and ml.fd and ml.port and true"
    guard let lua = try? LuaState(on: loop) else { return false }
    defer { lua.shutDown() }
    let answer: Bool? = try? lua.evaluate(question)
    return answer ?? false
  }

  // MARK: Places

  /// By id: the loops to which each object is ever added.
  private static func loops(in scenario: Scenario) -> [String: Set<String>] {
    var loops: [String: Set<String>] = [:]
    for object in scenario.objects where !object.modes.isEmpty {
      loops[object.id, default: []].insert(Action.home)
    }
    func collect(_ actions: [Action]) {
      for action in actions {
        switch action.op {
        case .add(let id, _): loops[id, default: []].insert(action.loop)
        case .thread(_, let actions): collect(actions)
        default: break
        }
      }
    }
    collect(scenario.steps)
    for object in scenario.objects { collect(object.actions) }
    return loops
  }

  func threadBegan(_ name: String, on loop: Loop) {
    let side = LuaSide(loop, receiver)
    let waiting = state.withLock { state in
      state.sides[name] = side
      state.names[ObjectIdentifier(loop)] = name
      return state.waiting.removeValue(forKey: name) ?? []
    }
    for work in waiting { work(side) }
  }

  func place(of id: String) -> String? { sharedIDs.contains(id) ? nil : home(of: id) }

  private func home(of id: String) -> String { places[id] ?? Action.home }

  /// Runs something on the thread of an object's loop: at once if this is that thread, when the
  /// thread starts if it has not yet, else as a posted change.
  private func onLoop(of id: String, _ work: @escaping @Sendable (LuaSide) -> Void) {
    let place = home(of: id)
    let side = state.withLock { state in
      if state.sides[place] == nil { state.waiting[place, default: []].append(work) }
      return state.sides[place]
    }
    side?.loop.change { _ in side.map(work) }
  }

  /// The Lua side of the calling thread, which is that of the object's loop. Each side has a handle
  /// of every shared object.
  private func side(of id: String) -> LuaSide {
    if sharedIDs.contains(id) {
      let side = side(of: Loop.current)
      side.adopt(id, shared.item(id))
      return side
    }
    guard let side = state.withLock({ $0.sides[places[id] ?? Action.home] }), side.loop.isOnThread
    else { fail("'\(id)' is used on a thread that is not its loop's") }
    return side
  }

  private func side(of loop: Loop) -> LuaSide {
    let side = state.withLock { state in
      state.names[ObjectIdentifier(loop)].flatMap { state.sides[$0] }
    }
    guard let side, side.loop.isOnThread else { fail("a loop is used on another's thread") }
    return side
  }

  // MARK: Objects

  func make(_ spec: ObjectSpec, descriptor: Int32?) {
    if sharedIDs.contains(spec.id) { return shared.make(spec, descriptor: descriptor) }
    let created = world.now()
    let world = world
    onLoop(of: spec.id) { $0.make(spec, descriptor: descriptor, age: world.now() - created) }
  }

  func add(_ id: String, to mode: String, of loop: Loop) { side(of: id).call("add", id, mode) }

  func remove(_ id: String, from mode: String, of loop: Loop) {
    side(of: id).call("remove", id, mode)
  }

  func contains(_ id: String, in mode: String, of loop: Loop) -> Bool {
    // An object of another Lua state is not in this loop.
    guard
      sharedIDs.contains(id) || state.withLock({ $0.names[ObjectIdentifier(loop)] }) == home(of: id)
    else {
      return false
    }
    return side(of: id).ask("contains", id, mode)
  }

  func isValid(_ id: String) -> Bool { side(of: id).ask("is_valid", id) }
  func invalidate(_ id: String) { side(of: id).call("invalidate", id) }

  func nextFire(_ id: String) -> Int64? {
    let seconds: Double? = side(of: id).ask("next_fire", id)
    return seconds.map { Int64($0 * 1e9) }
  }

  func setNextFire(_ id: String, _ time: Int64) {
    side(of: id).call("set_next_fire", id, Double(time) / 1e9)
  }

  func setTolerance(_ id: String, _ time: Int64) {
    side(of: id).call("set_tolerance", id, Double(time) / 1e9)
  }

  func fire(_ id: String) { side(of: id).call("fire", id) }

  func signal(_ id: String) {
    if sharedIDs.contains(id) { return side(of: id).call("signal", id) }
    onLoop(of: id) { $0.call("signal", id) }
  }

  // Messages and bytes of a shared port or descriptor belong to the face that made it.

  func post(_ message: String, to id: String) {
    if sharedIDs.contains(id) { return shared.post(message, to: id) }
    onLoop(of: id) { $0.call("post", id, message) }
  }

  func enable(_ id: String, _ events: [Direction]) {
    if sharedIDs.contains(id) { return shared.enable(id, events) }
    for event in events { side(of: id).call("enable", id, event.rawValue) }
  }

  func disable(_ id: String, _ events: [Direction]) {
    if sharedIDs.contains(id) { return shared.disable(id, events) }
    for event in events { side(of: id).call("disable", id, event.rawValue) }
  }

  func read(_ id: String, atMost count: Int) -> ReadOutcome {
    if sharedIDs.contains(id) { return shared.read(id, atMost: count) }
    let data: String? = side(of: id).ask("read", id, count)
    guard let data else { return .nothing }
    return data.isEmpty ? .endOfFile : .data(Array(data.utf8))
  }

  // MARK: Loops

  func run(_ loop: Loop, mode: String, timeout: Int64?, returnAfterSource: Bool) -> RunResult {
    let seconds = timeout.map { Double($0) / 1e9 }
    let word: String = side(of: loop).ask("run", mode, seconds, returnAfterSource)
    switch word {
    case "finished": return .finished
    case "stopped": return .stopped
    case "timed_out": return .timedOut
    case "handled_source": return .handledSource
    default: fail("run ended as '\(word)'")
    }
  }

  func runUnconditionally(_ loop: Loop) { side(of: loop).call("run_unconditionally") }
  func addCommonMode(_ mode: String, to loop: Loop) { side(of: loop).call("add_common_mode", mode) }

  func nextTimerDate(in mode: String, of loop: Loop) -> Int64? {
    let seconds: Double? = side(of: loop).ask("next_timer", mode)
    return seconds.map { Int64($0 * 1e9) }
  }

  func currentMode(of loop: Loop) -> String? { side(of: loop).ask("current_mode") }

  // MARK: Any thread: off the loop's own thread there is no Lua, so Swift does it

  /// The Lua interface cannot tell: a loop whose script asks is awake.
  func isWaiting(_ loop: Loop) -> Bool { loop.isWaiting }

  func stop(_ loop: Loop) {
    if loop.isOnThread { side(of: loop).call("stop") } else { loop.stop() }
  }

  func wakeUp(_ loop: Loop) {
    if loop.isOnThread { side(of: loop).call("wake_up") } else { loop.wakeUp() }
  }

  func perform(_ id: String, modes: [String], on loop: Loop, _ aim: Aim?) {
    if loop.isOnThread {
      return side(of: loop).call("perform", id, modes, aim?.order ?? 0, aim?.target)
    }
    loop.perform(modes: modes.map { ModeName($0) }, wakes: false) { [receiver] in
      receiver.called(id, .plain)
    }
  }

  func request(_ id: String, modes: [String], on loop: Loop, _ aim: Aim?, then flag: Flag?) {
    if loop.isOnThread {
      return side(of: loop).call("request", id, modes, aim?.order ?? 0, aim?.target)
    }
    loop.perform(modes: modes.map { ModeName($0) }, asSource: true) { [receiver] in
      receiver.called(id, .plain)
      flag?.set()
    }
  }

  func request(_ id: String, modes: [String], after delay: Int64, on loop: Loop) {
    side(of: loop).call("request_after", id, modes, Double(delay) / 1e9)
  }

  func cancelRequests(ofTarget name: String, on loop: Loop) {
    side(of: loop).call("cancel_target", name)
  }

  func cancelRequests(_ id: String, on loop: Loop) { side(of: loop).call("cancel_requests", id) }
}
