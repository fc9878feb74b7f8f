// Option tables of host functions: fields by name, each checked by the rules of `LuaEmbed`'s
// arguments; names of modes, handlers, and the nearest spelling of an unknown name (D52).

internal import LuaEmbed
internal import MoonloopCore

extension HostCall {
  /// How many arguments there are.
  var count: Int32 { Int32(stack.count) }

  /// A value after "got": its type, or the value itself if it is short.
  func given(_ index: Int32) -> String { stack.given(index) }

  /// An argument that must be a function.
  @inline(__always)
  func function(
    _ index: Int32, _ what: @autoclosure () -> String
  ) throws(ScriptMistake) {
    try stack.function(index, what())
  }

  /// An argument that must be a string.
  package func string(_ index: Int32, _ what: String) throws(ScriptMistake) -> String {
    try stack.text(index, what)
  }

  /// The bytes of an argument that must be a string, but need not be text.
  func bytes(_ index: Int32, _ what: String) throws(ScriptMistake) -> [UInt8] {
    if stack.type(index) == .string, let bytes = stack.withBytes(index, { Array($0) }) {
      return bytes
    }
    throw ScriptMistake(what, mustBe: "a string", got: given(index))
  }

  /// An argument that names something to the system, which would cut it at a zero byte.
  func systemText(_ index: Int32, _ what: String) throws(ScriptMistake) -> String {
    let text = try string(index, what)
    if text.utf8.contains(0) { throw mistake("\(what) must not contain a zero byte") }
    return text
  }

  /// An argument in seconds, as nanoseconds.
  @inline(__always)
  func seconds(
    _ index: Int32, _ what: StaticString, _ rule: LuaSecondsRule
  ) throws(ScriptMistake) -> Int64 {
    try stack.seconds(index, "\(what)", rule)
  }

  /// The name of one mode.
  func mode(_ index: Int32, _ what: String = "the mode") throws(ScriptMistake) -> ModeName {
    let name = try string(index, what)
    if name.isEmpty { throw mistake("\(what) must be the name of a mode, got \"\"") }
    return ModeName(name)
  }

  /// A list of mode names, or one name.
  func modes(_ index: Int32, _ what: String = "'modes'") throws(ScriptMistake) -> [ModeName] {
    switch stack.type(index) {
    case .string where stack.string(index) != "": return [ModeName(try string(index, what))]
    case .table:
      let table = stack.absolute(index)
      var names: [ModeName] = []
      while true {
        let type = stack.rawGet(table, item: Int64(names.count + 1))
        defer { stack.pop() }
        if type == .nil { break }
        guard type == .string, stack.string(-1) != "" else {
          throw mistake("\(what) must hold names of modes, got \(given(-1))")
        }
        names.append(ModeName(try string(-1, "a name in \(what)")))
      }
      if names.isEmpty { throw mistake("\(what) must name at least one mode, got an empty table") }
      return names
    default: throw mistake("\(what) must be the name of a mode or a list, got \(given(index))")
    }
  }

  /// The options in the table at an index.
  /// - Parameters:
  ///   - unnamed: How many elements may be unnamed: usually the handler.
  ///   - hints: Advice for unknown names that are likely.
  ///   - path: What stands before a name in messages, where the table is an option itself.
  func options(
    _ index: Int32, _ known: [StaticString], example: StaticString, unnamed: Int = 1,
    hints: KeyValuePairs<String, String> = [:], within path: StaticString = ""
  ) throws(ScriptMistake) -> Options {
    guard stack.type(index) == .table else {
      throw mistake("takes a table of options, such as \(example); got \(given(index))")
    }
    let options = Options(call: self, index: stack.absolute(index))
    try options.refuseUnknown(known, unnamed: unnamed, hints, within: path)
    return options
  }

  /// The 'timeout' of a table that may have no other option.
  func timeoutOption(
    _ index: Int32, example: StaticString = "{ timeout = 5 }"
  ) throws(ScriptMistake) -> Int64? {
    // Repeated waits pass it each time. A table with just this field has no unknown ones, so it is
    // not searched for them.
    if let number = stack.onlyNumber("timeout", of: index),
      let timeout = LuaSeconds.nanoseconds(number, .notNegative)
    {
      return timeout
    }
    return try options(index, ["timeout"], example: example).seconds("timeout", .notNegative)
  }
}

/// A table of options: fields by name, the handler as first element.
struct Options {
  let call: HostCall
  let index: Int32

  private var stack: LuaStack { call.stack }

  /// Pushes a field, without metamethods. [-0, +1]
  func push(_ name: StaticString) -> LuaType {
    stack.push(name)
    return stack.rawGet(index)
  }

  /// Reads a field with a closure that gets its index on the stack; nil if there is none.
  @inline(__always)
  private func read<Value>(
    _ name: StaticString, _ body: (Int32) throws(ScriptMistake) -> Value
  ) throws(ScriptMistake) -> Value? {
    let type = push(name)
    defer { stack.pop() }
    return type == .nil ? nil : try body(stack.absolute(-1))
  }

  /// Whether a field exists.
  func has(_ name: StaticString) -> Bool {
    defer { stack.pop() }
    return push(name) != .nil
  }

  /// Whether there is an element without a name.
  var hasUnnamed: Bool {
    defer { stack.pop() }
    return stack.rawGet(index, item: 1) != .nil
  }

  func seconds(
    _ name: StaticString, _ rule: LuaSecondsRule
  ) throws(ScriptMistake) -> Int64? {
    try read(name) { index throws(ScriptMistake) in try stack.seconds(index, "'\(name)'", rule) }
  }

  func modes(_ name: StaticString = "modes") throws(ScriptMistake) -> [ModeName]? {
    try read(name) { index throws(ScriptMistake) in try call.modes(index, "'\(name)'") }
  }

  /// The option 'mode'.
  func mode() throws(ScriptMistake) -> ModeName? {
    try read("mode") { index throws(ScriptMistake) in try call.mode(index, "'mode'") }
  }

  /// The bytes of a string that need not be text.
  func bytes(_ name: StaticString) throws(ScriptMistake) -> [UInt8]? {
    try read(name) { index throws(ScriptMistake) in try call.bytes(index, "'\(name)'") }
  }

  func string(_ name: StaticString) throws(ScriptMistake) -> String? {
    try read(name) { index throws(ScriptMistake) in try stack.text(index, "'\(name)'") }
  }

  /// The same for what names something to the system, which would cut it at a zero byte.
  func systemText(_ name: StaticString) throws(ScriptMistake) -> String? {
    try read(name) { index throws(ScriptMistake) in try call.systemText(index, "'\(name)'") }
  }

  /// A handle's name in reports, as text on one line that terminals show and do not obey. It does
  /// not count as script memory, so it has a limit.
  func name() throws(ScriptMistake) -> String? {
    try read("name") { index throws(ScriptMistake) in
      let name = try call.systemText(index, "'name'")
      try Self.requireShort(name.utf8.count, "'name'")
      return name.utf8.allSatisfy { 0x20...0x7e ~= $0 } ? name : LuaText.escaped(name)
    }
  }

  /// The bytes of a name, or of another string that identifies a handle.
  static let longestName = 1000

  static func requireShort(_ bytes: Int, _ what: String) throws(ScriptMistake) {
    if bytes <= longestName { return }
    throw ScriptMistake(what, mustBe: "at most \(longestName) bytes", got: "\(bytes)")
  }

  func boolean(_ name: StaticString) throws(ScriptMistake) -> Bool? {
    try read(name) { index throws(ScriptMistake) in try stack.flag(index, "'\(name)'") }
  }

  func integer(
    _ name: StaticString, in range: ClosedRange<Int>
  ) throws(ScriptMistake) -> Int? {
    try read(name) { index throws(ScriptMistake) in
      try stack.integer(index, "'\(name)'", in: range)
    }
  }

  /// Names from a table of names, either one string or a list.
  func names<Value>(
    _ name: StaticString, _ known: [(name: String, value: Value)], _ what: String
  ) throws(ScriptMistake) -> [Value]? {
    try read(name) { index throws(ScriptMistake) in
      if stack.type(index) == .string { return [try one(index, name, known, what)] }
      guard stack.type(index) == .table else {
        throw call.mistake("'\(name)' must be \(what) or a list, got \(call.given(index))")
      }
      var values: [Value] = []
      while stack.rawGet(index, item: Int64(values.count + 1)) != .nil {
        defer { stack.pop() }
        values.append(try one(stack.absolute(-1), name, known, what))
      }
      stack.pop()
      return values
    }
  }

  private func one<Value>(
    _ index: Int32, _ field: StaticString, _ known: [(name: String, value: Value)], _ what: String
  ) throws(ScriptMistake) -> Value {
    if let text = stack.string(index), let found = known.first(where: { $0.name == text }) {
      return found.value
    }
    throw call.mistake(
      "'\(field)': unknown \(what) \(call.given(index))",
      hint: suggestion(
        for: stack.string(index) ?? "", among: known.map(\.name), list: "use one of "))
  }

  /// Pushes a field that must be a function if it exists; the first element under "[1]".
  /// - Returns: Whether it exists; then it is on top of the stack.
  func pushHandler(
    _ name: StaticString, isRequired: Bool = false
  ) throws(ScriptMistake) -> Bool {
    let isFirst = "\(name)" == "[1]"
    let type = isFirst ? try pushUnnamed(1) : push(name)
    if type == .function { return true }
    defer { stack.pop() }
    if type == .nil {
      if isRequired {
        throw call.mistake(
          isFirst
            ? "the handler is missing: give a function as the first element of the table"
            : "the handler '\(name)' is missing: give a function")
      }
      return false
    }
    throw call.mistake(
      "\(isFirst ? "the handler" : "'\(name)'") must be a function, got \(call.given(-1))")
  }

  /// Pushes the handler: the unnamed element, or the field 'handler' as in configurations.
  /// [-0, +1]
  private func pushUnnamed(_ place: Int64) throws(ScriptMistake) -> LuaType {
    let type = stack.rawGet(index, item: place)
    if !has("handler") { return type }
    if type != .nil {
      stack.pop()
      throw call.mistake("there are two handlers: an element without a name, and 'handler'")
    }
    stack.pop()
    return push("handler")
  }

  /// Pushes the handler: the second element, or the field 'handler'. [-0, +1]
  func pushSecondHandler() throws(ScriptMistake) {
    _ = try pushUnnamed(2)
    try call.function(-1, "the handler, the second element of the table,")
  }

  /// The same, but pushes nil if there is none. [-0, +1]
  /// - Returns: Whether there was one.
  func pushHandlerOrNil(_ name: StaticString) throws(ScriptMistake) -> Bool {
    if try pushHandler(name) { return true }
    stack.pushNil()
    return false
  }

  /// A field that must be a function if it exists, kept.
  func reference(_ name: StaticString) throws(ScriptMistake) -> LuaReference? {
    try pushHandler(name) ? LuaReference(popping: stack) : nil
  }

  /// Finds unknown keys, and names the nearest known one.
  fileprivate func refuseUnknown(
    _ known: [StaticString], unnamed: Int, _ hints: KeyValuePairs<String, String>,
    within path: StaticString
  ) throws(ScriptMistake) {
    stack.pushNil()
    while stack.next(index) {
      stack.pop()
      if stack.type(-1) == .number {
        if let place = stack.integer(-1), place >= 1, place <= unnamed { continue }
        let text = call.given(-1)
        stack.pop()
        throw call.mistake(
          unnamed == 1
            ? "unknown element [\(text)]; only the handler may be unnamed"
            : "unknown element [\(text)]; only \(unnamed) elements may be unnamed")
      }
      if stack.withBytes(-1, { bytes in known.contains { $0.isSame(as: bytes) } }) == true {
        continue
      }
      let key = stack.string(-1) ?? call.given(-1)
      stack.pop()
      let hint = hints.first { $0.key == key }?.value
      throw call.mistake(
        "unknown option '\(path)\(key)'",
        hint: hint ?? suggestion(for: key, among: known.map { "\($0)" }))
    }
  }
}

/// "did you mean 'every'?", or the whole list if none is near.
func suggestion(
  for word: String, among known: [String], list: StaticString = "the options are "
) -> String {
  if let nearest = LuaText.nearest(to: word, among: known) { return "did you mean '\(nearest)'?" }
  return "\(list)\(known.joined(separator: ", "))"
}

extension StaticString {
  fileprivate func isSame(as bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count == utf8CodeUnitCount else { return false }
    return bytes.elementsEqual(UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount))
  }
}
