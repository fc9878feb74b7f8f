// What scripts see of semaphores and permits.

internal import LuaEmbed

let semaphoreEntries: [LuaEntry] = [
  .method("acquire", semaphoreAcquire),
  .method("try_acquire", semaphoreTryAcquire),
  .method("with", semaphoreWith, then: semaphoreWithSecond),
  .method("release", semaphoreRelease),
  .method("invalidate", semaphoreInvalidate),
  .method("is_valid", semaphoreIsValid),
  .field("name", semaphoreName),
  .field("permits", semaphorePermits),
  .field("available", semaphoreAvailable),
  .metamethod("__close", semaphoreInvalidate),
  .metamethod("__tostring", semaphoreToString),
]

let permitEntries: [LuaEntry] = [
  .method("release", permitRelease),
  .method("invalidate", permitRelease),
  .method("is_valid", permitIsValid),
  .metamethod("__close", permitRelease),
  .metamethod("__tostring", permitToString),
]
