// The results of a read, from the bytes that have arrived.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// The formats of one read, usually one.
struct StreamFormats {
  var first = StreamFormat.line(keepsNewline: false)
  var others: [StreamFormat] = []

  /// As text, for `why`: "a line".
  var words: String { others.isEmpty ? first.words : "\(others.count + 1) values" }
}

extension StreamFormat {
  fileprivate var words: String {
    switch self {
    case .line, .lines: "a line"
    case .all: "all"
    case .number: "a number"
    case .bytes(let count): count == 1 ? "1 byte" : "\(count) bytes"
    case .some: "bytes"
    }
  }

  fileprivate var isOfLines: Bool {
    switch self {
    case .line, .lines: true
    default: false
    }
  }
}

/// Where each format of a read was found; bytes before `next` are used up.
struct StreamFound {
  var first: StreamFormat.Found
  var others: [StreamFormat.Found] = []
  var next = 0
}

extension ScriptStream {
  /// How many bytes are copied before they are pushed, rather than held where they are.
  private static let small = 256

  /// Where the formats are in the bytes so far; nil while more are needed.
  func find(_ formats: StreamFormats) -> StreamFound? {
    if state.input.isEmpty && !state.isAtEnd && state.readFailure == nil {
      return nil
    }
    let isOver = state.isAtEnd && state.readFailure == nil
    let first = state.input.find(formats.first, from: 0, isAtEnd: isOver)
    if first == .needsMore && state.readFailure == nil {
      if case .number = formats.first { state.input.dropBlanks() }
      state.input.noteSearched()
      return nil
    }
    var found = StreamFound(first: first)
    guard found.use(first) else { return found }
    for format in formats.others {
      let one = state.input.find(format, from: found.next, isAtEnd: isOver)
      if one == .needsMore && state.readFailure == nil { return nil }
      found.others.append(one)
      guard found.use(one) else { break }
    }
    return found
  }

  /// Pushes a short line that is here already, which is what most reads find. [-0, +1]
  /// - Returns: false if it is to be looked for.
  @inline(__always)
  func takeLine(_ formats: StreamFormats, on stack: LuaStack) -> Bool {
    guard case .line(keepsNewline: false) = formats.first, formats.others.isEmpty else {
      return false
    }
    return withUnsafeTemporaryAllocation(byteCount: Self.small, alignment: 1) { copy in
      guard let count = state.input.takeLine(into: copy) else { return false }
      countInput()
      events?.noteRead(self)
      stack.push(bytes: UnsafeRawBufferPointer(rebasing: copy[..<count]))
      return true
    }
  }

  /// Pushes the results of the formats, and consumes the bytes. [-0, +n]
  func take(_ formats: StreamFormats, on stack: LuaStack) -> Int {
    guard let found = find(formats) else { return stack.pushFailure("no answer", "EAGAIN") }
    return take(found, formats, on: stack)
  }

  /// Pushes what was found, and consumes it. [-0, +n]
  func take(_ found: StreamFound, _ formats: StreamFormats, on stack: LuaStack) -> Int {
    // Consumed before it is pushed, because pushing may run a finalizer of the script that also
    // reads.
    if case .piece(let range, let next) = found.first, formats.arePlain {
      if takeSmall(range, next, on: stack) { return 1 }
    }
    let held = state.input.hold()
    state.input.drop(found.next)
    countInput()
    let last = found.others.last ?? found.first
    if case .tooLong(_, let goesOn) = last {
      state.input.isSkipping = goesOn && formats.isLine(found.others.count)
    }
    if found.next > 0 { events?.noteRead(self) }
    var count = held.withBytes { push(found.first, formats.first, $0, on: stack) }
    for (format, one) in zip(formats.others, found.others) where stack.reserve(4) {
      count += held.withBytes { push(one, format, $0, on: stack) }
    }
    return count
  }

  /// The usual read, of a line or a message of few bytes: a copy of them costs less than to hold
  /// the memory of the queue. [-0, +1]
  /// - Returns: false if there are too many bytes, and nothing was consumed.
  @inline(__always)
  private func takeSmall(_ range: Range<Int>, _ next: Int, on stack: LuaStack) -> Bool {
    if range.count > Self.small || next == 0 { return false }
    withUnsafeTemporaryAllocation(byteCount: Self.small, alignment: 1) { copy in
      state.input.withBytes { copy.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[range])) }
      state.input.drop(next)
      countInput()
      events?.noteRead(self)
      stack.push(bytes: UnsafeRawBufferPointer(rebasing: copy[..<range.count]))
    }
    return true
  }

  /// Pushes one value, or nil and why. [-0, +(1|3)]
  func push(
    _ found: StreamFormat.Found, _ format: StreamFormat, _ raw: UnsafeRawBufferPointer,
    on stack: LuaStack
  ) -> Int {
    switch found {
    case .piece(let range, _):
      let piece = UnsafeRawBufferPointer(rebasing: raw[range])
      if case .number = format { stack.push(numeral: piece) } else { stack.push(bytes: piece) }
      return 1
    case .end, .malformed:
      stack.pushNil()
      return 1
    case .tooLong:
      let what = format.isOfLines ? "the line" : "what there is to read"
      return pushFailure(
        "\(label): \(what) is longer than \(state.input.limit(for: format)) bytes; it is"
          + " dropped",
        "EMSGSIZE", on: stack)
    case .needsMore:
      if let failure = state.readFailure {
        return pushFailure("\(label): \(words(of: failure))", failure.name, on: stack)
      }
      stack.pushNil()
      return 1
    }
  }
}

extension ScriptStream {
  private func pushFailure(_ message: String, _ code: String, on stack: LuaStack) -> Int {
    lastFailure = code
    return stack.pushFailure(message, code)
  }
}

extension StreamFound {
  /// Goes on after what was found.
  /// - Returns: false if no further formats are looked at.
  fileprivate mutating func use(_ found: StreamFormat.Found) -> Bool {
    switch found {
    case .piece(_, let next):
      self.next = next
      return true
    case .malformed(let next), .tooLong(let next, _): self.next = next
    case .needsMore, .end: break
    }
    return false
  }
}

extension StreamFormats {
  /// One value, which is the bytes that were found.
  fileprivate var arePlain: Bool { others.isEmpty && first != .number }

  fileprivate func isLine(_ place: Int) -> Bool {
    (place == 0 ? first : others[place - 1]).isOfLines
  }
}

extension LuaStack {
  /// Pushes the number that a text represents, an integer if Lua would read one; nil for none.
  /// [-0, +1, raises: -]
  fileprivate func push(numeral bytes: UnsafeRawBufferPointer) {
    push(bytes: bytes)
    let isHex = bytes.contains { $0 | 32 == UInt8(ascii: "x") }
    let isFloat = bytes.contains {
      $0 == UInt8(ascii: ".") || $0 | 32 == UInt8(ascii: isHex ? "p" : "e")
    }
    let integer = isFloat ? nil : integer(-1)
    let number = number(-1)
    pop()
    if let integer { push(integer) } else if let number { push(number) } else { pushNil() }
  }
}
