// Signals in Lua: `loop:signal`, `ml.signal`, read from a signalfd like any descriptor (D30).

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// What a signal handle offers.
let signalEntries: [LuaEntry] =
  [
    .field("signals") { host($0, $1, "signal.signals", signalNames) }
  ] + itemEntries

private let signalOptions: [StaticString] = [
  "name", "modes", "keep_alive", "on_error", "handler",
]

/// `loop:signal(names, handler)`, `loop:signal { names, handler, name, modes, … }`
func makeSignal(_ call: HostCall, _ entry: ItemEntry) throws -> Int32 {
  let (stack, first) = (call.stack, entry.options)
  if stack.type(first + 1) == .function || stack.type(first) != .table {
    let numbers = try call.signalNumbers(first)
    try call.function(first + 1, "the handler")
    stack.setCount(first + 1)
    return try call.pushSignal(numbers, nil, modes: entry == .loop ? [.default] : nil)
  }
  let options = try call.options(
    first, signalOptions, example: "{ \"term\", function(signal, name) … end }", unnamed: 2)
  _ = stack.rawGet(first, item: 1)
  let numbers = try call.signalNumbers(stack.absolute(-1))
  stack.pop()
  let modes = try call.modesOption(options, entry)
  try options.pushSecondHandler()
  return try call.pushSignal(numbers, options, modes: modes)
}

extension HostCall {
  /// Makes the handle for the handler on top of the stack. [-1, +1]
  fileprivate func pushSignal(
    _ numbers: [Int32], _ options: Options?, modes: [ModeName]?
  ) throws -> Int32 {
    try requireRoom()
    guard loop.kernel is LinuxKernel else {
      throw OperatingFailure("\(self.name): a simulated system has no signals", "ENOSYS")
    }
    let name = try options?.name() ?? numbers.map(SignalNumber.name).joined(separator: ",")
    let kept = try remake(
      SignalKind.self, name, handlers: 1, options, modes: modes
    ) { SignalKind.watch(of: $0)?.numbers == numbers }
    if kept != nil { return 1 }
    let kind = kind(SignalKind.self)
    // Unowned: the runtime holds the kind, and ends all items before it goes.
    let (watch, source) = try Loop.SignalWatch.make(numbers, name: name, on: loop) {
      [unowned kind] in kind.deliver($0, $1)
    }
    source.onFailure = self.kind(DescriptorKind.self).failure
    source.maker.state = watch
    push(kind, source, handlers: 1)
    return try finish(source, options, modes: modes)
  }

  /// The numbers for a name, a number or a list of them; each can be handled.
  fileprivate func signalNumbers(_ index: Int32) throws(ScriptMistake) -> [Int32] {
    guard stack.type(index) == .table else { return [try handledSignal(index)] }
    var numbers: [Int32] = []
    var place: Int64 = 1
    while stack.rawGet(index, item: place) != .nil {
      defer { stack.pop() }
      let number = try handledSignal(stack.absolute(-1))
      if !numbers.contains(number) { numbers.append(number) }
      place += 1
    }
    stack.pop()
    if numbers.isEmpty {
      throw mistake("needs the name of a signal, or a list of names", hint: "such as \"term\"")
    }
    return numbers
  }

  /// The number of the signal at an index.
  /// - Parameter known: The names that a misspelt one may mean.
  func signalNumber(
    _ index: Int32, among known: @autoclosure () -> [String] = SignalNumber.names
  ) throws(ScriptMistake) -> Int32 {
    if stack.type(index) == .number, let number = stack.integer(index) {
      if let number = Int32(exactly: number), SignalNumber.exists(number) { return number }
      throw mistake("there is no signal \(number)", hint: "use a name, such as \"term\"")
    }
    guard stack.type(index) == .string, let name = stack.string(index) else {
      throw mistake("the signal must be a name such as \"term\", or a number, got \(given(index))")
    }
    if let number = SignalNumber.number(of: name) { return number }
    let word = name.lowercased()
    let bare = word.hasPrefix("sig") ? String(word.dropFirst(3)) : word
    throw mistake(
      "unknown signal \"\(name)\"",
      hint: LuaText.nearest(to: bare, among: known()).map { "did you mean \"\($0)\"?" }
        ?? "use one of \(known().joined(separator: ", "))")
  }

  private func handledSignal(_ index: Int32) throws(ScriptMistake) -> Int32 {
    let number = try signalNumber(index, among: handledNames)
    let name = SignalNumber.name(of: number)
    let reason: (why: String, hint: String)?
    switch SignalNumber.obstacle(number) {
    case .unblockable:
      reason = ("no process can catch it", "handle \"\(name == "kill" ? "term" : "tstp")\"")
    case .fault:
      reason = ("it reports a fault in the program itself", "fix the fault")
    case .library: reason = ("the C library reserves it", "use \"rtmin\" or one above it")
    case nil: reason = ownReason(number, name)
    }
    guard let reason else { return number }
    throw mistake("\"\(name)\" cannot be handled: \(reason.why)", hint: reason.hint)
  }

  /// The names of the signals that can be handled.
  private var handledNames: [String] {
    SignalNumber.names.filter { name in
      guard let number = SignalNumber.number(of: name) else { return false }
      return SignalNumber.obstacle(number) == nil && ownReason(number, name) == nil
    }
  }

  /// What we need a signal for ourselves.
  private func ownReason(_ number: Int32, _ name: String) -> (why: String, hint: String)? {
    if number == LuaState.stopSignal {
      return ("it stops call-outs that run too long", "use \"usr1\" or \"rtmin\"")
    }
    if name == "pipe" {
      return ("a write to a closed pipe gives nil, message, \"EPIPE\"", "look at that")
    }
    if name == "alrm" && Ending.isCaught {
      return ("it ends a busy program that was asked to end", "use a timer")
    }
    return nil
  }
}

/// `signal.signals`: the names of its signals; none once it has ended.
func signalNames(_ call: HostCall) throws -> Int32 {
  let source = try call.selfItem(of: SignalKind.self)
  call.stack.push(list: SignalKind.watch(of: source)?.numbers ?? []) {
    call.stack.push(SignalNumber.name(of: $0))
  }
  return 1
}
