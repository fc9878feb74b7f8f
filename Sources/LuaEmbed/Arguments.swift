// Arguments of host functions, read without raising: what is wrong with one is a value, with the
// words that tell function, argument or field, what was expected and what was given.

internal import CLuaShims

/// An argument that is not what a function takes: raised in Lua at the caller's line.
public struct LuaArgumentError: Error, Equatable {
  /// Such as "'every' must be > 0 seconds, got -1".
  public var problem: String
  /// Such as "did you mean 'every'?"; follows the place.
  public var hint: String?

  /// An error with words of its own.
  public init(_ problem: String, hint: String? = nil) {
    self.problem = problem
    self.hint = hint
  }

  /// The usual form.
  public init(_ subject: String, mustBe expected: String, got given: String) {
    self.init("\(subject) must be \(expected), got \(given)")
  }

  /// The whole message: function, problem, place, hint.
  public func message(in function: String, site: String) -> String {
    LuaText.clean("\(function): \(problem)\(site)\(hint.map { "; " + $0 } ?? "")")
  }

  /// A word that is none of those there are, with the nearest of them or all.
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

/// Which lengths of time an argument may have.
package enum LuaSecondsRule {
  case positive, notNegative, any

  package var words: String {
    switch self {
    case .positive: "> 0 seconds"
    case .notNegative: ">= 0 seconds"
    case .any: "a number of seconds"
    }
  }

  func allows(_ seconds: Double) -> Bool {
    switch self {
    case .positive: seconds > 0
    case .notNegative: seconds >= 0
    case .any: true
    }
  }
}

/// Seconds as scripts write them, and nanoseconds as the host counts them.
package enum LuaSeconds {
  /// Nanoseconds, rounded; nil for nan. What does not fit, the infinities too, is held at the ends,
  /// and what is positive is at least 1.
  package static func nanoseconds(_ seconds: Double) -> Int64? {
    guard !seconds.isNaN else { return nil }
    let nanoseconds = (seconds * 1e9).rounded()
    // 2^63 is the first Double that does not fit.
    if nanoseconds >= 0x1p63 { return .max }
    if nanoseconds <= -0x1p63 { return .min }
    let value = Int64(nanoseconds)
    return value == 0 && seconds > 0 ? 1 : value
  }

  /// Seconds as a script reads them.
  package static func seconds(_ nanoseconds: Int64) -> Double { Double(nanoseconds) / 1e9 }
}

extension LuaStack {
  /// What was given, for a message: a number or a short string as itself, else its type.
  package func given(_ index: Int32) -> String {
    switch type(index) {
    case .number:
      if cml_isinteger(L, index) != 0 { return "\(integer(index) ?? 0)" }
      let value = number(index) ?? 0
      return value.isNaN ? "nan" : "\(value)"
    case .string:
      let text = string(index) ?? ""
      return "\"" + LuaText.clean(String(text.prefix(40))) + (text.count > 40 ? "...\"" : "\"")
    case .none: return "nothing"
    default: return describe(index)
    }
  }

  /// Whether nothing or nil was given.
  package func isAbsent(_ index: Int32) -> Bool { cml_type(L, index) <= 0 }

  /// Seconds as nanoseconds; `what` names the argument in messages: "'every'", "argument 1".
  package func seconds(
    _ index: Int32, _ what: @autoclosure () -> String, _ rule: LuaSecondsRule = .notNegative
  ) throws(LuaArgumentError) -> Int64 {
    var ok: Int32 = 0
    if cml_type(L, index) == CML_TNUMBER {
      let value = cml_tonumber(L, index, &ok)
      if rule.allows(value), let nanoseconds = LuaSeconds.nanoseconds(value) { return nanoseconds }
    }
    throw LuaArgumentError(what(), mustBe: rule.words, got: given(index))
  }

  /// An integer, or a float with an integral value; strings are refused.
  package func integer(
    _ index: Int32, _ what: @autoclosure () -> String,
    in range: ClosedRange<Int64> = .min ... .max
  ) throws(LuaArgumentError) -> Int64 {
    var ok: Int32 = 0
    if cml_type(L, index) == CML_TNUMBER {
      let value = cml_tointeger(L, index, &ok)
      if ok != 0, range.contains(value) { return value }
    }
    throw LuaArgumentError(what(), mustBe: Self.words(range), got: given(index))
  }

  private static func words(_ range: ClosedRange<Int64>) -> String {
    switch (range.lowerBound, range.upperBound) {
    case (.min, .max): "an integer"
    case (let low, .max): "an integer >= \(low)"
    case (.min, let high): "an integer <= \(high)"
    case (let low, let high): "an integer from \(low) to \(high)"
    }
  }

  package func text(_ index: Int32, _ what: @autoclosure () -> String) throws(LuaArgumentError)
    -> String
  {
    if let value = string(index) { return value }
    throw LuaArgumentError(what(), mustBe: "a string", got: given(index))
  }

  package func flag(_ index: Int32, _ what: @autoclosure () -> String) throws(LuaArgumentError)
    -> Bool
  {
    if cml_type(L, index) == CML_TBOOLEAN { return boolean(index) }
    throw LuaArgumentError(what(), mustBe: "a boolean", got: given(index))
  }

  package func function(_ index: Int32, _ what: @autoclosure () -> String)
    throws(LuaArgumentError)
  {
    if cml_type(L, index) == CML_TFUNCTION { return }
    throw LuaArgumentError(what(), mustBe: "a function", got: given(index))
  }

  package func table(_ index: Int32, _ what: @autoclosure () -> String) throws(LuaArgumentError) {
    if cml_type(L, index) == CML_TTABLE { return }
    throw LuaArgumentError(what(), mustBe: "a table", got: given(index))
  }

  package func handle(
    _ index: Int32, _ what: @autoclosure () -> String, _ kind: LuaHandleKind
  ) throws(LuaArgumentError) -> LuaHandle {
    if let handle = kind.handle(L, index) { return handle }
    throw LuaArgumentError(what(), mustBe: LuaText.withArticle(kind.name), got: given(index))
  }

  /// One name or a list of names (D52), each handed to the closure with its position on the stack.
  package func names(
    _ index: Int32, _ what: @autoclosure () -> String,
    _ body: (Int32) throws(LuaArgumentError) -> Void
  ) throws(LuaArgumentError) {
    let index = cml_absindex(L, index)
    if type(index) == .string { return try body(index) }
    guard type(index) == .table, reserve(4) else {
      throw LuaArgumentError(what(), mustBe: "a string or a list of strings", got: given(index))
    }
    for item in 1...max(1, Int64(clamping: cml_rawlen(L, index))) {
      _ = cml_rawgeti(L, index, item)
      defer { pop() }
      guard type(-1) == .string else {
        throw LuaArgumentError(
          "\(what())[\(item)]", mustBe: "a string", got: given(-1))
      }
      try body(cml_gettop(L))
    }
  }
}

extension LuaState {
  /// The body of a raw host function: an argument error it throws becomes the Lua error, with the
  /// function's name and the caller's place.
  package func body(
    _ name: StaticString, _ L: OpaquePointer,
    _ body: (LuaStack) throws(LuaArgumentError) -> Int32
  ) -> Int32 {
    let stack = LuaStack(L: L)
    do { return try body(stack) } catch { return mistake(error, name, stack) }
  }

  @inline(never)
  private func mistake(_ error: LuaArgumentError, _ name: StaticString, _ stack: LuaStack) -> Int32
  {
    stack.push(error.message(in: "\(name)", site: stack.site))
    return Int32(CML_RAISE)
  }
}
