// What went wrong in Lua, as one Swift value: kind, bounded message, traceback, the value itself.

internal import CLuaShims
internal import Glibc

/// An error of a Lua script, or of the limits it runs under.
public struct LuaError: Error, CustomStringConvertible {
  /// What sort of error it is.
  public enum Kind: String, Sendable {
    case runtime, syntax, file, memoryLimit, timeLimit, interrupted, nesting
    /// The state is closed.
    case closed

    /// Whether it is one of the limits on memory and time.
    package var isLimit: Bool { self == .memoryLimit || self == .timeLimit }
  }

  /// One call that was active where the error was raised.
  public struct Frame: Sendable, Equatable, CustomStringConvertible {
    /// The chunk, as Lua shortens its name; `[C]` for a function of C or Swift.
    public var source: String
    /// The line, or 0 in C.
    public var line: Int
    /// The name by which it was called, if known.
    public var function: String?
    /// What it is, such as "function", "method", "global", "main chunk" or "metamethod".
    ///
    /// An "omission" stands for `line` calls that were left out; a "text" is a line, in `source`.
    public var role: String

    package init(source: String, line: Int, function: String?, role: String) {
      (self.source, self.line, self.function, self.role) = (source, line, function, role)
    }

    /// Whether it is a function of C, of which nothing is known.
    var isNameless: Bool { source == "[C]" && function == nil }

    /// A line of a traceback, as Lua writes them.
    public var description: String {
      if role == "text" { return source }
      if role == "omission" { return "...\t(\(line) levels left out)" }
      let place = line > 0 ? "\(source):\(line):" : "\(source):"
      if role == "task" {
        return "\(function.map { "task '\($0)'" } ?? "task") made at \(source):\(line)"
      }
      if role == "main chunk" { return "\(place) in main chunk" }
      return function.map { "\(place) in \(role) '\($0)'" } ?? "\(place) in ?"
    }
  }

  /// What sort of error it is.
  public var kind: Kind
  /// What happened, at most 4 kB, without control bytes.
  public var message: String { didSet { text = nil } }
  /// The message as Lua has it, where that are other bytes: it is longer, or is no UTF-8.
  package var text: LuaReference?
  /// The code of an error table or of a `LuaFailure`, such as `ENOENT`.
  public var code: String?
  /// The calls that were active, innermost first; empty if they were not requested.
  public var traceback: [Frame]
  /// The Swift error that a host function threw, if this is that error on its way back.
  public var underlying: (any Error)?
  /// The error value if it is not a string: it stays the same value through Swift.
  public var value: LuaReference?

  /// An error made in Swift.
  public init(
    kind: Kind = .runtime, message: String, code: String? = nil, traceback: [Frame] = [],
    underlying: (any Error)? = nil, value: LuaReference? = nil
  ) {
    self.kind = kind
    self.message = message
    self.code = code
    self.traceback = traceback
    self.underlying = underlying
    self.value = value
  }

  package static var closed: LuaError {
    LuaError(kind: .closed, message: "the Lua state is closed")
  }

  /// Whether a limit or an interrupt ended the call; no `pcall` catches those.
  public var isStop: Bool {
    switch kind {
    case .memoryLimit, .timeLimit, .interrupted: true
    default: false
    }
  }

  public var description: String { message }

  /// Ends the traceback's part for one task, with the place where the task was made.
  package mutating func endPart(task name: String, source: String, line: Int32) {
    let frame = Frame(
      source: source, line: Int(line), function: name.isEmpty ? nil : name, role: "task")
    if traceback.last != frame { traceback.append(frame) }  // a part of one task may be a task
  }

  /// A task's calls before those of the task that awaited it; of long ones both ends.
  package static func joined(_ inner: [Frame], _ outer: [Frame], bound: Int = 60) -> [Frame] {
    let all = inner + outer
    guard all.count > bound else { return all }
    let half = bound / 2
    let gap = Frame(
      source: "...", line: all.count - 2 * half, function: nil, role: "omission")
    return all.prefix(half) + [gap] + all.suffix(half)
  }

  /// The message and the code, with a traceback below, as the `lua` program prints them.
  public var report: String {
    traceback.isEmpty
      ? headline
      : headline + "\nstack traceback:" + traceback.map { "\n\t\($0)" }.joined()
  }

  /// The message, and the code unless the message contains it.
  private var headline: String {
    guard let code, !code.isEmpty, strstr(message, code) == nil else { return message }
    return "\(message) (\(LuaText.clean(code)))"
  }
}

/// An operating failure that a host function reports: Lua gets `nil, message, code`.
public struct LuaFailure: Error, Equatable, CustomStringConvertible {
  /// What failed, for people.
  public var message: String
  /// Such as `ENOENT`, or nil.
  public var code: String?

  /// A failure; the code is for scripts to compare.
  public init(_ message: String, code: String? = nil) {
    self.message = message
    self.code = code
  }

  public var description: String { message }
}
