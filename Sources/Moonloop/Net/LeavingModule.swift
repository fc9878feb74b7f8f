// `require "moonloop.http.leaving"`: the task of a connection is cancelled when the client has
// left, without a handler in Lua for each connection.

internal import LuaEmbed
internal import MoonloopSystem

let leavingModule = LuaModule(
  "moonloop.http.leaving",
  [
    // The running task is cancelled when the peer of its stream is gone: where it does not read.
    .function("cancels") { hostAction($0, $1, "leaving", leavingCancels) },
    // Whether that has happened.
    .function("has_left") {
      hostValue($0, $1, "leaving") { try $0.selfStream().events?.hasCancelled ?? false }
    },
  ])

private func leavingCancels(_ call: HostCall) throws {
  let stream = try call.selfStream()
  guard let task = call.currentTask else { return }
  let events = StreamEvents(stream, cancels: task)
  stream.events = events
  events.update(stream)
}

extension StreamEvents {
  /// The peer of a connection is gone: its task has no more to do, and a failure is no mistake.
  func cancel(_ task: ScriptTask, _ runtime: Runtime) {
    task.dropsFailure = true
    let reason = LuaReference(pushing: "the client has left", on: runtime.state.stack)
    runtime.tasks.cancel(task, Cancellation(reason: reason))
  }
}
