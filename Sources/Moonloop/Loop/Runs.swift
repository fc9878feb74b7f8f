// The runs of a loop that scripts began: what began them, what stopped them, with what value.

internal import LuaEmbed
internal import MoonloopCore

/// The runs that scripts began on one loop. Loop thread only.
package final class Runs {
  unowned(unsafe) private let runtime: Runtime  // It holds the context.
  unowned(unsafe) private let context: LoopContext  // It holds its runs.
  private let loop: Loop
  /// What began the runs under way from within a handler, the innermost last.
  private(set) var nesters: [Nester] = []
  /// Whether the script ran its loop by itself, so that the program does not run it again (D60).
  package private(set) var ranLoop = false
  /// How many were begun after the end of the program was asked for.
  private var afterEnding = 0

  /// What comes now decides by itself whether it runs the loop.
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
    prepare()
    let outer = context.running
    noteNesting()
    defer { endNesting() }
    let budget = runtime.state.suspendBudget()
    let result = loop.run(mode: mode, for: timeout, returnAfterSource: returnAfterSource)
    runtime.state.resumeBudget(budget)
    context.running = outer
    context.tasks.stopFinishedWait()
    if Ending.reason == Ending.byProgram { Ending.stopCallout() }  // `os.exit` was called inside
    return result
  }

  /// What runs now begins a run: noted for `loop:why`.
  func noteNesting() {
    context.errors.forgetStopper()
    nesters.append(Nester(who: context.running, depth: loop.depth + 1, began: loop.clock.now()))
  }

  func endNesting() { nesters.removeLast() }

  /// Whether the innermost run was begun by a script.
  var isInOwnRun: Bool { nesters.last?.depth == loop.depth }

  /// Whether the main chunk runs now, which has waited before.
  private var isOfChunk: Bool {
    if case .task(let task) = runtime.current { return task === context.waitingChunk }
    return false
  }

  /// A run is to begin in what runs now.
  func prepare() {
    // One run after the end was asked for reports it by its result. A script that begins another is
    // stopped: it may be one of those that never ask why a run ended.
    if Ending.isAskedFor {
      afterEnding += 1
      if afterEnding > 1 { Ending.stopCallout() }
    }
  }

  func run(
    _ call: HostCall, _ mode: ModeName, _ timeout: Duration?, _ returnAfterSource: Bool
  ) -> Int32 {
    // A breakpoint is not the script's own way of running its loop.
    if mode != debugMode && (loop.depth == 0 || isOfChunk) { ranLoop = true }
    let result = runNested(mode, timeout, returnAfterSource: returnAfterSource)
    call.stack.push(ref: runtime.names.ref(of: result))
    let value = loop.takeStopValue() as? LuaReference
    call.push(value.flatMap { $0.belongs(to: runtime.state) ? $0 : nil })
    call.stack.push(loop.wasStopped)
    return LuaStatus.results(3)
  }
}

/// A handler that runs a loop.
struct Nester {
  let who: Running
  /// The depth of the run that it began.
  let depth: Int
  /// When, on the loop's clock.
  let began: Int64
}
