// The main chunk: a script runs as a task, and may wait like any handler (D60).

package import LuaEmbed
package import MoonloopCore

extension Runtime {
  /// Runs a chunk as a task: when it waits, the loop goes on with it.
  /// - Parameters:
  ///   - text: Lua source.
  ///   - name: What errors call it: `@file.lua` for a file.
  ///   - arguments: What `...` gives.
  /// - Throws: `LuaError` if it does not compile; errors of its run are reported.
  package func start(
    chunk text: String, name: String, arguments: [String] = []
  ) throws(LuaError) {
    try state.load(text, name: name, on: state.stack)
    startLoaded { stack in
      for argument in arguments { stack.push(argument) }
      return arguments.count
    }
  }

  /// The same for bytes, which need not be UTF-8.
  /// - Parameter pushArguments: Pushes what `...` gives, and returns how many that are.
  package func start(
    bytes: UnsafeRawBufferPointer, name: String, pushArguments: (LuaStack) -> Int
  ) throws(LuaError) {
    try state.load(bytes: bytes, name: name, on: state.stack)
    var returned: LuaReference?
    startLoaded(pushArguments) { stack, count in
      if let told = self.chunkReturned { return told(stack, count) }
      if count > 0, stack.type(-Int32(count)) == .table {
        stack.pushValue(-Int32(count))
        returned = LuaReference(popping: stack)
      }
    }
    if let returned, name.hasPrefix("@") {
      try start(configuration: returned, path: String(name.dropFirst()))
    }
  }

  /// A file that returned a table may be a configuration: then that is made, and its phases run.
  private func start(configuration: LuaReference, path: String) throws(LuaError) {
    try state.load(
      """
      local configuration = require "moonloop.configuration"
      if not configuration.is_one((...)) then return end
      local running, mistakes = configuration.prepare(...)
      if not running then return mistakes end
      require("moonloop.reload").note(running)
      running:run()
      """, name: "=moonloop", on: state.stack)
    startLoaded { stack in
      stack.push(configuration)
      stack.push(path)
      return 2
    } onReturn: { stack, count in
      guard count > 0, let mistakes = stack.string(-Int32(count)) else { return }
      self.errors.noteReported()
      self.errors.write(mistakes)
    }
  }

  /// Runs a function as a main chunk.
  func start(_ function: LuaReference) {
    state.stack.push(function)
    startLoaded { _ in 0 }
  }

  /// Starts the function on top of the stack. [-1, +0]
  private func startLoaded(
    _ pushArguments: (LuaStack) -> Int, onReturn: ((LuaStack, Int) -> Void)? = nil
  ) {
    let function = LuaReference(popping: state.stack)
    let outcome = state.start(
      push: { stack in
        stack.push(function)
        return pushArguments(stack)
      }, onReturn: onReturn)
    if case .returned = outcome { return }
    settle(outcome, .chunk)
    if case .suspended(let coroutine, _) = outcome { waitingChunk = tasks[coroutine.index] }
  }

  /// Reports a main chunk that still waits after a run of a mode is finished: nothing is left that
  /// could end its wait.
  package func reportDeadlock(in mode: ModeName) {
    guard let task = waitingChunk else { return }
    report(LuaError(message: deadlock(of: task, in: mode)), .chunk)
  }

  /// The main chunk has come to its end: if it ran its loop itself, nobody else is to (D60).
  func chunkEnded() {
    waitingChunk = nil
    if ranLoop { loop.stop() }
  }
}
