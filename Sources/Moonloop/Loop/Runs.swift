// The runs of a loop that scripts began: what began and stopped them, with what value.

internal import LuaEmbed
internal import MoonloopCore

/// The runs that scripts began on one loop. Loop thread only.
package final class Runs {
  unowned(unsafe) private let runtime: Runtime  // it holds the context
  unowned(unsafe) private let context: LoopContext  // it holds its runs
  private let loop: Loop
  /// What began the runs that a handler began and that are under way, the innermost last.
  private(set) var nesters: [Nester] = []
  /// Whether the script ran its loop itself, so that the program does not run it again (D60).
  package private(set) var ranLoop = false
  /// How many began after the end of the program was requested.
  private var afterEnding = 0
  /// The modes that scripts have run.
  private(set) var modes: Set<ModeName> = []
  /// The modes that were warned about: once is enough.
  private var doubted: Set<ModeName> = []
  /// The first nested runs in modes that nothing was ever added to, and where they were asked for.
  private(set) var empty: [(mode: ModeName, site: String)] = []

  /// From now on only later runs decide whether the script runs its loop itself.
  func forgetOwnRun() { ranLoop = false }

  init(_ runtime: Runtime, _ context: LoopContext) {
    self.runtime = runtime
    self.context = context
    loop = context.loop
  }

  /// Runs the loop inside a host function; the time of the run is not charged to the handler that
  /// asked.
  func runNested(
    _ mode: ModeName, _ timeout: Duration?, returnAfterSource: Bool = false
  ) -> RunResult {
    prepare(mode)
    let outer = context.running
    noteNesting()
    defer { endNesting() }
    let budget = runtime.state.suspendBudget()
    let result = loop.run(mode: mode, for: timeout, returnAfterSource: returnAfterSource)
    runtime.state.resumeBudget(budget)
    context.running = outer
    context.tasks.stopFinishedWait()
    stopAfterExit()
    runtime.bed?.limit?.endRunner()
    return result
  }

  /// The running code begins a run: noted for `loop:why`.
  func noteNesting() {
    context.errors.forgetStopper()
    nesters.append(Nester(who: context.running, depth: loop.depth + 1, began: loop.clock.now()))
  }

  func endNesting() { nesters.removeLast() }

  /// Stops the code that began a run in which `os.exit` was called.
  func stopAfterExit() {
    if Ending.reason == Ending.byProgram { Ending.stopCallout() }
  }

  /// Whether a script began the innermost run.
  var isInOwnRun: Bool { nesters.last?.depth == loop.depth }

  /// Whether the main chunk is running and has waited before.
  private var isOfChunk: Bool {
    if case .task(let task) = runtime.current { return task === context.waitingChunk }
    return false
  }

  /// The running code is about to begin a run of a mode.
  func prepare(_ mode: ModeName) {
    if mode != .default { modes.insert(mode) }
    // One run after a requested end reports it by its result. A script that begins another is
    // stopped: it may be one of those that never ask why a run ended.
    if Ending.isAskedFor {
      afterEnding += 1
      if afterEnding > 1 { Ending.stopCallout() }
    }
  }

  func run(
    _ call: HostCall, _ mode: ModeName, _ timeout: Duration?, _ returnAfterSource: Bool
  ) -> Int32 {
    // A breakpoint does not count as the script running its loop itself.
    if mode != debugMode && (loop.depth == 0 || isOfChunk) { ranLoop = true }
    let result = runNested(mode, timeout, returnAfterSource: returnAfterSource)
    if loop.findMode(mode) == nil { doubt(mode, call) }
    call.stack.push(ref: runtime.names.ref(of: result, call.stack))
    let value = loop.takeStopValue() as? LuaReference
    call.push(value.flatMap { $0.belongs(to: runtime.state) ? $0 : nil })
    call.stack.push(loop.wasStopped)
    return LuaStatus.results(3)
  }

  /// Warns of a run in a mode that nothing was ever added to, if its name looks like a slip; notes
  /// others for the end of the program: their items may come later. Names that differ in their
  /// numbers are meant.
  private func doubt(_ mode: ModeName, _ call: HostCall) {
    func letters(_ name: String) -> String { name.filter { !$0.isNumber } }
    let name = "\(mode)"
    let others = loop.modeNames.filter { !loop.isEmpty(loop.mode($0)) }.map { "\($0)" }
    if doubted.contains(mode) { return }
    if name.utf8.count > 3, let near = LuaText.nearest(to: name, among: others),
      letters(near) != letters(name)
    {
      doubted.insert(mode)
      return runtime.warn(
        "loop:run: nothing was ever added to mode '\(name)'\(call.stack.site); did you mean "
          + "'\(near)'?")
    }
    if loop.depth == 0 || mode == .default || empty.count >= Self.emptyLimit { return }
    if !empty.contains(where: { $0.mode == mode }) { empty.append((mode, call.stack.site)) }
  }

  /// So many are told of.
  private static let emptyLimit = 8
}

/// A handler that runs a loop.
struct Nester {
  let who: Running
  /// The depth of the run that it began.
  let depth: Int
  /// When, on the loop's clock.
  let began: Int64
}
