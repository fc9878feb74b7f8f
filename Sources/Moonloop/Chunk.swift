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
    startLoaded(pushArguments)
  }

  /// Starts the function on top of the stack. [-1, +0]
  private func startLoaded(_ pushArguments: (LuaStack) -> Int) {
    let function = LuaReference(popping: state.stack)
    let outcome = state.start(push: { stack in
      stack.push(function)
      return pushArguments(stack)
    })
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
