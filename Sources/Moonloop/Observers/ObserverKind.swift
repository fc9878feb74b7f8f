// Observers: called at the stages of a run.

internal import LuaEmbed
internal import MoonloopCore

final class ObserverKind: ItemKind {
  static let word = "observer"
  static var handles: ItemHandles? { ItemHandles(slots: 1, observerEntries) }
  static var holdsRuns: Bool { false }  // R38
  static var loopEntries: [LuaEntry] {
    [.method("observer") { hostLoop($0, $1, "loop:observer") { try makeObserver($0, .loop) } }]
  }
  static var moduleEntries: [LuaEntry] {
    [.function("observer") { host($0, $1, "ml.observer") { try makeObserver($0, .module) } }]
  }

  let seat: KindSeat
  let activity: Loop.Observer.Handler

  init(_ seat: KindSeat) {
    self.seat = seat
    let door = seat.door
    activity = { observer, activity in
      door._withUnsafeGuaranteedRef { runtime in
        let name = runtime.names.ref(of: activity, runtime.state.stack)
        runtime.callOut(observer, slot: 1, argument: name)
        if !observer.repeats && observer.isValid { runtime.end(observer) }  // R34
      }
    }
  }

  // MARK: In words

  func stateText(of observer: Loop.Observer) -> String { "on \(names(of: observer.activities))" }

  func obstacle(to observer: Loop.Observer) -> String {
    let names = names(of: observer.activities)
    if observer.isFiring {
      return "its handler is running; it is not called for \(names) from within itself"
    }
    let sleep: Activity = [.beforeWaiting, .afterWaiting]
    if let run = runtime.explanation.scriptRun {
      if run.polls && observer.activities.isSubset(of: sleep) {
        return "it observes \(names), and a run with a timeout of 0 never sleeps"
      }
      if observer.activities == .entry {
        return "it observes entry, and this run has already begun; it is called in the next one"
      }
    }
    return "it observes \(names); it is called when a run in one of its modes gets there"
  }

  func endText(of observer: Loop.Observer) -> String {
    observer.repeats || observer.callouts == 0
      ? "it has ended" : "one-shot observer (repeats = false); it has already run"
  }

  private func names(of activities: Activity) -> String {
    activityNames.filter { activities.contains($0.value) }.map(\.name).joined(separator: ",")
  }
}
