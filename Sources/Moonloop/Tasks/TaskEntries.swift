// What scripts see of tasks.

internal import LuaEmbed

/// What a task's handle offers, which is also the scope that the task's function gets.
let taskEntries: [LuaEntry] = [
  .method("task") { host($0, $1, "task:task", taskTask) },
  .method("await") { host($0, $1, "task:await", taskAwait) },
  .method("wait") { host($0, $1, "task:wait", taskWait) },
  .method("cancel") { hostAction($0, $1, "task:cancel", taskCancel) },
  .method("invalidate") { hostAction($0, $1, "task:invalidate", taskInvalidate) },
  .method("is_valid") { hostValue($0, $1, "task:is_valid") { try $0.selfTask().phase != .ended } },
  .method("is_done") { hostValue($0, $1, "task:is_done") { try $0.selfTask().phase == .ended } },
  .field("status") { hostValue($0, $1, "task.status") { try $0.selfTask().statusText } },
  .field("name") { hostValue($0, $1, "task.name") { try $0.selfTask().name } },
  .field("on_error", taskOnError, set: taskSetOnError),
  .metamethod("__close") { host($0, $1, "close", taskClose) },
  .metamethod("__tostring") { hostValue($0, $1, "tostring", taskToString) },
]
