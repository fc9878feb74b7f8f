// The main chunk: a script runs as a task, and may wait like any handler (D60).

package import LuaEmbed
package import MoonloopCore

/// The main chunk of a state, and what to do with its results. Loop thread only.
package final class MainChunk {
  unowned(unsafe) let runtime: Runtime  // it holds its chunk
  /// What the command line says about the configuration that the chunk may return.
  package var forConfigurations = ForConfigurations()
  /// Whether the configuration was refused because of the command line.
  package private(set) var wasRefused = false
  /// Whether the file is a configuration with mistakes, or one that cannot be made.
  package private(set) var configurationFailed = false
  /// Whether a limit has stopped the chunk.
  package private(set) var wasLimited = false
  /// Whether the script ends with a chunk that a limit has stopped.
  package var endsAtLimit = false
  /// Whether the script ends with an error of the chunk that no handler lets go on.
  package var endsAtError = false
  /// Whether an error ended the script, or something could not be started.
  package private(set) var hasFailed = false
  /// Whether phases of the configuration that the chunk returned are running.
  private var runsPhases = false
  /// Whether everything has started: the chunk has returned, or runs its loop itself.
  package var hasStarted: Bool {
    !hasFailed && steps.isEmpty
      && (runtime.waitingChunk == nil || runsPhases || runtime.runs.ranLoop)
  }
  /// The steps still to run, in order, and what runs one.
  private var steps = 0..<0
  private var step: (Int) -> LuaError? = { _ in nil }
  /// Called with the chunk's results, instead of the rest; for the caller that asked.
  var returned: ((LuaStack, Int) -> Void)?

  init(_ runtime: Runtime) { self.runtime = runtime }

  /// Takes so many steps in order, each when the chunk that the one before started has returned.
  /// - Parameter step: Takes the step with a number, from 0; returns why it could not be started.
  package func start(steps count: Int, _ step: @escaping (Int) -> LuaError?) {
    steps = 0..<count
    self.step = step
    advance()
  }

  private func advance() {
    while !hasFailed && runtime.waitingChunk == nil, let place = steps.popFirst() {
      runtime.runs.forgetOwnRun()
      guard let error = step(place) else { continue }
      runtime.errors.noteReported()
      runtime.errors.write("moonloop: \(error.report)")
      if endsAtLimit { fail() }
    }
  }

  /// Ends the script.
  func fail() {
    hasFailed = true
    runtime.loop.endRuns()
  }

  /// Runs a chunk as a task: when it waits, the loop goes on with it.
  /// - Parameters:
  ///   - text: Lua source.
  ///   - name: What errors call it: `@file.lua` for a file.
  ///   - arguments: The values of `...`.
  /// - Throws: `LuaError` if it does not compile; errors of its run are reported.
  package func start(
    chunk text: String, name: String, arguments: [String] = []
  ) throws(LuaError) {
    try runtime.state.load(text, name: name, on: runtime.state.stack)
    runtime.runs.forgetOwnRun()
    startLoaded { stack in
      for argument in arguments { stack.push(argument) }
      return arguments.count
    }
  }

  /// The same for bytes, which need not be UTF-8.
  /// - Parameter pushArguments: Pushes the values of `...`, and returns their number.
  package func start(
    bytes: UnsafeRawBufferPointer, name: String, pushArguments: (LuaStack) -> Int
  ) throws(LuaError) {
    try runtime.state.load(bytes: bytes, name: name, on: runtime.state.stack)
    var table: LuaReference?
    startLoaded(pushArguments) { stack, count in
      if let tell = self.returned { return tell(stack, count) }
      if count > 0, stack.type(-Int32(count)) == .table {
        stack.pushValue(-Int32(count))
        table = LuaReference(popping: stack)
      }
    }
    guard let table, name.hasPrefix("@") else { return }
    let path = String(name.dropFirst())
    if runtime.granted.guest == nil {
      try start(configuration: table, path: path, text: bytes)
    } else if describesItems(table) {
      wasRefused = true
      runtime.errors.write(
        "moonloop: '\(path)' is a configuration, which cannot be a guest; run it without --guest, "
          + "or make its items in a script")
    }
  }

  /// Whether a guest's table, which no configuration is read from, looks like one.
  private func describesItems(_ table: LuaReference) -> Bool {
    let stack = runtime.state.stack
    stack.push(table)
    defer { stack.pop() }
    return ["timers", "sources", "observers", "signals"].contains { (section: StaticString) in
      stack.push(section)
      _ = stack.rawGet(-2)
      defer { stack.pop() }
      return stack.type(-1) == .table
    }
  }

  /// A file that returned a table may be a configuration: then that is made, and its phases run.
  private func start(
    configuration: LuaReference, path: String, text: UnsafeRawBufferPointer
  ) throws(LuaError) {
    try runtime.state.load(
      """
      local configuration = require "moonloop.configuration"
      local value, path, text, bounds, given, refusal = ...
      if not configuration.is_one(value) then return end
      if refusal then return refusal, true end
      configuration.bounds, configuration.given = bounds, given
      local running, mistakes = configuration.prepare(value, path, text)
      if not running then return mistakes, false end
      require("moonloop.reload").note(running)
      if not bounds.mode then running:run(bounds) end  -- else the program runs that mode
      """, name: "=moonloop", on: runtime.state.stack)
    runsPhases = true
    startLoaded { [forConfigurations] stack in
      stack.push(configuration)
      stack.push(path)
      stack.push(bytes: text)
      forConfigurations.push(on: stack)
      return 6
    } onReturn: { stack, count in
      guard count > 1, let mistakes = stack.string(-Int32(count)) else { return }
      if stack.boolean(-1) { self.wasRefused = true }
      self.configurationFailed = true
      self.runtime.errors.noteReported()
      self.runtime.errors.write(mistakes)
    }
  }

  /// Runs a function as a main chunk.
  func start(_ function: LuaReference, pushArguments: (LuaStack) -> Int = { _ in 0 }) {
    runtime.state.stack.push(function)
    startLoaded(pushArguments)
  }

  /// Starts the function on top of the stack. [-1, +0]
  private func startLoaded(
    _ pushArguments: (LuaStack) -> Int, onReturn: (LuaStack, Int) -> Void = { _, _ in }
  ) {
    let function = LuaReference(popping: runtime.state.stack)
    let outcome = runtime.state.start(
      push: { stack in
        stack.push(function)
        return pushArguments(stack)
      }, onReturn: onReturn)
    if case .returned = outcome { return }
    runtime.tasks.settle(outcome, .chunk)
    switch outcome {
    case .suspended(let coroutine): runtime.waitingChunk = runtime.tasks[coroutine.index]
    case .stopped: wasLimited = runtime.errors.lastStop?.isLimit ?? false
    default: break
    }
  }

  /// Reports that a run of a mode has nothing to wait for, although there are items in other modes.
  /// That the mode has never had any is an error: its name is misspelt.
  package func reportEmptiness(of name: ModeName) {
    let loop = runtime.loop
    let isKnown = loop.findMode(name).map { !loop.isEmpty($0) }
    if isKnown == true { return }
    let others = loop.modeNames.filter { !loop.isEmpty(loop.mode($0)) }
    if others.isEmpty { return }
    let problem =
      isKnown == nil
      ? "nothing is in mode '\(name)'" : "nothing in mode '\(name)' keeps a run open"
    let names = others.map { "'\($0)'" }.joined(separator: ", ")
    if isKnown == nil { runtime.errors.noteReported() }
    runtime.errors.write("moonloop: \(problem); there are items in \(names)")
  }

  /// Reports a main chunk that still waits after a run of a mode has finished: nothing is left that
  /// could end its wait.
  package func reportDeadlock(in mode: ModeName) {
    guard let task = runtime.waitingChunk else { return }
    runtime.report(LuaError(message: runtime.tasks.deadlock(of: task, in: mode)), .chunk)
  }

  /// The main chunk has ended: if it ran its loop itself, it is not run again (D60).
  func ended(_ failure: LuaError?) {
    runtime.waitingChunk = nil
    wasLimited = failure?.kind.isLimit ?? false
    if failure == nil && !steps.isEmpty { return advance() }
    if runtime.runs.ranLoop || (wasLimited && endsAtLimit) { runtime.loop.stop() }
  }
}

/// What the command line says about a configuration, if the file is one.
package struct ForConfigurations {
  /// Runs this mode, once, instead of the phases.
  package var mode: String?
  /// How long all phases together may take, in seconds.
  package var timeout: Double?
  /// The limits that the configuration may not set, and whether `on_error` is one: by name.
  package var given: [StaticString] = []
  /// Why a configuration cannot be started like this.
  package var refusal: String?

  package init() {}

  /// Pushes the bounds of its run, what was given, and the refusal.
  func push(on stack: LuaStack) {
    stack.newTable(fields: 2)
    if let mode { stack.setField("mode", mode) }
    if let timeout { stack.setField("timeout", timeout) }
    stack.newTable(fields: 4)
    for name in given { stack.setField(name, true) }
    if let refusal { stack.push(refusal) } else { stack.pushNil() }
  }
}
