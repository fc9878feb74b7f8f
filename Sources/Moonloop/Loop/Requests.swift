// The functions that scripts have queued on a loop, until they are performed or cancelled.

internal import LuaEmbed
internal import MoonloopCore

/// The requests that scripts made of one loop. Loop thread only.
package final class Requests {
  // Plain words, so that performing a request counts no reference: the runtime holds the context,
  // and the context its requests.
  private let runtime: Unmanaged<Runtime>
  private let context: Unmanaged<LoopContext>
  /// Those not yet performed, by the registry references of their handles.
  private var table: [Int32: ScriptRequest] = [:]
  /// Those of them that have a target.
  private var targets: [ScriptTarget: Set<Int32>] = [:]

  var count: Int { table.count }
  package var waiting: [Int32: ScriptRequest] {
    Steps.note(table.count)
    return table
  }

  init(_ runtime: Runtime, _ context: LoopContext) {
    self.runtime = .passUnretained(runtime)
    self.context = .passUnretained(context)
  }

  func add(_ request: ScriptRequest) {
    table[request.ref] = request
    if let target = request.target { targets[target, default: []].insert(request.ref) }
  }

  /// What the core performs.
  func body(of request: ScriptRequest) -> () -> Void {
    let door = Unmanaged.passUnretained(self)
    return {
      door._withUnsafeGuaranteedRef { requests in
        requests.context._withUnsafeGuaranteedRef { requests.perform(request, $0) }
      }
    }
  }

  private func perform(_ request: ScriptRequest, _ context: LoopContext) {
    let ref = request.ref
    if ref == 0 { return }
    let outer = context.running
    context.running = Running(.request(request))
    context.nameCall(context.runtime.explanation.recorded(request))
    let outcome = runtime._withUnsafeGuaranteedRef {
      $0.state.start(push: { stack in pushFunction(ref, on: stack) })
    }
    if case .returned = outcome {} else { context.tasks.settle(outcome, .request(request)) }
    context.running = outer
  }

  /// Pushes the function of a request and its arguments, and drops the handle.
  /// - Returns: The count of the arguments.
  private func pushFunction(_ ref: Int32, on stack: LuaStack) -> Int {
    stack.push(ref: ref)
    drop(ref, on: stack)
    stack.pushSlot(1, of: 1)
    stack.pushSlot(2, of: 1)
    stack.rotate(1, -1)  // the function, the arguments, the handle
    stack.pop()
    guard stack.type(2) == .table else {
      stack.pop()
      return 0
    }
    stack.push("n")
    _ = stack.rawGet(2)
    let count = stack.integer(-1) ?? 0
    stack.pop()
    guard stack.reserve(count + 1) else { return 0 }
    for place in 0..<count { _ = stack.rawGet(2, item: Int64(place + 1)) }
    stack.rotate(2, -1)
    stack.pop()
    return count
  }

  private func drop(_ ref: Int32, on stack: LuaStack) {
    if let request = table.removeValue(forKey: ref) {
      request.ref = 0
      request.charge = nil
      if let target = request.target { forget(ref, of: target) }
    }
    stack.dropRef(ref)
  }

  private func forget(_ ref: Int32, of target: ScriptTarget) {
    targets[target]?.remove(ref)
    if targets[target]?.isEmpty ?? false { targets[target] = nil }
  }

  /// Cancels all requests for a target.
  /// - Returns: How many there were.
  func cancel(for target: ScriptTarget) -> Int {
    let found = (targets[target] ?? []).compactMap { table[$0] }
    for request in found { cancel(request) }
    return found.count
  }

  /// Cancels a request if it still waits.
  @discardableResult
  func cancel(_ request: ScriptRequest) -> Bool {
    guard request.ref != 0 else { return false }
    let (runtime, context) = (runtime.takeUnretainedValue(), context.takeUnretainedValue())
    if let request = request.request { context.loop.cancel(request) }
    drop(request.ref, on: runtime.state.stack)
    return true
  }
}
