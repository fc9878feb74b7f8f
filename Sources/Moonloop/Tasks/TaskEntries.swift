// What scripts see of tasks.

internal import LuaEmbed

/// What a task's handle offers, which is also the scope that the task's function gets.
let taskEntries: [LuaEntry] = [
  .method("task", taskTask),
  .method("await", taskAwait),
  .method("wait", taskWait),
  .method("cancel", taskCancel),
  .method("invalidate", taskInvalidate),
  .method("is_valid", taskIsValid),
  .method("is_done", taskIsDone),
  .field("status", taskStatus),
  .field("name", taskName),
  .field("on_error", taskOnError, set: taskSetOnError),
  .metamethod("__close", taskClose),
  .metamethod("__tostring", taskToString),
]
