// What scripts see of semaphores and permits.

internal import LuaEmbed

let semaphoreEntries: [LuaEntry] = [
  .method("acquire") { host($0, $1, "semaphore:acquire", semaphoreAcquire) },
  .method("try_acquire") { host($0, $1, "semaphore:try_acquire", semaphoreTryAcquire) },
  .method("with", semaphoreWith, then: semaphoreWithSecond),
  .method("release") { hostAction($0, $1, "semaphore:release", semaphoreRelease) },
  .method("invalidate", semaphoreInvalidate),
  .method("is_valid") {
    hostValue($0, $1, "semaphore:is_valid") { !(try $0.selfSemaphore().isClosed) }
  },
  .field("name") { hostValue($0, $1, "semaphore.name") { try $0.selfSemaphore().name } },
  .field("permits") { hostValue($0, $1, "semaphore.permits") { try $0.selfSemaphore().permits } },
  .field("available") {
    hostValue($0, $1, "semaphore.available") { try $0.selfSemaphore().available }
  },
  .metamethod("__close", semaphoreInvalidate),
  .metamethod("__tostring") { hostValue($0, $1, "tostring", semaphoreToString) },
]

let permitEntries: [LuaEntry] = [
  .method("release", permitRelease),
  .method("invalidate", permitRelease),
  .method("is_valid") {
    hostValue($0, $1, "permit:is_valid") { try $0.selfHandle($0.runtime.kinds.permit).word == 1 }
  },
  .metamethod("__close", permitRelease),
  .metamethod("__tostring") { hostValue($0, $1, "tostring", permitToString) },
]
