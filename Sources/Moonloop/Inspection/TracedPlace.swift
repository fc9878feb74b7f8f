// For traces: where what the loop calls was made, and the names of the host's own timers.

internal import LuaEmbed
package import MoonloopCore

extension Explanation {
  /// The file:line that made the subject of a trace; empty if no script did.
  /// - Parameter subject: As in the trace event; the object it refers to must be alive.
  package func place(ofTraced kind: CalloutKind, _ subject: UInt64) -> String {
    if subject == 0 { return "" }
    guard kind == .timer else {
      let pointer = UnsafeRawPointer(bitPattern: UInt(subject))!
      return Unmanaged<Loop.Item>.fromOpaque(pointer)._withUnsafeGuaranteedRef {
        text(handles.place(of: $0))
      }
    }
    let id = TimerID(rawValue: subject)
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
