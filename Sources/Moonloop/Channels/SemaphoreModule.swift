// Semaphores in Lua: `ml.semaphore`, its handle, and its permits.

internal import LuaEmbed
internal import MoonloopCore

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

private let semaphoreOptions: [StaticString] = ["permits", "name"]

/// `ml.semaphore(permits)`, `ml.semaphore { permits, name }`
func moduleSemaphore(_ call: HostCall) throws -> Int32 {
  try call.requireRoom(for: .channels)
  var name = HandleName.none
  let permits: Int
  let limit = 1...(1 << 30)
  if call.stack.type(1) == .table {
    let options = try call.options(1, semaphoreOptions, example: "{ permits = 4 }")
    guard let count = try options.integer("permits", in: limit) else {
      throw call.mistake("needs 'permits', the number of permits")
    }
    permits = count
    if let text = try options.name() { name = HandleName(text, call.state) }
  } else {
    permits = try call.stack.integer(1, "the number of permits", in: limit)
  }
  let semaphore = ScriptSemaphore(
    name: name, permits: permits, madeAt: call.stack.position,
    HandleTally.Place(call.runtime.handles.channels))
  call.runtime.kinds.semaphore.push(call.stack.L).hold(semaphore)
  return 1
}

extension LuaHandle {
  fileprivate var semaphore: ScriptSemaphore { object(as: ScriptSemaphore.self)! }
}

extension HostCall {
  func selfSemaphore() throws(ScriptMistake) -> ScriptSemaphore {
    try selfHandle(runtime.kinds.semaphore).semaphore
  }
}

// MARK: Acquiring

/// `semaphore:acquire { timeout }`: a permit; or nil, message, code.
func semaphoreAcquire(_ call: HostCall) throws -> Int32 {
  let semaphore = try call.selfSemaphore()
  let timeout = try call.timeout(2)
  let coroutine = try call.requireWaiting()
  if semaphore.isClosed { return call.closed() }
  if semaphore.take() {
    semaphore.pushPermit(call.stack, call.runtime)
    return 1
  }
  return try call.wait(coroutine, timeout: timeout) { semaphore.waitToAcquire(call) }
}

/// `semaphore:try_acquire()`: the same at once, or nil, "no permit is free", "EAGAIN".
func semaphoreTryAcquire(_ call: HostCall) throws -> Int32 {
  let semaphore = try call.selfSemaphore()
  if semaphore.isClosed { return call.closed() }
  try call.requireOpen()
  guard semaphore.take() else { throw OperatingFailure("no permit is free", "EAGAIN") }
  semaphore.pushPermit(call.stack, call.runtime)
  return 1
}

/// `semaphore:with(fn, ...)`, first half: waits for a permit.
let semaphoreWith: LuaRawFunction = { L, context in
  host(L, context, "semaphore:with") { call in
    let semaphore = try call.selfSemaphore()
    try call.function(2, "the function")
    let coroutine = try call.requireWaiting()
    if semaphore.isClosed { return call.closed() }
    if semaphore.take() {
      semaphore.pushPermit(call.stack, call.runtime)
      return call.guardedCall()
    }
    return try call.wait(coroutine, timeout: nil) { semaphore.waitToAcquire(call) }
  }
}

/// The second half: the permit has been granted, and is on top; or the semaphore was closed.
let semaphoreWithSecond: LuaRawFunction = { L, context in
  host(L, context, "semaphore:with") { call in
    if call.runtime.kinds.permit.handle(call.stack.L, -1) == nil { return 3 }
    return call.guardedCall()
  }
}

extension HostCall {
  /// Calls the function at 2 with the values above it; the permit on top is returned at the end.
  fileprivate func guardedCall() -> Int32 {
    stack.rotate(2, 1)
    return LuaStatus.guarded(arguments: count - 3)
  }
}

// MARK: Releasing

/// `semaphore:release()`: releases any permit.
func semaphoreRelease(_ call: HostCall) throws {
  let semaphore = try call.selfSemaphore()
  guard semaphore.release(call.runtime) else {
    throw call.mistake(
      "\(semaphore.label(call.runtime)) already has all its permits "
        + "(\(semaphore.permits)): one was released twice, or never acquired")
  }
}

/// `permit:release()`, also `<close>`: idempotent.
let permitRelease: LuaRawFunction = { L, context in
  hostAction(L, context, "permit:release") { call in
    let handle = try call.selfHandle(call.runtime.kinds.permit)
    if handle.word == 1 {
      handle.word = 0
      _ = handle.semaphore.release(call.runtime)
    }
  }
}

func permitToString(_ call: HostCall) throws -> some LuaPushable {
  let handle = try call.selfHandle(call.runtime.kinds.permit)
  let end = handle.word == 1 ? "" : ", released"
  return "permit of \(handle.semaphore.label(call.runtime))\(end)"
}

// MARK: The end, and fields

let semaphoreInvalidate: LuaRawFunction = { L, context in
  hostAction(L, context, "semaphore:invalidate") { try $0.selfSemaphore().close($0.runtime) }
}

func semaphoreToString(_ call: HostCall) throws -> some LuaPushable {
  let semaphore = try call.selfSemaphore()
  let end = semaphore.isClosed ? ", closed" : ""
  return "\(semaphore.label(call.runtime)): \(semaphore.available) of \(semaphore.permits)\(end)"
}
