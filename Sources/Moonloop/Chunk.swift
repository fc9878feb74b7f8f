// The main chunk: a script runs as a task, and may wait like any handler (D60).

package import LuaEmbed
internal import MoonloopCore

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
    let stack = state.stack
    try state.load(text, name: name, on: stack)
    let function = LuaReference(popping: stack)
    let outcome = state.start(push: { stack in
      stack.push(function)
      for argument in arguments { stack.push(argument) }
      return arguments.count
    })
    if case .returned = outcome { return }
    settle(outcome, .chunk)
  }
}
