// Calls from Swift into Lua: chunks, functions, globals. All go through the one door.

internal import CLuaShims

extension LuaState {
  /// Runs what `push` leaves on a fresh coroutine (a function, then its arguments), and reads the
  /// results; in any case the coroutine is given back.
  func withCall<R>(
    _ what: StaticString,
    push: (LuaStack) throws(LuaError) -> Int, read: (LuaStack, Int) throws(LuaError) -> R
  ) throws(LuaError) -> R {
    try body.requireOpen(what)
    body.beginCall()
    defer { body.endCall() }
    let task = cml_task_take(record)
    let stack = LuaStack(L: cml_task_state(record, task))
    let count: Int
    do { count = try push(stack) } catch {
      cml_task_give_back(record, task)
      throw error
    }
    let result = cml_run(record, task, Int32(count), true)
    guard result.outcome == Int32(CML_RETURNED.rawValue) else { throw error(of: result, task) }
    defer { cml_task_give_back(record, task) }
    return try read(stack, Int(result.count))
  }

  /// How a call ended that has not returned; its coroutine is given back.
  func error(of result: cml_result, _ task: Int32) -> LuaError {
    switch outcome(result) {
    case .failed(let token), .stopped(let token): return takeError(of: token)
    case .nested, .returned, .suspended: return nestingError()
    }
  }

  private func nestingError() -> LuaError {
    LuaError(
      kind: .nesting,
      message: "calls of Lua and the host are nested more than \(limits.nesting) deep")
  }
}

extension LuaState {
  /// Compiles text and runs it.
  /// - Parameters:
  ///   - chunk: Lua source text; binary chunks are refused.
  ///   - name: What errors call it: `@file.lua` for a file, `=name` for anything else.
  ///   - environment: Its globals; nil: those of the state.
  /// - Throws: `LuaError`.
  public func run(
    _ chunk: String, name: String = "=chunk", environment: LuaTable? = nil
  ) throws(LuaError) {
    try withCall(
      "run",
      push: { stack throws(LuaError) in
        try load(chunk, name: name, environment, on: stack)
        return 0
      },
      read: { (_, _) throws(LuaError) in })
  }

  /// Compiles text, runs it, and reads its first result.
  /// - Throws: `LuaError`, also if the result is not of the type.
  public func evaluate<R: LuaReadable>(
    _ chunk: String, name: String = "=chunk", environment: LuaTable? = nil
  ) throws(LuaError) -> R {
    try withCall(
      "evaluate",
      push: { stack throws(LuaError) in
        try load(chunk, name: name, environment, on: stack)
        return 0
      },
      read: { (stack, _) throws(LuaError) in try stack.result(1) })
  }

  /// Compiles text once; call the result to run it any number of times.
  /// - Parameters:
  ///   - chunk: Lua source text; the arguments of a call are its `...`.
  ///   - name: As for `run`.
  ///   - environment: As for `run`.
  /// - Throws: `LuaError` of kind `.syntax`, or `.closed`.
  public func compile(
    _ chunk: String, name: String = "=chunk", environment: LuaTable? = nil
  ) throws(LuaError) -> LuaFunction {
    if isClosed { throw .closed }
    body.requireThread("compile")
    body.beginCall()
    defer { body.endCall() }
    let stack = self.stack
    try load(chunk, name: name, environment, on: stack)
    return LuaFunction(reference: LuaReference(popping: stack))
  }

  /// Makes a table for chunks to use as globals: it shows the state's globals, and keeps what is
  /// set.
  ///
  /// Chunks with the same environment share it. Modules and libraries are those of the state.
  /// - Throws: `LuaError` of kind `.closed`.
  /// - Note: For the state's thread.
  public func makeEnvironment() throws(LuaError) -> LuaTable {
    if isClosed { throw .closed }
    body.requireThread("makeEnvironment")
    body.beginCall()
    defer { body.endCall() }
    let stack = self.stack
    stack.newTable()
    stack.newTable(fields: 1)
    stack.push("__index")
    _ = cml_rawgeti(stack.L, registryIndex, 2)  // LUA_RIDX_GLOBALS
    stack.rawSet(-3)
    stack.popMetatable(of: -2)
    return LuaTable(reference: LuaReference(popping: stack))
  }

  private func load(
    _ chunk: String, name: String, _ environment: LuaTable?, on stack: LuaStack
  ) throws(LuaError) {
    try load(chunk, name: name, on: stack)
    guard let environment else { return }
    environment.reference.put(on: stack)
    cml_set_environment(stack.L)
  }

  /// Pushes the compiled text. [-0, +1, raises: -]
  package func load(_ chunk: String, name: String, on stack: LuaStack) throws(LuaError) {
    var chunk = chunk
    let error = chunk.withUTF8 { text in
      loadError(UnsafeRawBufferPointer(text), name: name, on: stack)
    }
    if let error { throw error }
  }

  /// The same for bytes, which need not be UTF-8. [-0, +1, raises: -]
  package func load(
    bytes: UnsafeRawBufferPointer, name: String, on stack: LuaStack
  ) throws(LuaError) {
    if let error = loadError(bytes, name: name, on: stack) { throw error }
  }

  private func loadError(
    _ bytes: UnsafeRawBufferPointer, name: String, on stack: LuaStack
  ) -> LuaError? {
    let text = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
    if cml_load(stack.L, text, bytes.count, name, "t") == 0 { return nil }
    defer { stack.pop() }
    return LuaError(
      kind: .syntax,
      message: stack.withBytes(-1) { LuaText.clean($0) } ?? "cannot compile")
  }
}

extension LuaStack {
  /// Reads a result of a function, or says what it is instead; of `nil, message`, the message too.
  package func result<R: LuaReadable>(
    _ index: Int32, of function: String? = nil
  ) throws(LuaError) -> R {
    guard let value = R.read(self, index) else { throw misfit(R.self, index, of: function) }
    return value
  }

  @inline(never)
  func misfit<R: LuaReadable>(
    _ type: R.Type, _ index: Int32, of function: String? = nil
  ) -> LuaError {
    let subject = "the result" + (function.map { " of '\($0)'" } ?? "")
    let reason = self.type(index) == .nil ? string(index + 1).map { ": \($0)" } : nil
    return LuaError(
      message: R.mismatch(LuaSlot(self, index)).message(of: subject) + (reason ?? ""))
  }

  /// The type of a value as text: for our userdata the name of its kind.
  package func describe(_ index: Int32) -> String {
    if let object = cml_any_object(L, index) {
      return String(cString: cml_kind_name(object.pointee.kind))
    }
    return type(index).name
  }
}
