// Arguments of host functions, read without raising: what is wrong with one is a value, with a
// message that names the function, the argument or field, what was expected and what was given.

internal import CLuaShims

/// A wrong argument of a function: raised in Lua at the caller's line.
public struct LuaArgumentError: Error, Equatable {
  /// Such as "'every' must be > 0 seconds, got -1".
  public var problem: String
  /// Such as "did you mean 'every'?"; follows the place.
  public var hint: String?

  /// An error with its own message.
  public init(_ problem: String, hint: String? = nil) {
    self.problem = problem
    self.hint = hint
  }

  /// The usual form.
  public init(_ subject: String, mustBe expected: String, got given: String) {
    self.init("\(subject) must be \(expected), got \(given)")
  }

  /// The whole message: function, problem, place, hint. Without a function it begins with the
  /// problem.
  public func message(in function: String, site: String) -> String {
    let subject = function.isEmpty ? "" : function + ": "
    return LuaText.clean("\(subject)\(problem)\(site)\(hint.map { "; " + $0 } ?? "")")
  }

  /// An unknown word, with the nearest known one or all of them.
  public static func unknown(
    _ what: String, _ word: String, among words: [String], quote: String = "'"
  ) -> LuaArgumentError {
    let problem = "unknown \(what) \(quote)\(word)\(quote)"
    if let near = LuaText.nearest(to: word, among: words) {
      return LuaArgumentError(problem, hint: "did you mean \(quote)\(near)\(quote)?")
    }
    return LuaArgumentError(problem, hint: "use one of " + words.joined(separator: ", "))
  }
}

/// Which durations an argument may have; the texts appear in messages.
package enum LuaSecondsRule: String {
  case notNegative = "seconds, a number >= 0"
  case positive = "> 0 seconds"
  case any = "seconds, a finite number"
  /// A date of the wall clock; "never" is not one.
  case date = "seconds since 1970, a finite number"
}

/// Seconds as scripts write them, and nanoseconds as the host counts them.
package enum LuaSeconds {
  /// Seconds as nanoseconds; nil if the rule forbids them. The only place where they are converted.
  ///
  /// Rounded to the nearest, but at least 1 if positive. Beyond 292 years, infinity included, it
  /// means never (`Int64.max`); nan and minus infinity are not times.
  @inline(__always)
  package static func nanoseconds(_ seconds: Double, _ rule: LuaSecondsRule) -> Int64? {
    let nanoseconds = seconds * 1e9
    // The usual case first: every rule allows it, and nan is not in the range.
    if nanoseconds > 0 && nanoseconds < 9.2e18 { return max(1, rounded(nanoseconds)) }
    if seconds.isNaN || seconds == -.infinity { return nil }
    switch rule {
    case .notNegative: if seconds < 0 { return nil }
    case .positive: if seconds <= 0 { return nil }
    case .any: break
    case .date: if seconds.isInfinite { return nil }
    }
    if nanoseconds >= 9.2e18 { return .max }
    if nanoseconds <= -9.2e18 { return .min }
    return seconds > 0 ? 1 : rounded(nanoseconds)
  }

  /// Does what `rounded` does, which is a call on machines without an instruction for it.
  @inline(__always)
  private static func rounded(_ value: Double) -> Int64 {
    let whole = Int64(value)
    let rest = value - Double(whole)
    return rest >= 0.5 ? whole + 1 : rest <= -0.5 ? whole - 1 : whole
  }
}

extension LuaText {
  /// The first byte that is not valid UTF-8, and its position from 1.
  static func firstInvalid(_ bytes: UnsafeRawBufferPointer) -> (byte: UInt8, place: Int)? {
    var parser = Unicode.UTF8.ForwardParser()
    var rest = bytes.makeIterator()
    var place = 0
    while true {
      switch parser.parseScalar(from: &rest) {
      case .valid(let scalar): place += scalar.count
      case .error: return (bytes[place], place + 1)
      case .emptyInput: return nil
      }
    }
  }

  /// A number in a message: without a fraction if it has none.
  package static func short(_ number: Double) -> String {
    if number.isNaN { return "nan" }
    if number.isInfinite { return number > 0 ? "inf" : "-inf" }
    return number == number.rounded() && abs(number) < 1e15 ? "\(Int(number))" : "\(number)"
  }
}

extension LuaStack {
  /// What was given, after "got": a number, a boolean or a short string itself, else its type.
  package func given(_ index: Int32) -> String {
    switch type(index) {
    case .number:
      if let integer = integer(index) { return "\(integer)" }
      return number(index).map(LuaText.short) ?? "a number"
    case .string:
      let text = string(index) ?? ""
      return text.utf8.count <= 40 ? "\"\(text)\"" : "a string of \(text.utf8.count) bytes"
    case .nil where index > 0: return "nil"  // an argument
    case .none: return "no value"  // an absent argument, as in stock Lua
    case .nil: return "nothing"
    case .boolean: return boolean(index) ? "true" : "false"
    default: return LuaText.withArticle(describe(index))
    }
  }

  /// What a message calls an argument of the running function.
  func argumentName(_ index: Int32) -> String {
    let number = cml_argument_number(L, index)
    return number == 0 ? "self" : "argument \(number)"
  }

  /// What a value must be, and what it is: `must be an integer, got "x"`.
  func mustBe(_ expected: String, _ index: Int32) -> String {
    let isText = expected == "a string" && type(index) == .string
    let bad = isText ? withBytes(index, LuaText.firstInvalid) ?? nil : nil
    // The field of a table is missing, whether it is written as nil or not.
    let got = type(index) == .nil ? "nothing" : given(index)
    guard let bad else { return "must be \(expected), got \(got)" }
    let byte = String(bad.byte, radix: 16)
    return "must be a UTF-8 string, got one with the byte 0x\(byte) at \(bad.place)"
  }

  /// Seconds as nanoseconds; `what` names the argument in messages: "'every'", "the delay".
  package func seconds(
    _ index: Int32, _ what: @autoclosure () -> String, _ rule: LuaSecondsRule
  ) throws(LuaArgumentError) -> Int64 {
    if let number = exactNumber(index), let nanoseconds = LuaSeconds.nanoseconds(number, rule) {
      return nanoseconds
    }
    throw notSeconds(index, what(), rule)
  }

  @inline(never)
  private func notSeconds(_ index: Int32, _ what: String, _ rule: LuaSecondsRule)
    -> LuaArgumentError
  {
    LuaArgumentError(what, mustBe: rule.rawValue, got: given(index))
  }

  /// An integer, or a float with an integral value; strings are refused.
  package func integer(
    _ index: Int32, _ what: @autoclosure () -> String, in range: ClosedRange<Int>
  ) throws(LuaArgumentError) -> Int {
    if type(index) == .number, let value = integer(index), range.contains(value) { return value }
    throw LuaArgumentError(what(), mustBe: Self.words(range), got: given(index))
  }

  private static func words(_ range: ClosedRange<Int>) -> String {
    switch (range.lowerBound, range.upperBound) {
    case (.min, .max): "a whole number"
    case (let low, .max): "a whole number >= \(low)"
    case (.min, let high): "a whole number <= \(high)"
    case (let low, let high): "a whole number from \(low) to \(high)"
    }
  }

  package func text(_ index: Int32, _ what: @autoclosure () -> String) throws(LuaArgumentError)
    -> String
  {
    if let value = text(index) { return value }
    throw notText(index, what())
  }

  @inline(never)
  private func notText(_ index: Int32, _ what: String) -> LuaArgumentError {
    LuaArgumentError("\(what) \(mustBe("a string", index))")
  }

  package func flag(_ index: Int32, _ what: @autoclosure () -> String) throws(LuaArgumentError)
    -> Bool
  {
    if type(index) == .boolean { return boolean(index) }
    throw LuaArgumentError(what(), mustBe: "true or false", got: given(index))
  }

  package func function(_ index: Int32, _ what: @autoclosure () -> String)
    throws(LuaArgumentError)
  {
    if !isFunction(index) { throw notFunction(index, what()) }
  }

  @inline(never)
  private func notFunction(_ index: Int32, _ what: String) -> LuaArgumentError {
    if what == "the function" { return LuaArgumentError("takes a function, got \(given(index))") }
    return LuaArgumentError(what, mustBe: "a function", got: given(index))
  }
}
