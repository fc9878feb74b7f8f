// Answers queries, as entries of the trace.

import ConformanceFormat
import MoonloopCore

extension Engine {
  func perform(_ query: Query, on target: ScenarioThread, by thread: ScenarioThread) {
    let loop = target.loop
    switch query {
    case .currentMode:
      let mode = ask(target, by: thread) { [face] in face.currentMode(of: loop) }
      add("query:currentMode=\((mode ?? nil) ?? "none")")
    case .waiting:
      add("query:waiting=\(face.isWaiting(loop))")
    case .valid(let id):
      let isValid = askOwner(of: id, by: thread) { [face] in face.isValid(id) }
      add("query:valid(\(id))=\(isValid ?? false)")
    case .contains(let id, let mode):
      let isIn = ask(target, by: thread) { [face] in face.contains(id, in: mode, of: loop) }
      add("query:contains(\(id),\(mode))=\(isIn ?? false)")
    case .nextFire(let id):
      let time = askOwner(of: id, by: thread) { [face] in face.nextFire(id) }
      add("query:nextFire(\(id))=\(word(for: time ?? nil))")
    case .nextTimer(let mode):
      let time = ask(target, by: thread) { [face] in face.nextTimerDate(in: mode, of: loop) }
      add("query:nextTimer(\(mode))=\(word(for: time ?? nil))")
    case .elapsed:
      add("query:elapsed=\(Trace.slot(nanoseconds: elapsed()))")
    }
  }

  private func word(for time: Int64?) -> String {
    guard let time else { return "none" }
    return String(Trace.slot(nanoseconds: scenarioTime(time)))
  }
}
