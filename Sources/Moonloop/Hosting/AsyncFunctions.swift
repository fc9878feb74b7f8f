// Async Swift closures as Lua functions: the task that calls one waits, and the loop goes on.

public import LuaEmbed
internal import MoonloopCore

extension LuaState {
  /// Makes an async Swift closure a global function.
  ///
  /// The Lua task that calls it is suspended until the closure is done, and the loop serves other
  /// things meanwhile, as with `ml.sleep`. Arguments and result are converted by their
  /// Swift types. A thrown `LuaFailure` becomes `nil, message, code`; any other error is raised in
  /// the task and, if it comes back to Swift, is the same error. Cancelling the Lua task, or
  /// closing the state, cancels the Swift task; a thrown `CancellationError` is raised as
  /// "cancelled".
  /// - Parameters:
  ///   - name: The global's name.
  ///   - body: Runs in its own Swift task, on no particular thread.
  /// - Precondition: The state is on a loop. For its thread.
  public func registerAsync<each A: LuaReadable & Sendable, R: LuaPushable & Sendable>(
    _ name: String, _ body: @escaping @Sendable (repeat each A) async throws -> R
  ) {
    setAsync(name) { stack throws(LuaArgumentError) in
      var index: Int32 = 0
      let arguments = (repeat try stack.next((each A).self, &index))
      return { AsyncResult(try await body(repeat each arguments)) }
    }
  }

  /// Makes an async Swift closure without a result, or with several in a tuple, a global function.
  public func registerAsync<each A: LuaReadable & Sendable, each R: LuaPushable & Sendable>(
    _ name: String, _ body: @escaping @Sendable (repeat each A) async throws -> (repeat each R)
  ) {
    setAsync(name) { stack throws(LuaArgumentError) in
      var index: Int32 = 0
      let arguments = (repeat try stack.next((each A).self, &index))
      return {
        let results = try await body(repeat each arguments)
        return AsyncResult(repeat each results)
      }
    }
  }

  /// Makes an async Swift closure whose arguments and result are Codable a global function; see
  /// `LuaCoded`.
  @_disfavoredOverload
  public func registerAsync<each A: Decodable & Sendable, R: Encodable & Sendable>(
    _ name: String, _ body: @escaping @Sendable (repeat each A) async throws -> R
  ) {
    setAsync(name) { stack throws(LuaArgumentError) in
      var index: Int32 = 0
      let arguments = (repeat try stack.next(LuaCoded<each A>.self, &index).value)
      return { AsyncResult(coded: try await body(repeat each arguments)) }
    }
  }

  private typealias Operation = @Sendable () async throws -> AsyncResult

  private func setAsync(
    _ name: String, _ read: @escaping (LuaStack) throws(LuaArgumentError) -> Operation
  ) {
    guard isUsable("registerAsync") else { return }
    guard let runtime else {
      fatalError("registerAsync: the Lua state is on no loop; make it by LuaState(on:)")
    }
    let stack = runtime.state.stack
    stack.push(closure: name) { [unowned runtime] stack in  // its state has the closure
      let call = HostCall(stack.L, Unmanaged.passUnretained(runtime).toOpaque(), "async function")
      let operation = try read(stack)
      let coroutine: LuaCoroutine
      do { coroutine = try call.requireWaiting() } catch let mistake as ScriptMistake {
        stack.push(mistake.message(in: name, site: stack.site))
        return Int(LuaStatus.raise)
      } catch let raised as RaisedValue {
        stack.push(raised.value)
        return Int(LuaStatus.raise)
      }
      let wait = AsyncWait(name, runtime)
      wait.begin(operation)
      return Int(call.suspend(Wait(.other(wait)), coroutine))
    }
    stack.popGlobal(name)
  }
}

/// The result of an async closure, to be pushed on the state's thread.
private struct AsyncResult: Sendable {
  /// Pushes the result, or `nil, message` if that is impossible; returns the number of values.
  let push: @Sendable (LuaStack) -> Int

  init<each R: LuaPushable & Sendable>(_ values: repeat each R) {
    let values = (repeat each values)
    push = { stack in
      do throws(LuaArgumentError) { return try stack.results(repeat each values) } catch {
        return stack.pushFailure("too many results", "")
      }
    }
  }

  init(coded value: some Encodable & Sendable) {
    push = { stack in
      do throws(LuaError) { return try stack.push(coded: value) } catch {
        return stack.pushFailure(error.message, "")
      }
    }
  }
}

/// The wait of a Lua task for an async closure. Loop thread only, except the place of the outcome.
private final class AsyncWait: OtherWait {
  /// Where the Swift task leaves its outcome.
  private final class Place: Sendable {
    let outcome = Guarded<Result<AsyncResult, any Error>?>(nil)
  }

  private let name: String
  private unowned let runtime: Runtime  // it ends all waits before it goes
  private let place = Place()
  private var task: Task<Void, Never>?
  /// Performed when the outcome has arrived; keeps the runs of its modes going until then.
  private var source: Loop.Source! = nil

  init(_ name: String, _ runtime: Runtime) {
    self.name = name
    self.runtime = runtime
    super.init()
  }

  func begin(_ operation: @escaping @Sendable () async throws -> AsyncResult) {
    let source = runtime.loop.makeSource(name: name) { [weak self] source in
      source.invalidate()
      if let self { self.runtime.tasks.answer(self) }
    }
    self.source = source
    try? runtime.loop.add(source, modes: runtime.currentModes)
    let loop = runtime.loop
    task = Task { [place] in
      let outcome: Result<AsyncResult, any Error>
      do { outcome = .success(try await operation()) } catch { outcome = .failure(error) }
      place.outcome.withLock { $0 = outcome }
      source.signal()
      loop.wakeUp()
    }
  }

  override var what: String { "the async function '\(name)'" }

  override func abandon() {
    waiter = nil
    task?.cancel()
    source.invalidate()
  }

  override func push(on stack: LuaStack) -> Int {
    switch place.outcome.withLock({ $0 }) {
    case .success(let result):
      return result.push(stack)
    case .failure(let failure as LuaFailure):
      return stack.pushFailure(failure.message, failure.code ?? "")
    case .failure, nil: return 0
    }
  }

  override var failure: TaskFailure? {
    guard case .failure(let error) = place.outcome.withLock({ $0 }), !(error is LuaFailure) else {
      return nil
    }
    let stack = runtime.state.stack
    runtime.state.push(error: error, on: stack)
    let value = LuaReference(popping: stack)
    var told = error as? LuaError ?? LuaError(message: "\(error)")
    told.underlying = error
    return TaskFailure(value: value, error: told)
  }

  override func join(_ mode: ModeName, _ loop: Loop) { try? loop.add(source, modes: [mode]) }
  override func leave(_ mode: ModeName, _ loop: Loop) { loop.remove(source, modes: [mode]) }
}
