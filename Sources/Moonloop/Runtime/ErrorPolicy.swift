// What happens to an error in a handler: reported once, never unwinding the loop, never silent
// (D24).

package import LuaEmbed
internal import MoonloopCore

/// Where errors go, and how many there were. Loop thread only.
package final class ErrorPolicy {
  package typealias Verdict = LuaHost.Verdict

  /// The script's own handler for all errors of the loop.
  var onError: LuaReference?
  /// What happens if no handler decides; nil: stop after an error of the main chunk, if
  /// the script ends with that, and continue after any other.
  package var verdict: Verdict?
  /// How many errors there were. Those of workers and guests count if no handler took them.
  package private(set) var count = 0
  /// The limit or interrupt that ended a call of this state, the last one.
  package var lastStop: LuaError.Kind?
  /// Writes one report; tests replace it.
  package var write: (String) -> Void = { writeToStandardError($0) }

  /// Takes the warnings of our modules in Lua, instead of `write`.
  var warn: ((String) -> Void)?
  /// Writes the reports of workers and guests: half of the lines that a program may write, so that
  /// they never crowd out its own. What looks like the beginning of its own reports is indented.
  // Unowned: it holds the reporter.
  package private(set) lazy var others = LuaReporter(linesPerSecond: 100) { [unowned self] text in
    write(Self.indented(text))
    return true
  }

  /// A text whose further lines do not begin as a report of the program does.
  static func indented(_ text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let rest = lines.dropFirst().map { ($0.hasPrefix("moonloop: ") ? "  " : "") + $0 }
    return ([String(lines[0])] + rest).joined(separator: "\n")
  }

  /// Whether an error handler of the script is running; its own errors go to stderr.
  var isAsking = false

  /// Whether an interruption is not an error, because it was requested.
  var expectsInterrupts: () -> Bool = { Ending.isQuiet }
  /// Whether the loop's runs are the host's: then no error of a script ends them.
  var isHosted = false
  /// Whether all that scripts have is being ended, while their state lives on.
  var isEndingScripts = false
  /// Whether it was reported that limits have stopped the script too often.
  fileprivate var hasToldOfStops = false
  /// Called after limits have stopped the scripts too often and all that they had was ended.
  var onCondemned: (() -> Void)?
  /// Called with every error, before the policy is applied.
  var observe: ((LuaError, Subject) -> Void)?
  /// Takes the errors that no script handler takes, instead of a report; false: it did not.
  var forward: ((LuaError) -> Bool)?
  /// The host's own handler, for the same errors; `.stop` ends all that the scripts have.
  var decide: ((LuaError, LuaHost.Subject) -> Verdict)?

  /// A row's handler failures, for `loop:why`.
  struct Failures {
    var count = 0
    var last = ""
    /// Whether the last one was stopped by a limit.
    var isStop = false
  }
  private var failures: [RecordedSubject: Failures] = [:]
  /// Whose error stopped the loop.
  private(set) var stopper: RecordedSubject?
  private static let failureLimit = 200

  init() {}

  func dropHandlers() { onError = nil }

  func failures(of subject: RecordedSubject) -> Failures? { failures[subject] }

  fileprivate func note(_ error: LuaError, of subject: RecordedSubject) {
    if failures[subject] == nil && failures.count >= Self.failureLimit { return }
    failures[subject, default: Failures()].count += 1
    failures[subject]?.last = error.message
    failures[subject]?.isStop = error.isStop
  }

  fileprivate func note(stopper subject: RecordedSubject) { stopper = subject }

  /// A run begins.
  func forgetStopper() { stopper = nil }

  func noteReported() { count += 1 }
}

extension Runtime {
  /// Reports an error of a handler: to the handle's own handler, else the loop's, else stderr.
  /// - Parameter isOwn: Whether a call of this state failed, and not one of a worker or a guest.
  @inline(never)
  func report(_ error: LuaError, _ subject: Subject, isOwn: Bool = true) {
    var error = error
    if isOwn, let advice = granted.guest?.advice(onMissingNameIn: error.message), !advice.isEmpty {
      error.message += advice
    }
    // A handler may close the state in any of its calls.
    state.keepingOpen { handle(error, subject, isOwn) }
  }

  private func handle(_ error: LuaError, _ subject: Subject, _ isOwn: Bool) {
    if error.kind == .interrupted {
      if errors.expectsInterrupts() { return }
      // Interrupted by a console, which reports its own errors and wants the loop to go on.
      if console.isOpen, !Ending.isAskedFor {
        if case .task(let task) = subject, task.name == consoleName { return }
        return errors.write(text(of: error, subject))
      }
    }
    errors.observe?(error, subject)
    let row = explanation.recorded(subject)
    errors.note(error, of: row)
    let endsScript = mainChunk.endsAtError && subject.isOfChunk
    let usual = endsScript ? ErrorPolicy.Verdict.stop : .continue
    var asked = askHandler(error, subject, usual)
    var endsAll = state.isCondemned
    if asked == nil, let decide = errors.decide {
      asked = decide(error, LuaHost.Subject(words(of: subject), loop.currentMode))
      endsAll = endsAll || asked == .stop
    }
    if asked == nil { writeReport(error, subject, isOwn) }
    let verdict = asked ?? errors.verdict ?? usual
    if isOwn || asked == nil || verdict == .stop {
      errors.noteReported()
      if error.isStop { errors.lastStop = error.kind }
    }
    if endsScript && verdict == .stop { mainChunk.fail() }
    if verdict == .stop || error.kind == .interrupted {
      errors.note(stopper: row)
      if !errors.isHosted { loop.stopWhenNextLooking() }
    }
    if endsAll && !state.isClosed { endScripts() }
  }

  /// Writes the report to stderr.
  private func writeReport(_ error: LuaError, _ subject: Subject, _ isOwn: Bool) {
    if errors.forward?(error) ?? false { return }
    let text = text(of: error, subject)
    if isOwn { errors.write(text) } else { errors.others.report(text) }
  }

  /// The text of a report: the handle, where it was made, the message, and the traceback.
  func text(of error: LuaError, _ subject: Subject) -> String {
    "moonloop: error in \(label(of: subject))\(modeText)\n\(error.report)"
  }

  private var modeText: String { loop.currentMode.map { ", mode '\($0)'" } ?? "" }

  /// The handle as text: "timer 'poll' (made at app.lua:12)".
  package func label(of subject: Subject) -> String { words(of: subject).label }

  /// Where a script made what a subject belongs to: "app.lua:12".
  func place(of subject: Subject) -> String { words(of: subject).place }

  /// What scripts began with: a main chunk, or a test.
  var chunkWord: String { bed.map { !$0.runsProgram } == true ? "the test" : "the main chunk" }

  private func words(of subject: Subject) -> SubjectWords {
    switch subject {
    case .chunk: return SubjectWords(kind: chunkWord)
    case .finalizer: return SubjectWords(kind: "a finalizer")
    case .reload(let what): return SubjectWords(kind: what)
    case .timer(let id):
      return SubjectWords(
        kind: "timer", name: handles.name(ofTimer: id),
        place: state.text(of: handles.place(ofTimer: id)))
    case .item(let item):
      return SubjectWords(
        kind: itemKinds.word(for: item), name: item.name,
        place: state.text(of: handles.place(of: item)))
    case .request(let request):
      return SubjectWords(kind: "\(request.kind)", place: state.text(of: request.madeAt))
    case .task(let task):
      guard case .chunk = task.subject else { return words(of: task.subject) }
      if task.madeAt.source < 0 { return words(of: .chunk) }
      return SubjectWords(kind: "task", name: task.name, place: state.text(of: task.madeAt))
    }
  }

  /// Calls the script's error handlers with a table that describes the error.
  /// - Parameter usual: What happens if the handler does not decide.
  /// - Returns: nil if there is none, or it failed itself; that failure is reported too.
  private func askHandler(
    _ error: LuaError, _ subject: Subject, _ usual: ErrorPolicy.Verdict
  ) -> ErrorPolicy.Verdict? {
    guard !errors.isAsking, !isClosing, let handler = ownHandler(subject) ?? errors.onError
    else { return nil }
    errors.isAsking = true
    defer { errors.isAsking = false }
    var verdict: ErrorPolicy.Verdict?
    let outcome = state.start(
      push: { stack in
        stack.push(handler)
        push(error, subject, on: stack)
        return 1
      },
      onReturn: { stack, count in
        verdict = count > 0 ? stack.string(-Int32(count)).flatMap(ErrorPolicy.Verdict.init) : nil
        verdict = verdict ?? usual
      })
    switch outcome {
    case .returned: return verdict
    case .failed(let task), .stopped(let task):
      let second = state.takeError(of: task)
      if second.kind == .interrupted, errors.expectsInterrupts() { return usual }
      errors.noteReported()
      errors.write("moonloop: error in the error handler\n\(second.report)")
      return nil
    case .suspended(let task):
      let position = state.stack(of: task).position
      let place = position.source < 0 ? "" : " at \(state.text(of: position))"
      tasks.forgetFirstWait(of: task)
      _ = state.end(task)
      errors.noteReported()
      errors.write(
        "moonloop: the error handler waits\(place), which it must not: it can start a loop:task")
      return nil
    case .nested: return nil
    }
  }

  private func ownHandler(_ subject: Subject) -> LuaReference? {
    switch subject {
    case .chunk, .finalizer, .reload: nil
    case .timer(let id): handles.onError(ofTimer: id)
    case .item(let item): handles.onError(of: item)
    case .request: nil
    case .task(let task): task.onError ?? ownHandler(task.subject)
    }
  }

  /// Pushes the table that an error handler gets. [-0, +1]
  private func push(_ error: LuaError, _ subject: Subject, on stack: LuaStack) {
    stack.newTable(fields: 8)
    stack.push("message")
    stack.push(messageOf: error)
    stack.rawSet(-3)
    stack.push("traceback")
    push(reportOf: error, on: stack)
    stack.rawSet(-3)
    stack.setField("handle", label(of: subject))
    if let code = error.code { stack.setField("code", code) }
    if let mode = loop.currentMode { stack.setField("mode", mode.rawValue) }
    stack.setField("kind", error.kind.rawValue)
    if let value = error.value {
      stack.setField("value", value)
    }
  }

  /// Pushes the message and the traceback; a short message as Lua has it. [-0, +1]
  private func push(reportOf error: LuaError, on stack: LuaStack) {
    stack.push(messageOf: error)
    let bytes = stack.withBytes(-1) { $0.count <= LuaText.bound ? Array($0) : nil } ?? nil
    stack.pop()
    let report = error.report
    guard let bytes, report.hasPrefix(error.message) else { return stack.push(report) }
    let whole = bytes + report.utf8.dropFirst(error.message.utf8.count)
    whole.withUnsafeBytes { stack.push(bytes: $0) }
  }

  /// Writes a warning, which fails no test. When the state ends, there is nothing left to warn
  /// about.
  func warn(_ text: String) {
    if isClosing { return }
    if let warn = errors.warn { return warn(text) }
    let line = "moonloop: warning: \(text)"
    if bed != nil { writeToStandardError(line) } else { errors.write(line) }
  }

  /// Limits have stopped the script too often, or its host has had enough: none of its code runs
  /// any more.
  private func endScripts() {
    if state.isCondemned && !errors.isHosted && !errors.hasToldOfStops {
      errors.hasToldOfStops = true  // what is closed meanwhile may be stopped, too
      errors.write("moonloop: limits have stopped the script too often: it is ended")
    }
    errors.isEndingScripts = true
    defer { errors.isEndingScripts = false }
    invalidateAll()
    tasks.endAll(forGood: state.isCondemned)
    if !errors.isHosted { loop.stop() }
    if state.isCondemned { errors.onCondemned?() }
  }
}
