// Observers: called at the stages of a run.

internal import LuaEmbed
internal import MoonloopCore

final class ObserverKind: ItemKind {
  static let word = "observer"
  static var handles: ItemHandles? { ItemHandles(slots: 1, observerEntries) }
  static var holdsRuns: Bool { false }  // R38
  static var loopEntries: [LuaEntry] { [.method("observer", loopObserver)] }
  static var moduleEntries: [LuaEntry] { [.function("observer", moduleObserver)] }

  let seat: KindSeat
  let activity: Loop.Observer.Handler

  init(_ seat: KindSeat) {
    self.seat = seat
    let door = seat.door
    activity = { observer, activity in
      door._withUnsafeGuaranteedRef { runtime in
        let name = runtime.names.ref(of: activity)
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
      return "its handler runs now; it is not told of \(names) inside of itself"
    }
    let sleep: Activity = [.beforeWaiting, .afterWaiting]
    if let run = runtime.explanation.scriptRun {
      if run.polls && observer.activities.isSubset(of: sleep) {
        return "it is told of \(names), and a run with a timeout of 0 only looks: it never sleeps"
      }
      if observer.activities == .entry {
        return "it is told of entry, and this run has begun already: the next one tells it"
      }
    }
    return "it is told of \(names), when that comes in a run in its modes"
  }

  func endText(of observer: Loop.Observer) -> String {
    observer.repeats || observer.callouts == 0
      ? "it has ended" : "it was told once, as it was to (repeats = false), and ended"
  }

  private func names(of activities: Activity) -> String {
    activityNames.filter { activities.contains($0.value) }.map(\.name).joined(separator: ",")
  }
}
