// What scripts see of tasks.

internal import LuaEmbed

/// What a task's handle offers, which is also the scope that the task's function gets.
let taskEntries: [LuaEntry] = [
  .method("task", taskTask),
  .method("await", taskAwait),
  .method("wait", taskWait),
  .method("cancel", taskCancel),
  .method("invalidate", taskInvalidate),
  .method("is_valid") { hostValue($0, $1, "task:is_valid") { try $0.selfTask().phase != .ended } },
  .method("is_done") { hostValue($0, $1, "task:is_done") { try $0.selfTask().phase == .ended } },
  .field("status") { hostValue($0, $1, "task.status") { try $0.selfTask().statusText } },
  .field("name") { hostValue($0, $1, "task.name") { try $0.selfTask().name } },
  .field("on_error", taskOnError, set: taskSetOnError),
  .metamethod("__close", taskClose),
  .metamethod("__tostring", taskToString),
]
