// What a guest needs and was not granted, as a question for the person at the terminal.

internal import LuaEmbed
internal import MoonloopSystem

/// One question: the exact grant, what it means, and what an answer adds.
struct GuestQuestion: Sendable {
  enum Addition: Sendable {
    case capability(LuaCapabilities)
    case place(PlaceRule)
    case file(FileNeed)
    case program([UInt8])
  }

  /// The grant's name: "fs".
  let name: String
  /// The grant, as `--allow` takes it: "fs=read:data/notes".
  let grant: String
  /// What it allows, in plain words, cleaned: "read the file 'data/notes'".
  let meaning: String
  let addition: Addition
  /// What an answer is kept for: a path may lead somewhere else later.
  let key: String

  /// What is longer cannot be judged, and is not asked for.
  private static let longest = 400
  var canBeShown: Bool { grant.utf8.count + meaning.utf8.count <= Self.longest }

  /// Whether there is more than this grant under the name.
  var isNarrow: Bool { if case .capability = addition { false } else { true } }

  /// - Returns: nil if it is not asked for.
  init?(_ grant: Grant) {
    guard let meaning = grant.meaning else { return nil }
    self.init("\(grant.word)", nil, "\(meaning)", .capability(grant.capability))
  }

  /// - Parameter port: nil: all of them, because a name is looked up.
  init?(host: String, port: Int?) {
    guard let rule = PlaceRule(host: host, port: port) else { return nil }
    let place = LuaText.quoted(host)
    let meaning =
      port.map { "connect to, listen on, and send to port \($0) of \(place)" }
      ?? "look up \(place), and reach all its ports"
    self.init("net", LuaText.escaped(host) + (port.map { ":\($0)" } ?? ""), meaning, .place(rule))
  }

  /// - Returns: nil if the path cannot be shown as it is.
  init?(unixSocket bytes: [UInt8]) {
    guard let path = String(validating: bytes, as: UTF8.self) else { return nil }
    self.init(
      "net", "unix:" + LuaText.escaped(path),
      "connect to, listen on, and send to the socket \(LuaText.quoted(path))",
      .place(PlaceRule(path: bytes)))
  }

  /// - Returns: nil if the name cannot be shown as it is.
  init?(program bytes: [UInt8]) {
    guard let program = String(validating: bytes, as: UTF8.self) else { return nil }
    self.init(
      "process", LuaText.escaped(program),
      "run the program \(LuaText.quoted(program)), which may do all that you may",
      .program(bytes))
  }

  /// - Returns: nil if the path cannot be shown as it is.
  init?(_ need: FileNeed) {
    if !need.isText { return nil }
    let path = String(decoding: need.path, as: UTF8.self)
    let place = String(decoding: need.place, as: UTF8.self)
    let verb = need.writes ? "write" : "read"
    var meaning = "\(verb) " + LuaText.quoted(path)
    if !place.hasSuffix(path) { meaning += ", which is " + LuaText.quoted(place) }
    if !need.isPlainFile { meaning += ", and all that is or will be in it" }
    self.init("fs", "\(verb):" + LuaText.escaped(path), meaning, .file(need), in: place)
  }

  private init(
    _ name: String, _ detail: String?, _ meaning: String, _ addition: Addition,
    in place: String? = nil
  ) {
    (self.name, self.meaning, self.addition) = (name, meaning, addition)
    grant = detail.map { "\(name)=\($0)" } ?? name
    key = place.map { [grant] in "\(grant)\0\($0)" } ?? grant
  }
}

/// The answer to a question.
package enum GuestAnswer: Sendable {
  case yes, no
  /// The same for everything of that name.
  case everything, nothing
}

/// Asks, and keeps the answers for the run: one for a guest and its workers. Any thread.
package final class GuestAsker: Sendable {
  /// Asks a person.
  /// - Parameters:
  ///   - question: Two lines, without control characters but that between them.
  ///   - isNarrow: Whether the answers for all of a name make a difference.
  ///   - isOver: Whether the answer is no longer waited for.
  /// - Returns: nil: there is no answer.
  package typealias Ask =
    @Sendable (_ question: String, _ isNarrow: Bool, _ isOver: () -> Bool) -> GuestAnswer?

  private struct Answers {
    /// By the bytes of the question's key.
    var exact: [[UInt8]: Bool] = [:]
    var byName: [String: Bool] = [:]
  }

  private let script: String
  private let ask: Ask
  /// Whether the output of scripts goes to the terminal too.
  let cleansOutput: Bool
  // Held while a question is asked: there is one person.
  private let answers = Guarded(Answers())

  package init(script: String, cleansOutput: Bool, _ ask: @escaping Ask) {
    self.script = LuaText.quoted(script)
    self.cleansOutput = cleansOutput
    self.ask = ask
  }

  func grants(_ question: GuestQuestion, isOver: () -> Bool) -> (isGranted: Bool, isAll: Bool) {
    answers.withLock { answers in
      if let known = answers.byName[question.name] { return (known, known) }
      let key = Array(question.key.utf8)
      if let known = answers.exact[key] { return (known, false) }
      guard question.canBeShown else { return (false, false) }
      let text =
        "moonloop: \(script) asks to \(question.meaning)\n  the grant: \(question.grant)\n"
      switch ask(text, question.isNarrow, isOver) {
      case .yes: answers.exact[key] = true
      case .no: answers.exact[key] = false
      case .everything: answers.byName[question.name] = true
      case .nothing: answers.byName[question.name] = false
      case nil: return (false, false)
      }
      let all = answers.byName[question.name]
      return (all ?? answers.exact[key] ?? false, all ?? false)
    }
  }
}

extension HostCall {
  /// Whether the person at the terminal grants it, or has done so; then it is granted from now on.
  ///
  /// The script waits, and so does its loop. That is not charged to the call.
  func isGranted(_ question: @autoclosure () -> GuestQuestion?) -> Bool {
    guard let asker = runtime.granted.guest?.asker, let question = question() else { return false }
    let token = state.suspendBudget()
    defer { state.resumeBudget(token) }
    let answer = asker.grants(question) { runtime.loop.mustEnd }
    if answer.isGranted { runtime.granted.add(question, isAll: answer.isAll) }
    return answer.isGranted
  }
}

extension Granted {
  fileprivate mutating func add(_ question: GuestQuestion, isAll: Bool) {
    guest?.add(question, isAll: isAll)
    if case .capability(let one) = question.addition { capabilities.insert(one) }
  }
}

extension LuaState {
  /// Keeps what scripts print from changing what a person sees of questions.
  func cleanOutput() {
    _ = divertOutput(isCleaned: true) { stream, bytes in
      let text = LuaText.shown(bytes)
      WorkerOutput(stream: stream, bytes: Array(text.utf8)).write()
    }
  }
}
