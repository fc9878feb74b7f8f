// The console of a state: opened on request, and served even in the middle of a call-out.

internal import LuaEmbed
package import MoonloopCore
internal import MoonloopSystem

/// What the host does for the console, which is written in Lua. Loop thread only.
package final class Console {
  unowned(unsafe) private let runtime: Runtime  // it holds its console
  /// Whether the console's functions were made.
  private(set) var isOpen = false
  /// Whether to stop the call-out that the console interrupts.
  private var stopsCallout = false
  /// That call-out, and the one before.
  private(set) var visit: Visit?
  private var lastVisit: Visit?

  init(_ runtime: Runtime) { self.runtime = runtime }

  /// Stops the call-out that the console interrupts.
  func stopCallout() { stopsCallout = true }

  /// Makes `require "moonloop.console.host"` return the functions below.
  package func open() {
    guard !isOpen else { return }
    isOpen = true
    runtime.state.preload(
      LuaModule(
        "moonloop.console.host",
        consoleEntries + [
          .function("reference", consoleReference), .function("pages", consolePages),
        ]))
  }

  /// From now on other processes of the user may ask for a console of this loop.
  package func hearAttention(_ kernel: LinuxKernel) {
    runtime.loop.onAttention(kernel) { [weak self] in
      if let self { call(attend) { _ in 0 } }
    }
    runtime.state.onVisit { [unowned self] busy in serve(busy) }  // the state holds the runtime
  }

  /// - Parameter isTold: Whether an error of the console itself is reported.
  private func call(
    _ text: String, isTold: Bool = true, _ pushArguments: @escaping (LuaStack) -> Int
  ) {
    open()
    runtime.generations.outside {
      let outcome = runtime.state.start(push: { [self] stack in
        do { try runtime.state.load(text, name: "=moonloop", on: stack) } catch {
          stack.push(function: { _, _ in LuaStatus.results(0) })
        }
        return pushArguments(stack)
      })
      switch outcome {
      case .failed(let coroutine) where !isTold, .stopped(let coroutine) where !isTold:
        _ = runtime.state.takeError(of: coroutine)
      case .nested where !isTold: break
      default: runtime.tasks.settle(outcome, .chunk)
      }
    }
  }

  /// Serves the console between two instructions of a busy call-out.
  /// - Returns: Whether a console wants it stopped.
  private func serve(_ busy: LuaStack) -> Bool {
    if Ending.isAskedFor { return false }  // the end wants no more runs
    let (before, raised) = (runtime.running, runtime.tasks.raisedInHandler)
    let who = runtime.label(of: runtime.running.subject)
    var isConsole = false
    if case .task(let task) = runtime.running.subject { isConsole = task.name == consoleName }
    let base = runtime.state.callOut
    runtime.running = Running()
    runtime.tasks.raisedInHandler = nil
    let outer = visit
    visit = visited(before)
    // Calls may be nested too deeply for another one: then there is no answer.
    call(visitText, isTold: false) { stack in
      stack.push(coroutineOf: busy)
      stack.push(coroutineOf: base ?? busy)
      stack.push(who)
      stack.push(Attention.busyTime / .seconds(1))
      stack.push(isConsole)
      return 5
    }
    (runtime.running, runtime.tasks.raisedInHandler) = (before, raised)
    visit?.passes = runtime.loop.passes
    lastVisit = visit
    visit = outer
    // not for the call-out that contains this one
    defer { stopsCallout = false }
    return stopsCallout
  }

  private func visited(_ who: Running) -> Visit {
    let here = ObjectIdentifier(runtime.loop)
    let isSame = lastVisit.map { $0.loop == here && $0.passes == runtime.loop.passes } ?? false
    return Visit(loop: here, who: who, began: isSame ? lastVisit!.began : runtime.loop.passBegan)
  }

  /// From now on an error that ends a handler or task first triggers a breakpoint.
  package func breakOnErrors() {
    open()
    runtime.state.onFailure = { [unowned self] failed, error in  // as above
      let outcome = runtime.state.start(push: { [self] stack in
        do { try runtime.state.load(openFailure, name: "=moonloop", on: stack) } catch {
          stack.push(function: { _, _ in LuaStatus.results(0) })
        }
        stack.push(coroutineOf: failed)
        stack.push(error.message)
        guard let value = error.value else { return 2 }
        stack.push(value)
        return 3
      })
      runtime.tasks.settle(outcome, .chunk)
    }
  }
}

private let openFailure = #"require "moonloop.console.breakpoint".failed(...)"#
private let attend = #"require "moonloop.console.server".attend()"#
private let visitText = #"require "moonloop.console.server".visit(...)"#
