// What a module function gets: the stack, the runtime, and its own name for messages.

package import LuaEmbed
package import MoonloopCore

/// A mistake of the script: raised at the caller's line, with the function's name before it.
package typealias ScriptMistake = LuaArgumentError

/// A failure in operation: `nil, message, code` for the script.
package struct OperatingFailure: Error {
  var message: String
  var code: String
  init(_ message: String, _ code: String) {
    self.message = message
    self.code = code
  }
}

/// Any script value, raised unchanged.
struct RaisedValue: Error {
  let value: LuaReference
  init(_ value: LuaReference) { self.value = value }
}

/// One call of a host function by a script.
package struct HostCall {
  package let stack: LuaStack
  // The running state holds the runtime: a call by itself counts no reference.
  private let reference: Unmanaged<Runtime>
  /// The function as a script writes it, such as `loop:timer`: messages begin with it. Empty: the
  /// module in Lua that calls it says what failed.
  let name: StaticString

  @inline(__always)
  init(_ L: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ name: StaticString) {
    reference = Unmanaged.fromOpaque(context!)
    stack = LuaStack(L: L!)
    self.name = name
  }

  var runtime: Runtime { reference.takeUnretainedValue() }
  package var loop: Loop { withRuntime { $0.loop } }
  package var state: LuaState { withRuntime { $0.state } }
  @inline(__always)
  var kinds: Kinds { withRuntime { $0.kinds } }
  @inline(__always)
  var timers: TimerStore { withLoop { $0.timers } }

  /// Runs a body on the runtime without counting a reference, for frequent calls.
  @inline(__always)
  func withRuntime<Result>(_ body: (Runtime) throws -> Result) rethrows -> Result {
    try reference._withUnsafeGuaranteedRef(body)
  }

  /// The same with the loop.
  @inline(__always)
  func withLoop<Result>(_ body: (Loop) throws -> Result) rethrows -> Result {
    try withRuntime { try $0.withLoop(body) }
  }

  /// A mistake that is reported as "loop:timer: 'every' must be …".
  func mistake(_ text: String, hint: String? = nil) -> ScriptMistake {
    ScriptMistake(text, hint: hint)
  }

  /// Throws if the state is closed: nothing may be made on the loop any more. Functions that make
  /// items, timers, tasks or requests call this first.
  func requireOpen() throws(ScriptMistake) {
    if runtime.isClosing { throw mistake("the script has ended; a finalizer can only clean up") }
    if runtime.loopContext.isEnding {
      throw mistake("the script is ending; a handler can only clean up")
    }
  }

  /// The function as a script writes it: what all items have is named for the kind of this one.
  var title: String {
    let name = "\(name)"
    guard name.hasPrefix("item"), let (_, tag) = stack.taggedHandle(1) else { return name }
    return runtime.itemKinds[tag: tag].word + name.dropFirst(4)
  }

  /// A failure in operation with the function's name before it.
  fileprivate func named(_ failure: String) -> String {
    name.utf8CodeUnitCount == 0 ? failure : "\(title): \(failure)"
  }

  /// The text of a mistake that is a failure in operation: a value needs no place.
  func told(_ mistake: ScriptMistake) -> String { mistake.message(in: title, site: "") }

  /// Leaves the message with the place of the call on the stack, to be raised.
  func raise(_ mistake: ScriptMistake) -> Int32 {
    stack.push(mistake.message(in: title, site: stack.site))
    return LuaStatus.raise
  }
}

/// Runs the body of a host function, and turns what it throws into Lua results or errors.
@inline(__always)
package func host(
  _ L: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ name: StaticString,
  _ body: (HostCall) throws -> Int32
) -> Int32 {
  let call = HostCall(L, context, name)
  do { return try body(call) } catch { return failed(call, error) }
}

/// The same for a method of the loop.
@inline(__always)
func hostLoop(
  _ L: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ name: StaticString,
  _ body: (HostCall) throws -> Int32
) -> Int32 {
  host(L, context, name) { call in
    try call.requireLoop()
    return try body(call)
  }
}

/// The same for a function with one result, which the body returns.
@inline(__always)
func hostValue<Value: LuaPushable>(
  _ L: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ name: StaticString,
  _ body: (HostCall) throws -> Value
) -> Int32 {
  host(L, context, name) { call in
    try body(call).push(on: call.stack)
    return 1
  }
}

/// The same for a function without results.
@inline(__always)
func hostAction(
  _ L: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ name: StaticString,
  _ body: (HostCall) throws -> Void
) -> Int32 {
  host(L, context, name) { call in
    try body(call)
    return 0
  }
}

@inline(never)
private func failed(_ call: HostCall, _ error: any Error) -> Int32 {
  switch error {
  case let mistake as ScriptMistake: return call.raise(mistake)
  case let raised as RaisedValue:
    call.stack.push(raised.value)
    return LuaStatus.raise
  case let failure as OperatingFailure: return nothing(call, failure.message, failure.code)
  case let error as LoopError:
    if case .system = error { return nothing(call, call.named("\(error)"), error.code) }
    return call.raise(ScriptMistake("\(error)"))
  case let error as SystemError: return nothing(call, call.named("\(error)"), error.name)
  default: return call.state.raise(error, in: call.title, on: call.stack)
  }
}

/// Pushes `nil, message, code`.
private func nothing(_ call: HostCall, _ message: String, _ code: String) -> Int32 {
  call.stack.pushNil()
  call.stack.push(message)
  call.stack.push(code)
  return LuaStatus.results(3)
}
