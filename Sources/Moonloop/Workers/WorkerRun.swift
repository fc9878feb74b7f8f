// A worker on its own thread: a state, its loop, and one run of the script.

internal import LuaEmbed
internal import MoonloopCore

/// What a worker runs, and with what.
struct WorkerScript: Sendable {
  let text: [UInt8]
  /// What Lua calls it: `@resize.lua`.
  let chunkName: String
  let argument: StructuredClone
  let limits: LuaLimits
  /// Where `require` looks.
  let path: String?
  let cPath: String?
  /// The grants it has: those of the guest that made it.
  let guest: GuestGrants?
  /// Where it counts as one of that guest's.
  let place: WorkerCrew.Place?
}

/// One run of a worker's script. On the worker's thread.
final class WorkerRun {
  private let link: WorkerLink
  private let script: WorkerScript
  private let state: LuaState
  private let runtime: Runtime
  private let loop: Loop
  private var values: [StructuredClone] = []
  private var failure: WorkerFailure?
  /// The argument of `os.exit`, if that was called first.
  private var exitStatus: Int32?

  /// Runs a worker to its end, and reports that to its owner.
  static func run(_ script: WorkerScript, _ link: WorkerLink, _ loop: Loop) {
    var outcome = WorkerOutcome.stopped
    do throws(LuaError) {
      let state =
        if let guest = script.guest {
          try LuaState(on: loop, limits: script.limits, guest: guest)
        } else { try LuaState(on: loop, limits: script.limits) }
      link.attach(state.interruptHandle)
      guard let runtime = state.runtime else { return link.finish(.stopped) }
      outcome = WorkerRun(script, link, state, runtime).run()
    } catch { outcome = .failed(WorkerFailure(error)) }
    link.finish(outcome)
  }

  private init(
    _ script: WorkerScript, _ link: WorkerLink, _ state: LuaState, _ runtime: Runtime
  ) {
    self.script = script
    self.link = link
    self.state = state
    self.runtime = runtime
    loop = runtime.loop
  }

  private func run() -> WorkerOutcome {
    setUp()
    runtime.mainChunk.endsAtLimit = true
    if !loop.mustEnd { runChunk() }
    if !loop.mustEnd && !runtime.mainChunk.wasLimited
      && !(runtime.runs.ranLoop && runtime.waitingChunk == nil)
    {
      if loop.run(mode: .default) == .finished { runtime.mainChunk.reportDeadlock(in: .default) }
    }
    let wasStopped = loop.mustEnd && failure == nil
    state.shutDown()
    if let failure { return .failed(failure) }
    if let exitStatus { return .exited(exitStatus) }
    return wasStopped ? .stopped : .returned(values)
  }

  // Unowned: `run` closes the state, and with it all that has these closures.
  private func setUp() {
    runtime.workers.depth = link.depth
    openParent()
    runtime.mainChunk.returned = { [unowned self] stack, count in keep(stack, count) }
    let errors = runtime.errors
    errors.expectsInterrupts = { [unowned self] in loop.mustEnd }
    errors.observe = { [unowned self] error, subject in
      guard subject.isOfChunk, failure == nil else { return }
      failure = runtime.crossing(error)
      loop.endRuns()
    }
    errors.forward = { [unowned self] error in
      // The one that ends the script is reported with the end.
      if failure != nil && !hasToldOthers {
        hasToldOthers = true
      } else {
        link.report(runtime.crossing(error))
      }
      return true
    }
    errors.write = { [link] text in
      link.report(WorkerFailure(LuaError(message: text)))
    }
    state.install(
      LuaProgramHooks(
        exit: { [unowned self] status, _ in
          if !loop.mustEnd { exitStatus = status }
          loop.endRuns()
          state.interruptHandle.interrupt()
        },
        blocks: { [link] name, site in
          link.note(blocking: name, site: site)
          return false
        },
        warns: { _ in }, execute: Ending.isCaught ? Ending.execute : nil))
    if link.isRecorded || link.isForwarded {
      _ = state.divertOutput { [link] stream, bytes in
        link.write(WorkerOutput(stream: stream, bytes: Array(bytes)))
      }
    }
    setPlaces()
  }

  private var hasToldOthers = false

  /// Makes `ml.parent`: messages wait in it until the script listens, and then it holds the run.
  private func openParent() {
    let stack = state.stack
    let port = link.inward
    stack.push(runtime.module)
    stack.setField("parent") {
      runtime.push(port, sendingTo: PortRight(link.outward, home: 0), on: stack)
    }
    stack.pop()
  }

  /// `require` looks where it does in the owner's state.
  private func setPlaces() {
    let stack = state.stack
    stack.pushGlobal("package")
    defer { stack.pop() }
    guard stack.type(-1) == .table else { return }
    for (field, value) in [("path", script.path), ("cpath", script.cPath)] {
      guard let value else { continue }
      stack.push(field)
      stack.push(value)
      stack.rawSet(-3)
    }
  }

  private func runChunk() {
    script.text.withUnsafeBytes { text in
      do throws(LuaError) {
        try runtime.mainChunk.start(bytes: text, name: script.chunkName) { stack in
          script.argument.push(on: stack, pushAttachment: runtime.push)
          return 1
        }
      } catch { failure = runtime.crossing(error) }
    }
  }

  /// What the script returned, as far as it can be sent.
  private func keep(_ stack: LuaStack, _ count: Int) {
    let first = Int32(stack.count - count)
    for place in 0..<Int32(count) {
      do throws(StructuredClone.Obstacle) {
        values.append(
          try StructuredClone(
            stack, first + place + 1, root: "result \(place + 1)", most: runtime.largestCopy
          ) {
            runtime.attachment($0, $1)
          })
      } catch {
        runtime.report(
          LuaError(message: "\(error.path) is \(error.what), which cannot be returned"), .chunk)
        return
      }
    }
  }
}
