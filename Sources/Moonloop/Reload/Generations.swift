// Generations of a script's file: what each made while loading, and the wait for the next
// (D36). The load itself is a transaction; see `GenerationLoad`.

package import LuaEmbed
internal import MoonloopCore

/// Which generation of its file a state runs. Loop thread only.
package final class Generations {
  unowned(unsafe) private let runtime: Runtime  // it holds its generations
  /// The generation of handles that the file makes while loading; 0 for others.
  @exclusivity(unchecked) private(set) var stamp: Int32 = 1
  /// The running generation; during a load, the one being loaded.
  var number: Int32 = 1 { didSet { stamp = number } }
  /// The file that can be reloaded, and what pushes its arguments.
  var file: (path: String, pushArguments: (LuaStack) -> Int)?
  /// The load under way.
  @exclusivity(unchecked) var load: GenerationLoad?
  /// The loads whose modules `require` is running now, innermost last.
  @exclusivity(unchecked) var bodies: [Running] = []
  /// Called when a load begins, with true, and when it has ended.
  package var whenLoads: ((Bool) -> Void)?
  /// The tasks that wait for the next load.
  fileprivate(set) var waits: [ReloadWait] = []
  /// Where the load under way was requested.
  fileprivate var asked: LuaPosition?
  /// When each of the last loads took effect, and what requested it, by its number.
  private(set) var loads: [Int32: (at: Int64, asked: LuaPosition?)] = [:]

  /// The timers that the last loads ended, whose records may be in use again: for `loop:why`.
  var endedTimers: [TimerID: (generation: Int32, label: String)] = [:]

  /// The generation that is loaded takes effect.
  func noteLoad(at time: Int64) {
    loads[number] = (time, asked)
    loads[number - 10] = nil
    endedTimers = endedTimers.filter { loads[$0.value.generation] != nil }
  }

  /// Whether what is made now belongs to the program itself.
  var isOutside = false { didSet { stamp = isOutside ? 0 : number } }

  init(_ runtime: Runtime) { self.runtime = runtime }

  /// The generation of what is made now: 0 unless the main chunk or a module is being loaded.
  @inline(__always)
  var making: Int32 {
    if runtime.running.isChunk { return stamp }
    return runtime.waitingChunk == nil && bodies.isEmpty ? 0 : waitingGeneration
  }

  /// Whether the running code is a file that is reloaded, in one go; not a console that inspects
  /// the load.
  var isInLoad: Bool {
    guard let load = load else { return false }
    return making == load.number
  }

  private var waitingGeneration: Int32 {
    if let body = bodies.last, body.isSame(as: runtime.running) { return stamp }
    if case .task(let task) = runtime.current, task === runtime.waitingChunk { return stamp }
    return 0
  }

  /// Lets the next file that is started be reloaded, with the same arguments. The code that records
  /// modules is loaded with the first of them: many programs have none.
  /// - Parameter pushArguments: Pushes the values of `...`, and returns their number.
  package func allowReloads(of path: String, pushArguments: @escaping (LuaStack) -> Int) {
    file = (path, pushArguments)
    guard runtime.granted.capabilities.allowsModule("moonloop.reload") else { return }
    runtime.tasks.settle(
      runtime.state.start { stack in
        stack.push(function: noteModules, then: sourceResults)
        return 0
      }, .chunk)
  }

  /// Runs a body that makes handles of the program itself, such as a console: they belong to no
  /// generation, and no load ends them.
  package func outside<Failure: Error>(
    _ body: () throws(Failure) -> Void
  ) throws(Failure) {
    let before = isOutside
    isOutside = true
    defer { isOutside = before }
    try body()
  }

  /// Makes the file be reloaded when it, or one of its modules, changes.
  package func watchFile() { runtime.tasks.settle(callReloader("watch") { _ in 0 }, .chunk) }

  /// Makes the next run of the loop wait for a change of the file, whatever else there is.
  /// - Parameter wasLoaded: Whether the file could be loaded when the program started.
  package func awaitChange(wasLoaded: Bool) {
    let call = callReloader("idle") { stack in
      stack.push(wasLoaded)
      return 1
    }
    runtime.tasks.settle(call, .chunk)
  }

  /// Makes the file be reloaded between this pass and the next, which does not sleep first.
  fileprivate func requestReload(_ wait: ReloadWait) {
    waits.append(wait)
    if waits.count > 1 { return }
    runtime.loop.callAfterPass { [weak self] in self?.reload() }
    runtime.loop.wakeUp()
  }

  private func reload() {
    let waits = self.waits
    self.waits = []
    guard !runtime.isClosing, let file = file else { return }
    asked = waits.first?.askedAt
    let outer = runtime.running
    runtime.running = Running()
    whenLoads?(true)
    let values = load(file.path, file.pushArguments)
    whenLoads?(false)
    runtime.running = outer
    for wait in waits {
      wait.values = values
      runtime.tasks.answer(wait)
    }
  }

  /// - Returns: What `ml.reload()` returns.
  private func load(_ path: String, _ pushArguments: (LuaStack) -> Int) -> TaskValues {
    var values: TaskValues?
    let outcome = callReloader(
      "load", onReturn: { values = TaskValues(popping: $1, of: $0) },
      push: { stack in
        stack.push(path)
        return 1 + pushArguments(stack)
      })
    if let values, case .returned = outcome { return values }
    runtime.tasks.settle(outcome, .reload("the file that is reloaded"))
    // A limit has stopped it, which Lua cannot see.
    if load != nil {
      _ = callReloader("undo") { _ in 0 }
      load?.rollBack(runtime)
    }
    _ = runtime.state.stack.pushFailure("\(path): its load was stopped", "ECANCELED")
    return TaskValues(popping: 3, of: runtime.state.stack)
  }

  private func callReloader(
    _ name: StaticString, onReturn: (LuaStack, Int) -> Void = { _, _ in },
    push: (LuaStack) -> Int
  ) -> DispatchOutcome {
    runtime.state.start(
      push: { stack in
        stack.push(function: reloaderCall, then: sourceResults)
        stack.push(name)
        return 1 + push(stack)
      }, onReturn: onReturn)
  }
}

/// A task that waits in `ml.reload()`.
final class ReloadWait: OtherWait {
  var askedAt: LuaPosition?
  override var what: String { "the file to be loaded again" }
  override func abandon() { waiter = nil }
}

/// Makes `require` record the modules of the program.
private let noteModules: LuaRawFunction = { L, context in
  callSource(
    L, context, "ml.reload",
    """
    local all, noting = package.searchers
    local search = all[2]
    all[2] = function(name)
      noting = noting or require('moonloop.reload.bodies').noting(search)
      return noting(name)
    end
    """)
}

/// Calls a function of the module `moonloop.reload` by its name.
private let reloaderCall: LuaRawFunction = { L, context in
  callSource(
    L, context, "ml.reload",
    "local name = ... return require('moonloop.reload')[name](select(2, ...))"
  )
}

/// `ml.reload()`: waits until the file has been reloaded, or that has failed.
let moduleReload: LuaRawFunction = { L, context in
  host(L, context, "ml.reload") { call in
    let runtime = call.runtime
    let generations: Generations = runtime.generations
    guard let file = generations.file else {
      throw OperatingFailure(
        "ml.reload: there is no file to reload; only 'moonloop run FILE' has one", "ENOENT")
    }
    if generations.making != 0 || generations.load != nil {
      throw call.mistake("\(file.path) is being loaded", hint: "call it in a handler or a task")
    }
    if let chunk = runtime.waitingChunk {
      let place = runtime.tasks.placeOfWait(chunk).map { " (\(call.state.text(of: $0)))" } ?? ""
      throw OperatingFailure(
        "ml.reload: \(file.path) is not loaded yet: its main chunk waits\(place); let a task wait",
        "EBUSY")
    }
    let coroutine = try call.requireWaiting()
    let wait = ReloadWait()
    wait.askedAt = call.stack.position
    generations.requestReload(wait)
    return call.suspend(Wait(.other(wait)), coroutine)
  }
}
