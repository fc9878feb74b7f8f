// Lua for programs written with Swift Concurrency: an actor that lives on a loop.

public import LuaEmbed
public import MoonloopCore

/// An actor that owns a Lua state on a loop.
///
/// Its executor is the loop, so the state is used only on its own thread, and no Lua value leaves
/// `withState`. Dropping the host is safe on any thread: the state is closed on its own thread, and
/// a thread that the host started ends.
///
/// ```swift
/// let host = try await LuaHost(name: "scripts", limits: LuaLimits(callout: .seconds(1)))
/// try await host.run(file: "handlers.lua")
/// let reply: String = try await host.call("handle", "/index")
/// ```
public actor LuaHost {
  /// Runs all the actor's code on the thread of its loop.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    loop.asUnownedSerialExecutor()
  }

  /// The loop that scripts drive; any thread may signal, wake and stop it.
  public nonisolated let loop: Loop
  /// Ends its thread, if this host started it, when the host is gone.
  private let ownThread: OwnThread?
  private var state: LuaState?

  /// Starts a thread with a loop, and opens a Lua state there.
  /// - Parameters:
  ///   - name: The name of the thread and its loop.
  ///   - libraries: The standard libraries for scripts.
  ///   - capabilities: The parts of the module that they may reach.
  ///   - limits: The limits for scripts.
  ///   - reports: Where errors, output and ends of scripts go.
  /// - Throws: `LuaError` if the system refuses a thread, or there is no memory for a state.
  public init(
    name: String = "scripts", libraries: LuaLibraries = .all,
    capabilities: LuaCapabilities = .all, limits: LuaLimits = LuaLimits(),
    reports: Reports = Reports()
  ) async throws(LuaError) {
    let thread: LoopThread
    do { thread = try LoopThread.start(name: name) } catch {
      throw LuaError(message: "no thread for '\(name)': \(error)", code: error.name)
    }
    ownThread = OwnThread(thread)
    loop = thread.loop
    try open(libraries, capabilities, limits, reports)
  }

  /// Opens a Lua state on a loop that the program runs: that of a `LoopThread`, or `Loop.main`.
  /// - Parameters:
  ///   - loop: The loop. Nothing happens on the host while its thread does not run it.
  ///   - libraries: The standard libraries for scripts.
  ///   - capabilities: The parts of the module that they may reach.
  ///   - limits: The limits for scripts.
  ///   - reports: Where errors, output and ends of scripts go.
  /// - Throws: `LuaError` if the loop has ended, or there is no memory for a state.
  public init(
    on loop: Loop, libraries: LuaLibraries = .all, capabilities: LuaCapabilities = .all,
    limits: LuaLimits = LuaLimits(), reports: Reports = Reports()
  ) async throws(LuaError) {
    ownThread = nil
    self.loop = loop
    try open(libraries, capabilities, limits, reports)
  }

  private func open(
    _ libraries: LuaLibraries, _ capabilities: LuaCapabilities, _ limits: LuaLimits,
    _ reports: Reports
  ) throws(LuaError) {
    if loop.hasEnded { throw LuaError(kind: .closed, message: "\(loop.name) has ended") }
    let state = try LuaState(
      on: loop, limits: limits, libraries: libraries, capabilities: capabilities)
    self.state = state
    reports.install(in: state)
  }

  /// Passes the loop and the state to a closure: to register functions, read globals, add items.
  /// - Parameter body: Runs on the thread of the loop. What it returns must be `Sendable`, so that
  ///   what belongs to the thread stays there.
  /// - Throws: What the closure throws; `LuaError` of kind `.closed` after `shutDown`.
  public func withState<R: Sendable>(
    _ body: @Sendable (_ loop: Loop, _ lua: LuaState) throws -> R
  ) throws -> R {
    try body(loop, opened())
  }

  /// Compiles text and runs it as a plain call, which cannot wait.
  /// - Parameters:
  ///   - chunk: Lua source text.
  ///   - name: What errors call it; `@file.lua` for a file, `=name` for anything else.
  /// - Throws: `LuaError`.
  public func run(_ chunk: String, name: String = "=chunk") throws(LuaError) {
    try opened().run(chunk, name: name)
  }

  /// Compiles a file and runs it as a plain call, which cannot wait.
  /// - Throws: `LuaError`; of kind `.file` if it cannot be read.
  public func run(file path: String) throws(LuaError) { try opened().run(file: path) }

  /// Calls a global function as a task, which may wait, and returns its first result.
  ///
  /// The loop serves everything else meanwhile, including other calls of this host. Cancelling the
  /// Swift task cancels the Lua task.
  /// - Parameters:
  ///   - name: The function's name; dots lead into tables: "app.handlers.get".
  ///   - arguments: Converted by their Swift types.
  /// - Throws: `LuaError`: what the function raises; `.interrupted` with a `CancellationError` as
  ///   `underlying` if the Swift task was cancelled; `.closed` after `shutDown`, and for calls that
  ///   it ends.
  public func call<each A: LuaPushable & Sendable, R: LuaReadable & Sendable>(
    _ name: String, _ arguments: repeat each A
  ) async throws(LuaError) -> R {
    try await finish(
      name,
      function: { (stack) throws(LuaError) in try stack.pushFunction(named: name) },
      push: { stack in stack.push(all: repeat each arguments) },
      read: { (stack, index) throws(LuaError) in try stack.result(index, of: name) })
  }

  /// Calls a global function as a task, with Codable arguments and result; see `LuaCoded`.
  /// - Throws: `LuaError`, as the call with plain values; also when a value does not fit its type.
  @_disfavoredOverload
  public func call<each A: Encodable & Sendable, R: Decodable & Sendable>(
    _ name: String, _ arguments: repeat each A
  ) async throws(LuaError) -> R {
    try await finish(
      name,
      function: { (stack) throws(LuaError) in try stack.pushFunction(named: name) },
      push: { (stack) throws(LuaError) in try stack.push(coded: repeat each arguments) },
      read: { (stack, index) throws(LuaError) in
        let result: LuaCoded<R> = try stack.result(index, of: name)
        return result.value
      })
  }

  /// Calls a global function as a task, and ignores its results.
  /// - Throws: `LuaError`, as the call with a result.
  public func call<each A: LuaPushable & Sendable>(
    _ name: String, _ arguments: repeat each A
  ) async throws(LuaError) {
    let _: LuaNothing = try await call(name, repeat each arguments)
  }

  /// Runs a function as a task, and awaits its end; see `HostedCall`.
  func finish<R: Sendable>(
    _ name: String, function: (LuaStack) throws(LuaError) -> Void,
    push: (LuaStack) throws(LuaError) -> Int = { _ in 0 },
    read: @escaping (LuaStack, Int32) throws(LuaError) -> R
  ) async throws(LuaError) -> R {
    let call = HostedCall(name, loop)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // A method of the actor, so that the compiler can tell that this runs on its thread.
        begin(call, function, push, read) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      call.cancel()
    }
    return try result.get()
  }

  func begin<R: Sendable>(
    _ call: HostedCall, _ function: (LuaStack) throws(LuaError) -> Void,
    _ push: (LuaStack) throws(LuaError) -> Int,
    _ read: @escaping (LuaStack, Int32) throws(LuaError) -> R,
    end: @escaping (Result<R, LuaError>) -> Void
  ) {
    guard let state, !state.isClosed, let runtime = state.runtime else {
      return end(.failure(.closed))
    }
    call.begin(runtime, function: function, push: push, read: read, end: end)
  }

  /// Ends the tasks and handles of the scripts, in order, and closes the state.
  ///
  /// Calls under way throw `LuaError` of kind `.closed`, as do all later ones. A thread that the
  /// host started ends. Calling it twice has no effect.
  public func shutDown() {
    state?.shutDown()
    ownThread?.end()
  }

  func opened() throws(LuaError) -> LuaState {
    guard let state, !state.isClosed else { throw .closed }
    return state
  }
}

/// The thread that a host started: it ends with the host.
private final class OwnThread: Sendable {
  private let thread: LoopThread

  init(_ thread: LoopThread) { self.thread = thread }
  deinit { thread.stop() }

  func end() { thread.stop() }
}

/// Reads any number of results as none.
private struct LuaNothing: LuaReadable, Sendable {
  static var luaTypeName: String { "any value" }
  static func read(_ slot: borrowing LuaSlot) -> LuaNothing? { LuaNothing() }
}
