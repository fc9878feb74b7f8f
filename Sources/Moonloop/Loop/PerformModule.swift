// Blocks and perform requests in Lua: `loop:perform`, `loop:perform_after` (D13).

internal import LuaEmbed
internal import MoonloopCore

/// What the handle of a request offers.
let requestEntries: [LuaEntry] = [
  // Whether it was still waiting (R115).
  .method("cancel") {
    hostValue($0, $1, "request:cancel") { $0.runtime.requests.cancel(try $0.selfRequest()) }
  },
  .method("invalidate", requestInvalidate),
  .method("is_pending", requestIsPending),
  .method("is_valid", requestIsPending),
  .metamethod("__close", requestInvalidate),
  .metamethod("__tostring") { hostValue($0, $1, "tostring", requestToString) },
]

/// A function that was queued on the loop. Loop thread only.
package final class ScriptRequest {
  /// Its name in reports: "perform" or "perform_after".
  let kind: StaticString
  /// The modes that it is for; what the function makes and waits for is in them too (D62).
  let modes: [ModeName]
  let madeAt: LuaPosition
  /// The registry reference of its handle while it waits; 0 afterwards.
  var ref: Int32 = 0
  var request: PerformRequest?
  /// The identity of its target; nil: none.
  let target: ScriptTarget?
  /// Counts it as memory of the scripts while it waits.
  var charge: MemoryCharge?
  private let modesCharge: MemoryCharge?

  /// The approximate size of a request outside Lua.
  static let footprint = 512
  /// What each of its modes adds.
  static let perMode = 32

  init(
    _ kind: StaticString, _ modes: [ModeName], _ target: ScriptTarget?, madeAt place: LuaPosition,
    _ state: LuaState
  ) {
    self.kind = kind
    self.modes = modes
    modesCharge = state.charge(modes)
    self.target = target
    madeAt = place
  }
}

private let performOptions: [StaticString] = ["modes", "wake", "as_source", "order", "target"]
private let performAfterOptions: [StaticString] = ["after", "modes", "target"]

/// `loop:perform(f, …)`, `loop:perform({ modes, wake, as_source, order, target }, f, …)`: performed
/// once by the next pass in one of the modes.
///
/// `wake = false` is the bare form (R107); `as_source = true` counts as a source (R111).
func loopPerform(_ call: HostCall) throws -> Int32 {
  var modes: [ModeName] = [.default]
  var wakes = true
  var asSource = false
  var order = 0
  var target: ScriptTarget?
  var function: Int32 = 2
  if call.stack.type(2) == .table {
    let options = try call.options(2, performOptions, example: "{ modes = \"common\" }")
    modes = try options.modes() ?? modes
    wakes = try options.boolean("wake") ?? true
    asSource = try options.boolean("as_source") ?? false
    order = try options.integer("order", in: .min ... .max) ?? 0
    target = options.target("target")
    function = 3
  }
  let request = try call.pushRequest("perform", modes, target, function)
  let body = call.runtime.requests.body(of: request)
  request.request = call.loop.performHere(
    modes: modes, wakes: wakes, asSource: asSource, order: order, body)
  return 1
}

/// `loop:perform_after(seconds, f, …)`, `loop:perform_after({ after, modes, target }, f, …)`: a
/// one-shot timer (R114).
func loopPerformAfter(_ call: HostCall) throws -> Int32 {
  var modes: [ModeName] = [.default]
  var target: ScriptTarget?
  let delay: Int64
  if call.stack.type(2) == .table {
    let options = try call.options(2, performAfterOptions, example: "{ after = 1 }")
    guard let after = try options.seconds("after", .notNegative) else {
      throw call.mistake("needs 'after', the delay in seconds")
    }
    delay = after
    modes = try options.modes() ?? modes
    target = options.target("target")
  } else {
    delay = try call.seconds(2, "the delay", .notNegative)
  }
  if !call.timers.hasRoom(upTo: call.loop.timerLimit) { throw call.tooManyTimers() }
  let request = try call.pushRequest("perform_after", modes, target, 3)
  let body = call.runtime.requests.body(of: request)
  request.request = call.loop.perform(after: .nanoseconds(delay), modes: modes, body)
  if let timer = request.request?.timer {
    call.runtime.handles.setPlace(of: timer, request.madeAt)
  }
  return 1
}

extension HostCall {
  /// Makes the handle of a request for the function at an index and its arguments; the loop holds
  /// it until it was performed. [-?, +1]
  fileprivate func pushRequest(
    _ kind: StaticString, _ modes: [ModeName], _ target: ScriptTarget?, _ function: Int32
  ) throws(ScriptMistake) -> ScriptRequest {
    try self.function(function, "the function")
    try requireRoom(for: .performs)
    let arguments = count - function
    if arguments > 0 {
      stack.newTable(items: arguments, fields: 1)
      stack.setField("n", Int(arguments))
      stack.rotate(function + 1, 1)
      for place in stride(from: arguments, through: 1, by: -1) {
        stack.rawSet(function + 1, item: Int64(place))
      }
    } else {
      stack.pushNil()
    }
    let request = ScriptRequest(kind, modes, target, madeAt: stack.position, state)
    runtime.kinds.request.push(stack.L).hold(request)
    stack.rotate(-3, 1)
    stack.popSlot(2, of: -3)
    stack.popSlot(1, of: -2)
    stack.pushValue(-1)
    request.ref = stack.popRef()
    request.charge = state.charge(ScriptRequest.footprint + modes.count * ScriptRequest.perMode)
    runtime.requests.add(request)
    return request
  }

  func selfRequest() throws(ScriptMistake) -> ScriptRequest {
    let handle = try selfHandle(runtime.kinds.request)
    return handle.object(as: ScriptRequest.self)!
  }
}

/// `loop:cancel_performs(target)`: cancels all requests for it; returns how many there were (R146).
func loopCancelPerforms(_ call: HostCall) throws -> some LuaPushable {
  try call.requireLoop()
  call.stack.setCount(2)
  guard let target = ScriptTarget(call.stack, 2) else {
    throw call.mistake("takes the target, got \(call.given(2))")
  }
  return call.runtime.requests.cancel(for: target)
}

// MARK: Methods

let requestInvalidate: LuaRawFunction = { L, context in
  hostAction(L, context, "request:invalidate") { $0.runtime.requests.cancel(try $0.selfRequest()) }
}

let requestIsPending: LuaRawFunction = { L, context in
  hostValue(L, context, "request:is_pending") { try $0.selfRequest().ref != 0 }
}

func requestToString(_ call: HostCall) throws -> some LuaPushable {
  let request = try call.selfRequest()
  let end = request.ref == 0 ? ", over" : ""
  return call.runtime.label(of: .request(request)) + end
}
