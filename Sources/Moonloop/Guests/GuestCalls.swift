// Calls between a guest and its host, both ways: a task on the other side, and copies.

internal import LuaEmbed
internal import MoonloopCore

/// A task of one state that waits for a function in another state of the same thread.
final class CrossingWait: OtherWait {
  private unowned let runtime: Runtime  // it ends all waits before it goes
  private let words: String
  /// What begins the message of a call that was refused, and the caller's line, which ends it.
  private let title: String
  private let site: String
  private var outcome: GuestCallOutcome?
  /// Gives the call up on the other side.
  var cancel: (() -> Void)?
  /// Called once, when the wait is over.
  var whenOver: (() -> Void)?
  /// Counts the arguments, which the other side holds, as memory of this one.
  var charge: MemoryCharge?
  /// Called when the task may go on.
  private let goesOn: () -> Void

  init(
    _ words: String, _ runtime: Runtime, title: String, site: String,
    goesOn: @escaping () -> Void = {}
  ) {
    (self.words, self.runtime, self.goesOn) = (words, runtime, goesOn)
    (self.title, self.site) = (title, site)
    super.init()
  }

  /// The call on the other side has ended.
  func finish(_ outcome: GuestCallOutcome) {
    if self.outcome != nil || runtime.isClosing { return }
    self.outcome = outcome
    charge = nil
    whenOver?()
    if waiter == nil { return }
    runtime.tasks.answer(self)
    goesOn()
  }

  var isOver: Bool { outcome != nil }

  override var what: String { words }

  override func abandon() {
    waiter = nil
    // The other side may end its task after this one's state has gone.
    outcome = outcome ?? .failure(.ended)
    cancel?()
    whenOver?()
  }

  override func push(on stack: LuaStack) -> Int {
    switch outcome {
    case .success(let values):
      guard stack.reserve(values.count + 2) else { return 0 }
      for value in values { value.push(on: stack, pushAttachment: runtime.push) }
      return values.count
    case .failure(.ended): return stack.pushFailure("the guest has ended", "ECANCELED")
    case .failure(.raised), .failure(.refused), nil: return 0
    }
  }

  override var failure: TaskFailure? {
    let failure: TaskFailure
    switch outcome {
    case .failure(.raised(let failed)):
      failure = TaskFailure(
        value: runtime.raisedValue(of: failed), error: runtime.error(of: failed))
    case .failure(.refused(var error)):
      error.message = "\(title): \(error.message)\(site)"
      failure = TaskFailure(
        value: LuaReference(pushing: error.message, on: runtime.state.stack), error: error)
    default: return nil
    }
    failure.isTaken = true
    return failure
  }
}

/// Cancels calls between a host and its guests one after the other: a chain of calls that wait for
/// one another may be long, and each would cancel the next. Loop thread only.
final class CrossingEnds {
  private var waiting: [() -> Void] = []
  private var isRunning = false

  func run(_ cancel: @escaping () -> Void) {
    waiting.append(cancel)
    if isRunning { return }
    isRunning = true
    while let next = waiting.popLast() { next() }
    isRunning = false
  }
}

enum GuestCallFailure: Error {
  /// The function has raised an error.
  case raised(WorkerFailure)
  /// It could not be called, was stopped by a limit, or its results cannot be passed on.
  case refused(LuaError)
  case ended
}

/// The outcome of a call, as copies.
typealias GuestCallOutcome = Result<[StructuredClone], GuestCallFailure>

/// A call of a global function of a guest.
struct GuestCall {
  /// As the script that calls has it, which need not be text.
  let name: [UInt8]
  let arguments: [StructuredClone]
}

extension HostCall {
  /// Copies of the arguments from an index on.
  fileprivate func copies(from first: Int32) throws(ScriptMistake) -> [StructuredClone] {
    do throws(StructuredClone.Obstacle) {
      return try runtime.copies(stack, first..<max(first, count + 1), each: "argument")
    } catch {
      throw mistake(
        error.isTooLarge
          ? "the arguments are larger than \(runtime.largestCopy) bytes"
          : "\(error.path) is \(error.what), which cannot be sent")
    }
  }
}

extension Runtime {
  /// The maximum size of what is copied at once; a guest's copies are no larger than its memory.
  var largestCopy: Int {
    let own = granted.guest == nil ? nil : state.limits.memory
    return min(StructuredClone.sizeLimit, own ?? .max)
  }

  /// Copies of values, which all together have this size at most.
  fileprivate func copies(
    _ stack: LuaStack, _ places: Range<Int32>, each name: String
  ) throws(StructuredClone.Obstacle) -> [StructuredClone] {
    var (copies, rest): ([StructuredClone], Int) = ([], largestCopy)
    for (number, place) in places.enumerated() {
      let copy = try StructuredClone(
        stack, place, root: "\(name) \(number + 1)", most: max(rest, 0)
      ) { attachment($0, $1) }
      rest -= copy.size
      copies.append(copy)
    }
    return copies
  }
}

extension [StructuredClone] {
  /// Their size together.
  var size: Int { reduce(0) { $0 + $1.size } }
}

extension Runtime {
  /// Runs what is pushed as a task and copies its outcome.
  /// - Parameter whenOver: Gets the outcome, at once if the task cannot begin.
  /// - Returns: What cancels it.
  func run(
    _ copies: [StructuredClone], modes: [ModeName], push: (LuaStack) throws(LuaError) -> Void,
    whenOver: @escaping (GuestCallOutcome) -> Void
  ) -> () -> Void {
    let stack = state.stack
    guard !isClosing, stack.reserve(copies.count + 4) else {
      whenOver(.failure(.ended))
      return {}
    }
    do throws(LuaError) { try push(stack) } catch {
      whenOver(.failure(.refused(error)))
      return {}
    }
    let function = stack.absolute(-1)
    for copy in copies { copy.push(on: stack, pushAttachment: self.push) }
    let task = ScriptTask(subject: .chunk, modes: modes)
    task.hasHandle = true  // so that its results are kept
    task.whenEnded = { [unowned self] in whenOver(outcome(of: $0)) }  // it holds its tasks
    tasks.prepare(task, in: nil, on: stack, function: function, isScope: false)
    return { [weak task, weak self] in
      self?.crossingEnds.run { [weak task, weak self] in
        guard let task, let self, !isClosing else { return }
        let reason = LuaReference(pushing: "cancelled", on: state.stack)
        tasks.cancel(task, Cancellation(reason: reason))
      }
    }
  }

  /// An error in the form in which it goes to another state. A long message of a guest is cut.
  func crossing(_ error: LuaError) -> WorkerFailure {
    let stack = state.stack
    var bytes: [UInt8]?
    if let text = error.text {
      let most = granted.guest == nil ? largestCopy : LuaText.bound
      stack.push(text)
      bytes = stack.withBytes(-1) { $0.count <= most ? Array($0) : nil } ?? nil
      stack.pop()
    }
    guard let raised = error.value else { return WorkerFailure(error, bytes: bytes) }
    stack.push(raised)
    defer { stack.pop() }
    let value = try? StructuredClone(stack, -1, most: largestCopy) { attachment($0, $1) }
    return WorkerFailure(error, bytes: bytes, value: value)
  }

  /// Calls a global function of this state for a task of another.
  func run(_ call: GuestCall, for wait: CrossingWait) {
    wait.cancel = run(call.arguments, modes: [.default]) { stack throws(LuaError) in
      do throws(LuaError) { try stack.pushFunction(named: call.name) } catch {
        guard let failed = errors.failures(of: explanation.recorded(.chunk)) else { throw error }
        throw LuaError(message: "\(error.message); its script has failed: \(failed.last)")
      }
    } whenOver: {
      wait.finish($0)
    }
  }

  private func outcome(of task: ScriptTask) -> GuestCallOutcome {
    switch task.outcome {
    case .none, .cancelled: return .failure(.ended)
    case .failed:
      guard let failure = task.failure else { return .failure(.ended) }
      failure.isTaken = true
      if failure.error.isStop { return .failure(.refused(placed(failure.error))) }
      return .failure(.raised(crossing(failure.error)))
    case .returned: return results(of: task)
    }
  }

  /// What has stopped a function, with the line that ran.
  private func placed(_ error: LuaError) -> LuaError {
    guard let frame = error.traceback.first(where: { $0.line > 0 }) else { return error }
    var error = error
    error.message += ", at \(frame.source):\(frame.line)"
    return error
  }

  private func results(of task: ScriptTask) -> GuestCallOutcome {
    let stack = state.stack
    let base = stack.count
    let count = task.values.push(on: stack)
    defer { stack.setCount(Int32(base)) }
    do throws(StructuredClone.Obstacle) {
      let places = Int32(base + 1)..<Int32(base + 1 + count)
      return .success(try copies(stack, places, each: "result"))
    } catch {
      let text =
        error.isTooLarge
        ? "the results are larger than \(largestCopy) bytes"
        : "\(error.path) is \(error.what), which cannot be returned"
      return .failure(.refused(LuaError(message: text)))
    }
  }
}

// MARK: - From the guest

/// - Parameter name: The function, for messages.
private func hosted(
  _ L: OpaquePointer, _ context: UnsafeMutableRawPointer, _ name: String,
  _ body: (HostCall) throws -> Int32
) -> Int32 {
  host(L, context, "host") { call in
    do { return try body(call) } catch let mistake as ScriptMistake {
      call.stack.push(mistake.message(in: "host.\(name)", site: call.stack.site))
      return LuaStatus.raise
    }
  }
}

extension LocalGuest {
  /// Puts a function of the host into the guest's table `host`.
  func putFunction(_ name: String, _ runtime: Runtime) {
    let stack = runtime.state.stack
    stack.pushGlobal("host")
    if stack.type(-1) != .table {
      stack.pop()
      stack.newTable()
      stack.pushValue(-1)
      stack.popGlobal("host")
    }
    stack.push(name)
    // Unowned: the closure is in the guest's state, which `close` closes.
    stack.push(closure: name) { [unowned self, unowned runtime] stack in
      let context = Unmanaged.passUnretained(runtime).toOpaque()
      return Int(hosted(stack.L, context, name) { call in try self.callHost(name, call) })
    }
    stack.rawSet(-3)
    stack.pop()
  }

  private func callHost(_ name: String, _ call: HostCall) throws -> Int32 {
    tally.messages += 1
    let copies = try call.copies(from: 1)
    let coroutine = try call.requireWaiting()
    let wait = CrossingWait(
      "the host's '\(name)'", call.runtime, title: "host.\(name)", site: call.stack.site
    ) { [weak self] in self?.settle() }
    guard let function = functions[ExactText(name)] else { throw call.mistake("it has ended") }
    // A guest that is called back could call again, and so on.
    if let limit = limits.state.handles, hostCalls >= limit {
      throw call.mistake("the limit of \(limit) calls under way is reached")
    }
    hostCalls += 1
    wait.charge = call.state.charge(copies.size)
    let modes = host.loop.modes(of: source)
    wait.cancel = host.run(copies, modes: modes.isEmpty ? [.default] : modes) { stack in
      stack.push(function)
    } whenOver: { [weak self] in
      self?.hostCalls -= 1
      wait.finish($0)
    }
    if wait.isOver { return LuaStatus.results(Int32(wait.push(on: call.stack))) }
    return call.suspend(Wait(.other(wait)), coroutine)
  }
}

// MARK: - From the host

/// `guest:call(name, ...)`: calls a global function of the guest, as one of its tasks, with copies.
func guestCall(_ call: HostCall) throws -> Int32 {
  let guest = try call.selfGuest()
  let name = try call.bytes(2, "the function's name")
  let copies = try call.copies(from: 3)
  let coroutine = try call.requireWaiting()
  if guest.hasEnded {
    throw OperatingFailure("guest:call: the guest has ended", "ECANCELED")
  }
  let label = call.runtime.label(of: .item(guest.source))
  let site = call.stack.site
  let words = "'\(String(decoding: name, as: UTF8.self))' of \(label)"
  // Without a line it is our own module in the process of a guest, whose host knows both.
  let title = "guest:call" + (site.isEmpty ? "" : ": \(words)")
  let wait = CrossingWait(words, call.runtime, title: title, site: site)
  guest.add(wait)
  guest.begin(GuestCall(name: name, arguments: copies), wait)
  if wait.isOver {
    if let failure = wait.failure { throw RaisedValue(failure.value) }
    return LuaStatus.results(Int32(wait.push(on: call.stack)))
  }
  return call.suspend(Wait(.other(wait)), coroutine)
}

extension Runtime {
  /// Passes a guest's output to the host's handler.
  /// - Returns: false if there is none.
  func tell(_ guest: ScriptGuest, output bytes: [UInt8]) -> Bool {
    guard guest.hearsOutput else { return false }
    callOut(guest.source) { ref in
      state.dispatch(ref: ref, slot: GuestSlot.onOutput) { stack in
        bytes.withUnsafeBytes { stack.push(bytes: $0) }
        return 1
      }
    }
    return true
  }

  /// Asks the host's handler what to do with a guest that is over a limit; nil: no answer.
  func ask(_ guest: ScriptGuest, limit what: String) -> GuestVerdict? {
    guard guest.hearsLimits, guest.source.maker.ref >= 0 else { return nil }
    let held = guest.source.maker.ref
    let ref = held > 0 ? held : borrowRef(of: guest.source)
    if ref == 0 { return nil }
    defer { if held == 0 { state.stack.dropRef(ref) } }
    var verdict: GuestVerdict?
    var mistake: String?
    let outcome = state.start(
      push: { stack in
        stack.push(ref: ref)
        stack.pushSlot(GuestSlot.onLimit, of: 1)
        stack.rotate(1, -1)
        stack.push(what)
        return 2
      }, onReturn: { stack, count in verdict = Self.verdict(stack, count, &mistake) })
    if let mistake { report(LuaError(message: "'on_limit': \(mistake)"), .item(guest.source)) }
    if case .suspended(let task) = outcome {
      tasks.forgetFirstWait(of: task)
      _ = state.end(task)
      report(LuaError(message: "'on_limit' waits; it must return at once"), .item(guest.source))
    } else {
      tasks.settle(outcome, .item(guest.source))
    }
    return verdict
  }

  private static func verdict(
    _ stack: LuaStack, _ count: Int, _ mistake: inout String?
  ) -> GuestVerdict? {
    let first = -Int32(count)
    if count == 0 || stack.type(first) == .nil { return nil }
    switch stack.string(first) {
    case "end": return .end
    case "warn": return .warn
    case "suspend":
      if count == 1 || stack.type(first + 1) == .nil { return .suspend(nil) }
      if let seconds = stack.number(first + 1), seconds.isFinite, seconds >= 0 {
        return .suspend(Int64(min(seconds, 1e9) * 1e9))
      }
      mistake = "the time to suspend it for must be seconds >= 0"
    default:
      mistake =
        "it must return \"end\", \"suspend\", \"warn\" or nothing, got \(stack.given(first))"
    }
    return nil
  }
}
