// Follows a loop while scripts run on it: which handlers are called, as rows of figures.

internal import LuaEmbed
internal import MoonloopCore
internal import Synchronization

/// The figures of one loop, since they were first asked for. Loop thread only.
final class Measuring {
  let recorder: LoopRecorder
  private let loop: Loop
  private unowned let runtime: Runtime  // it ends this before it goes
  private var watcher: TraceWatcher!
  /// The rows of timers by slot, for those that fire again: most lookups end here.
  private var timerRows: [(id: TimerID, row: Int)] = []
  /// Distinguishes the rows noted with items from those of an earlier measurement.
  private let tag: Int32
  private static let rowBits: Int32 = 10
  private static let lastNumber = Atomic<Int32>(0)

  init(_ runtime: Runtime) {
    self.runtime = runtime
    loop = runtime.loop
    let number = Self.lastNumber.add(1, ordering: .relaxed).newValue
    tag = (number & 0xfffff) << Self.rowBits
    var find: (CalloutKind, UInt64) -> Int? = { _, _ in nil }
    let options = LoopRecorder.Options(span: 1, columns: 0, from: 0, to: 0, details: 0)
    recorder = LoopRecorder(loop, options) { find($0, $1) }
    let recorder = recorder
    watcher = TraceWatcher(wantsNames: false) { recorder.take($0) }
    find = { [unowned self] in row($0, $1) }  // `end` takes the recorder off the loop
    loop.add(watcher: watcher)
    if let visit = runtime.console.visit {
      let subject = runtime.explanation.recorded(visit.who.subject)
      recorder.begin(in: subject, .block, depth: runtime.explanation.scriptRuns.count)
    }
  }

  func end() { loop.remove(watcher: watcher) }

  // MARK: Rows

  /// The row of what is about to be called; nil: not known before the call.
  private func row(_ kind: CalloutKind, _ subject: UInt64) -> Int? {
    switch kind {
    case .timer: row(TimerID(rawValue: subject))
    case .block, .mainQueue: nil
    case .source, .port, .descriptor, .observer:
      UnsafeRawPointer(bitPattern: UInt(subject)).map {
        Unmanaged<Loop.Item>.fromOpaque($0)._withUnsafeGuaranteedRef { row($0, kind) }
      }
    }
  }

  private func row(_ item: Loop.Item, _ kind: CalloutKind) -> Int {
    let noted = item.maker.row
    let mask = (Int32(1) << Self.rowBits) - 1
    if noted >= 0 && noted & ~mask == tag { return Int(noted & mask) }
    let row = recorder.row(of: runtime.explanation.recorded(item), kind)
    item.maker.row = tag | Int32(row)
    return row
  }

  private func row(_ id: TimerID) -> Int? {
    if id.slot < timerRows.count && timerRows[id.slot].id == id { return timerRows[id.slot].row }
    if loop.timerObject(id) != nil { return nil }
    let callout = loop.timers.callout(of: id)
    let owner = Runtime.of(callout.context)
    let row = recorder.row(of: owner.explanation.recorded(id, callout), .timer)
    if id.isTurn || loop.timers.records[id.slot].interval == 0 { return row }
    while timerRows.count <= id.slot { timerRows.append((TimerID(rawValue: 0), 0)) }
    timerRows[id.slot] = (id, row)
    return row
  }

  /// The row of a timer or an item, if it has been called since.
  func figures(_ subject: RecordedSubject) -> LoopRecorder.Item? { recorder.item(subject) }
}

extension LoopContext {
  /// Starts to follow the loop, unless it already does.
  @discardableResult
  package func measure() -> Bool {
    // A finalizer may ask when all that the state has on the loop has ended.
    if measuring != nil || runtime.isClosing { return false }
    measuring = Measuring(runtime)
    return true
  }

  /// Says what the call under way is for, if the loop cannot know: it calls a block, or a timer of
  /// the host.
  func nameCall(_ subject: @autoclosure () -> RecordedSubject) {
    measuring?.recorder.nameCall(subject())
    guard let tracer = runtime.tracer else { return }
    let subject = subject()
    let place = subject.place.source < 0 ? "" : runtime.state.text(of: subject.place)
    tracer.call(subject.word, subject.name, place)
  }
}

extension Explanation {
  // MARK: What belongs to which row

  /// What serves a guest belongs to its row.
  func recorded(_ item: Loop.Item) -> RecordedSubject {
    let item = guest(servedBy: item) ?? item
    return RecordedSubject(
      word: itemKinds.word(for: item), name: item.name, place: handles.place(of: item))
  }

  func recorded(timer id: TimerID) -> RecordedSubject {
    RecordedSubject(
      word: "timer", name: handles.name(ofTimer: id), place: handles.place(ofTimer: id))
  }

  func recorded(_ request: ScriptRequest) -> RecordedSubject {
    RecordedSubject(word: "\(request.kind)", name: "", place: request.madeAt)
  }

  func recorded(_ subject: Subject) -> RecordedSubject {
    switch subject {
    case .timer(let id): recorded(timer: id)
    case .item(let item): recorded(item)
    case .request(let request): recorded(request)
    case .task(let task):
      // A handler that goes on after a wait belongs to its item.
      if case .chunk = task.subject {
        RecordedSubject(
          word: task.madeAt.source < 0 ? runtime.chunkWord : "task", name: task.name,
          place: task.madeAt)
      } else {
        recorded(task.subject)
      }
    case .chunk: RecordedSubject(word: runtime.chunkWord, name: "")
    case .finalizer: RecordedSubject(word: "a finalizer", name: "")
    case .reload(let what): RecordedSubject(word: what, name: "")
    }
  }

  /// The same for a timer that fires: one that resumes a task stands for the task.
  fileprivate func recorded(_ id: TimerID, _ callout: TimerCallout) -> RecordedSubject {
    if tasks.isOfWait(callout), let task = tasks[callout.payload] { return recorded(.task(task)) }
    return recorded(timer: id)
  }

  /// A row as text: "timer 'poll' (made at app.lua:12)".
  func label(of subject: RecordedSubject) -> String {
    let named = subject.name.isEmpty ? subject.word : "\(subject.word) '\(subject.name)'"
    return subject.place.source < 0 ? named : "\(named) (made at \(state.text(of: subject.place)))"
  }
}
