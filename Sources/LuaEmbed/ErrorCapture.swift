// Makes a LuaError from a failed coroutine, whose stack is still intact; and carries Swift errors
// through Lua.

internal import CLuaShims

/// The box in which a Swift error travels.
final class ErrorBox {
  let error: any Error
  init(_ error: any Error) { self.error = error }
}

extension LuaState {
  /// Reads the error of a task that failed or was stopped, and gives its coroutine back.
  /// - Parameter wantsTraceback: A traceback costs microseconds, so leave it out if it is not read.
  package func takeError(of task: LuaCoroutine, wantsTraceback: Bool = true) -> LuaError {
    let stack = LuaStack(L: cml_task_state(record, task.index))
    var error = readError(on: stack)
    if wantsTraceback {
      let below = takePassing(error, stack)
      error.traceback = below + Self.callers(Self.frames(of: stack.L), of: error)
    }
    if !error.isStop { onFailure?(stack, error) }
    if let second = close(task.index) { onCloseError?(second) }
    return error
  }

  /// The frames below the host function that passed the same error on.
  private func takePassing(_ error: LuaError, _ stack: LuaStack) -> [LuaError.Frame] {
    guard let passing = body.passing.take() else { return error.traceback }
    guard error.traceback.isEmpty else { return error.traceback }
    if let value = passing.value {
      guard value.belongs(to: self) else { return [] }  // another state's error, raised in a box
      value.put(on: stack)
      let isSame = stack.isSame(-1, -2)
      stack.pop()
      return isSame ? passing.traceback : []
    }
    return error.value == nil && error.message == passing.message ? passing.traceback : []
  }

  /// Closes a task that failed or is suspended, and gives its coroutine back.
  /// - Returns: The error that closing its variables raised.
  func close(_ task: Int32) -> LuaError? {
    let result = cml_task_close(record, task)
    defer { cml_task_give_back(record, task) }
    if result.outcome == Int32(CML_RETURNED.rawValue) { return nil }
    return readError(on: LuaStack(L: cml_task_state(record, task)))
  }

  private func readError(on stack: LuaStack) -> LuaError {
    if cml_is_stop(record, stack.L) { return stopError() }
    switch stack.type(-1) {
    case .string:
      let error = LuaError(textOn: stack)
      if error.message == "C stack overflow" {
        return LuaError(kind: .nesting, message: "calls of Lua and C are nested too deep")
      }
      return error
    case .userdata:
      if let box = stack.object(-1, of: errorKind, as: ErrorBox.self) { return unwrap(box, stack) }
      fallthrough
    default:
      var error: LuaError
      do throws(LuaError) {
        error = try describeError(on: stack)
      } catch { return error }
      if stack.type(-1) == .table { error.code = stack.rawField(-1, "code") }
      cml_pushvalue(stack.L, -1)
      error.value = LuaReference(popping: stack)
      return error
    }
  }

  private func unwrap(_ box: ErrorBox, _ stack: LuaStack) -> LuaError {
    if let error = box.error as? LuaError { return error }
    cml_pushvalue(stack.L, -1)
    return LuaError(
      message: LuaText.clean("\(box.error)"), code: (box.error as? LuaFailure)?.code,
      underlying: box.error, value: LuaReference(popping: stack))
  }

  /// Reports an error in a finalizer to the host; C has its text, or why it was stopped.
  fileprivate func tell(finalizerError text: String?) {
    let error: LuaError
    if let text {
      error = LuaError(message: LuaText.clean(text))
    } else {
      let stop = stopError()
      error = LuaError(kind: stop.kind, message: "in a finalizer (__gc): \(stop.message)")
    }
    if let onFinalizerError = body.onFinalizerError {
      body.beginCall()
      defer { body.endCall() }
      return onFinalizerError(error)
    }
    LuaReporter().report("lua: \(error.message)")
  }

  private func stopError() -> LuaError {
    stops.note()
    switch cml_stop_reason(record) {
    case 2:
      return LuaError(
        kind: .memoryLimit,
        message: limits.memory.map { "memory limit of \($0) bytes exceeded" }
          ?? "not enough memory")
    case 3: return LuaError(kind: .interrupted, message: "interrupted")
    case 4:
      let limit = limits.instructions.map { "\($0)" } ?? "its limit of"
      return LuaError(kind: .timeLimit, message: "call-out took more than \(limit) instructions")
    default:
      let limit = limits.callout.map { "\($0)" } ?? "its limit"
      return LuaError(kind: .timeLimit, message: "call-out took longer than \(limit)")
    }
  }

  /// The text of an error value that is not a string: its `__tostring` runs under protection and
  /// the limits of a call-out; if that fails, a table's `message`, or the type.
  /// - Throws: What stopped that call.
  private func describeError(on stack: LuaStack) throws(LuaError) -> LuaError {
    let type = stack.type(-1)
    let plain = LuaError(message: "(error object is a \(type.name) value)")
    guard type != .nil, stack.reserve(4) else { return plain }
    if type == .table, !cml_has_metafield(stack.L, -1, "__tostring") {
      return messageField(on: stack) ?? plain
    }
    let task = cml_task_take(record)
    let inner = LuaStack(L: cml_task_state(record, task))
    cml_push_tostring(inner.L)
    cml_pushvalue(stack.L, -1)
    cml_xmove(stack.L, inner.L, 1)
    let result = cml_run(record, task, 1, true)
    var described: LuaError?
    if result.outcome == Int32(CML_RETURNED.rawValue) {
      if inner.type(-1) == .string { described = LuaError(textOn: inner) }
      cml_task_give_back(record, task)
    } else if result.outcome == Int32(CML_STOPPED.rawValue) {
      var stop = stopError()
      stop.message = "in __tostring of an error object: \(stop.message)"
      _ = close(result.task)
      throw stop
    } else {
      abandon(result)
    }
    return described ?? (type == .table ? messageField(on: stack) : nil) ?? plain
  }

  /// What a table's `message` says.
  private func messageField(on stack: LuaStack) -> LuaError? {
    stack.push("message" as StaticString)
    defer { stack.pop() }
    _ = cml_rawget(stack.L, -2)
    return stack.type(-1) == .string ? LuaError(textOn: stack) : nil
  }

  /// Gives back a task whose outcome is not needed.
  func abandon(_ result: cml_result) {
    if result.outcome == Int32(CML_NESTED.rawValue) {
      cml_task_give_back(record, result.task)
    } else {
      if result.outcome == Int32(CML_STOPPED.rawValue) { stops.note() }
      _ = close(result.task)
    }
  }

  /// Without calls in our own modules, which raise their callers' errors and call scripts: readers
  /// cannot look into them. A function of C without a name that raised the error is also ours.
  private static func callers(_ all: [LuaError.Frame], of error: LuaError) -> [LuaError.Frame] {
    let frames = all.count > 1 && all[0].isNameless ? Array(all.dropFirst()) : all
    func isOurs(_ frame: LuaError.Frame) -> Bool {
      // A script's folder may be called so too, but its files are not modules.
      let isModule = frame.source.hasPrefix("moonloop/") && !frame.source.hasSuffix(".lua")
      return isModule || frame.source == "moonloop"
    }
    if error.message.hasPrefix("moonloop/") || !frames.contains(where: isOurs) { return frames }
    guard let script = frames.firstIndex(where: { $0.line > 0 && !isOurs($0) }) else { return [] }
    let ours = frames[..<script].lastIndex(where: isOurs)
    return frames[(ours.map { $0 + 1 } ?? 0)...].filter { !isOurs($0) }
  }

  /// The active calls of a coroutine: the innermost ten and the outermost eleven.
  package static func frames(of L: OpaquePointer) -> [LuaError.Frame] {
    let count = Int(cml_frame_count(L))
    var frames: [LuaError.Frame] = []
    var raw = cml_frame()
    var level = 0
    while level < count, cml_frame_at(L, Int32(level), &raw) {
      frames.append(LuaError.Frame(raw))
      level += 1
      if level == 10 && count > 21 {
        frames.append(
          LuaError.Frame(
            source: "...", line: count - 21, function: nil, role: "omission"))
        level = count - 11
      }
    }
    return frames
  }

  func makeErrorKind() -> OpaquePointer {
    let L = cml_running(record)!
    let kind = cml_kind_new(
      record, "error", 0, { Unmanaged<ErrorBox>.fromOpaque($0!.pointee.pointer!).release() }, nil,
      nil)!
    cml_kind_begin(kind, L, 0)
    LuaHostFunction("error") { [unowned self] stack in  // Lua's side, which outlives it
      let box = stack.object(1, of: errorKind, as: ErrorBox.self)
      stack.push(LuaText.clean(box.map { "\($0.error)" } ?? "error"))
      return 1
    }.push(on: stack)
    cml_kind_set(kind, L, Int32(CML_META), "__tostring")
    cml_kind_seal(kind, L)
    return kind
  }

  /// Pushes what `error` is raised as: the Lua value it came from, or a box. [-0, +1, raises: -]
  package func push(error: any Error, on stack: LuaStack) {
    if let error = error as? LuaError, !error.traceback.isEmpty { body.passing = error }
    if let value = (error as? LuaError)?.value, value.belongs(to: self) {
      value.put(on: stack)
      return
    }
    if let error = error as? LuaError, error.kind == .runtime || error.kind == .syntax {
      return stack.push(messageOf: error)
    }
    guard let object = cml_push_retained(stack.L, errorKind) else {
      stack.pop()
      stack.push("\(error)")
      return
    }
    object.pointee.pointer = Unmanaged.passRetained(ErrorBox(error)).toOpaque()
    object.pointee.live = true
  }
}

extension LuaError {
  /// With the string on top of the stack as its message. [-0, +0, raises: -]
  fileprivate init(textOn stack: LuaStack) {
    var isWhole = false
    let message = stack.withBytes(-1) { bytes in
      let message = LuaText.clean(bytes)
      isWhole = message.utf8.elementsEqual(bytes)
      return message
    }
    self.init(message: message ?? "")
    if isWhole || !stack.reserve(1) { return }
    cml_pushvalue(stack.L, -1)
    text = LuaReference(popping: stack)
  }
}

extension LuaStack {
  /// Pushes an error's message, as Lua has it. [-0, +1, raises: -]
  package func push(messageOf error: LuaError) {
    if let text = error.text, text.belongs(to: state) { return text.put(on: self) }
    push(error.message)
  }

  /// The Swift object behind one of our userdata, if it is of this kind.
  func object<T: AnyObject>(_ index: Int32, of kind: OpaquePointer, as: T.Type) -> T? {
    guard let object = cml_to_object(L, index, kind), let pointer = object.pointee.pointer else {
      return nil
    }
    return Unmanaged<T>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Whether a value has a metamethod.
  package func hasMetafield(_ index: Int32, _ name: StaticString) -> Bool {
    name.withUTF8Buffer { cml_has_metafield(L, index, $0.baseAddress!) }
  }

  /// A string field, read without metamethods; nil if it is not a string.
  package func rawField(_ index: Int32, _ name: StaticString) -> String? {
    let index = cml_absindex(L, index)
    guard reserve(2) else { return nil }
    push(name)
    _ = cml_rawget(L, index)
    defer { pop() }
    return string(-1)
  }
}

extension LuaError.Frame {
  init(_ raw: cml_frame) {
    let name = LuaText.clean(text(of: raw.name))
    let kind = text(of: raw.name_kind)
    source = LuaText.clean(text(of: raw.source))
    line = max(0, Int(raw.line))
    switch raw.what {
    case CChar(UInt8(ascii: "m")): (role, function) = ("main chunk", nil)
    case CChar(UInt8(ascii: "C")):
      role = kind == "metamethod" ? kind : "function"
      function = name.isEmpty ? nil : name
    default:
      role = kind.isEmpty || kind == "field" || kind == "global" ? "function" : kind
      function = name.isEmpty ? "\(source):\(raw.line_defined)" : name
    }
  }
}

/// The text of a C array that was imported as a tuple.
private func text<T>(of tuple: T) -> String {
  withUnsafeBytes(of: tuple) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}

func tellFinalizerError(
  _ state: UnsafeMutableRawPointer?, _ text: UnsafePointer<CChar>?, _ reason: Int32
) {
  // C calls this only while the state is open or in `close`.
  Unmanaged<LuaState>.fromOpaque(state!)._withUnsafeGuaranteedRef { state in
    state.tell(finalizerError: text.map { String(cString: $0) })
  }
}
