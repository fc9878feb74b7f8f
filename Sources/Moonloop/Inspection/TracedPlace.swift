// For traces: where what the loop calls was made, and the names of the host's own timers.

internal import LuaEmbed
package import MoonloopCore

extension Explanation {
  /// The word for the subject of a trace, and the file:line that made it, which is empty if no
  /// script did.
  /// - Parameter subject: As in the trace event; the object it refers to must be alive.
  package func traced(_ kind: CalloutKind, _ subject: UInt64) -> (word: String, place: String) {
    if subject == 0 { return (kind.rawValue, "") }
    if kind == .timer { return (kind.rawValue, place(ofTraced: TimerID(rawValue: subject))) }
    let pointer = UnsafeRawPointer(bitPattern: UInt(subject))!
    return Unmanaged<Loop.Item>.fromOpaque(pointer)._withUnsafeGuaranteedRef {
      let subject = recorded($0)
      return (subject.word, text(subject.place))
    }
  }

  private func place(ofTraced id: TimerID) -> String {
    if let timer = loop.timerObject(id) { return text(handles.place(of: timer)) }
    let callout = loop.timers.callout(of: id)
    if callout.context == runtime.context, tasks.isOfWait(callout) {
      return tasks[callout.payload].map { place(of: $0) } ?? ""
    }
    return text(handles.place(ofTimer: id))
  }

  /// The file:line that made a task, or the item whose handler it is.
  package func place(of task: ScriptTask) -> String {
    if task.madeAt.source >= 0 { return text(task.madeAt) }
    switch task.subject {
    case .timer(let id): return text(handles.place(ofTimer: id))
    case .item(let item): return text(handles.place(of: item))
    default: return ""
    }
  }

  /// A host timer's name in traces. Only delayed requests have a place.
  func traceName(of timer: Loop.Timer) -> String {
    let isRequest = timer.name.isEmpty && handles.place(of: timer).source >= 0
    return isRequest ? "perform_after" : timer.name
  }

  private func text(_ place: LuaPosition) -> String {
    place.source < 0 ? "" : state.text(of: place)
  }
}
