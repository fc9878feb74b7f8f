// The messages between a host and a guest's process: tables, which are taken apart here. Messages
// from the process are checked field by field, because they could contain anything.

internal import LuaEmbed
internal import MoonloopCore

extension LuaStack {
  /// A string field as bytes, read without metamethods; nil if it is not a string.
  func rawBytes(_ index: Int32, _ name: StaticString) -> [UInt8]? {
    let index = absolute(index)
    push(name)
    defer { pop() }
    guard rawGet(index) == .string else { return nil }
    return withBytes(-1) { Array($0) }
  }

  /// The same for a whole number.
  func rawInteger(_ index: Int32, _ name: StaticString) -> Int? {
    let index = absolute(index)
    push(name)
    defer { pop() }
    return rawGet(index) == .number ? integer(-1) : nil
  }

  /// Marks the table on top of the stack as an error.
  func setRaised(_ message: String) {
    setField("raised", true)
    setField("value", message)
  }
}

extension Runtime {
  /// The maximum number of values in a call or its results.
  private static let itemLimit = 1000

  /// Pushes a message while a body reads it; a message that is not a table is ignored.
  @discardableResult
  func reading<Result>(
    _ message: StructuredClone, _ body: (LuaStack) -> Result
  ) -> Result? {
    let stack = state.stack
    guard stack.reserve(Self.itemLimit + 16) else { return nil }
    let height = Int32(stack.count)
    defer { stack.setCount(height) }
    message.push(on: stack, pushAttachment: push)
    return stack.type(-1) == .table ? body(stack) : nil
  }

  /// Sets a list of values, with their number `n`, in the table on top of the stack.
  func setItems(_ values: [StructuredClone], on stack: LuaStack) {
    stack.setField("n", values.count)
    for (place, value) in values.enumerated() {
      value.push(on: stack, pushAttachment: push)
      stack.rawSet(-2, item: Int64(place + 1))
    }
  }

  /// The list of values in the table on top of the stack.
  func items(on stack: LuaStack) -> GuestCallOutcome {
    guard let count = stack.rawInteger(-1, "n"), count >= 0 else { return .failure(.ended) }
    if count > Self.itemLimit {
      let message =
        "\(count) values are too many: an isolated guest takes and returns "
        + "\(Self.itemLimit) at most"
      return .failure(.refused(LuaError(message: message)))
    }
    var values: [StructuredClone] = []
    for place in 0..<count {
      _ = stack.rawGet(-1, item: Int64(place + 1))
      defer { stack.pop() }
      do throws(StructuredClone.Obstacle) {
        values.append(try StructuredClone(stack, -1) { attachment($0, $1) })
      } catch { return .failure(.refused(LuaError(message: error.what))) }
    }
    return .success(values)
  }

  /// A call's outcome: its results; `refused`, with why; or `raised`, with the value.
  func outcome(on stack: LuaStack) -> GuestCallOutcome {
    if let why = stack.rawField(-1, "refused") { return .failure(.refused(LuaError(message: why))) }
    stack.push("raised" as StaticString)
    let hasRaised = stack.rawGet(-2) != .nil
    stack.pop()
    if !hasRaised { return items(on: stack) }
    stack.push("value" as StaticString)
    defer { stack.pop() }
    _ = stack.rawGet(-2)
    if let bytes = stack.withBytes(-1, { Array($0) }) {
      let error = LuaError(message: bytes.withUnsafeBytes { LuaText.clean($0) })
      return .failure(.raised(WorkerFailure(error, bytes: bytes)))
    }
    let error = LuaError(message: "an error of the guest")
    let value = try? StructuredClone(stack, -1) { attachment($0, $1) }
    return .failure(.raised(WorkerFailure(error, value: value)))
  }

  /// An error that the process reports.
  func failure(on stack: LuaStack) -> WorkerFailure? {
    stack.push("error" as StaticString)
    _ = stack.rawGet(-2)
    let whole = stack.withBytes(-1) { Array($0) }
    stack.pop()
    guard let whole else { return nil }
    let bytes = whole.count <= LuaText.bound ? whole : nil
    let lines = (stack.rawField(-1, "traceback") ?? "").split(separator: "\n").prefix(40)
    let kind = stack.rawField(-1, "kind").flatMap(LuaError.Kind.init) ?? .runtime
    let error = LuaError(
      // An interrupt would end the host's run.
      kind: kind.isLimit ? kind : .runtime,
      message: whole.withUnsafeBytes { LuaText.clean($0) }, code: stack.rawField(-1, "code"),
      traceback: lines.map {
        .init(source: LuaText.clean(String($0.prefix(400))), line: 0, function: nil, role: "text")
      })
    stack.push("value" as StaticString)
    defer { stack.pop() }
    if stack.rawGet(-2) == .nil { return WorkerFailure(error, bytes: bytes) }
    let value = try? StructuredClone(stack, -1) { attachment($0, $1) }
    return WorkerFailure(error, bytes: bytes, value: value)
  }
}
