// What a scenario asks of a run loop, in the words of the format: the seam between the engine and
// the interfaces under test.

import ConformanceFormat
import MoonloopCore

/// What a callback was called for.
enum Event: Sendable {
  /// A timer fired, a block was performed.
  case plain
  case perform
  case schedule(mode: String)
  case cancel(mode: String)
  case message(String)
  case ready(Direction)
  case activity(ActivityName)
}

/// The engine's side, which the callbacks of all objects call on the thread that they run on.
protocol CallbackReceiver: AnyObject, Sendable {
  func called(_ id: String, _ event: Event)
}

/// An interface to the run loop. Objects are named by their ids.
///
/// Everything is called on the thread of the loop it concerns, except where it says "any thread".
protocol Face: AnyObject, Sendable {
  /// Why the interface cannot show the scenario; nil if it can.
  static func reasonNotToRun(_ scenario: Scenario) -> String?

  /// A thread of the scenario begins; called before everything else on it.
  func threadBegan(_ name: String, on loop: Loop)

  /// The thread that an object must be used on while it is on no loop; nil: any.
  func place(of id: String) -> String?

  // Objects
  func make(_ spec: ObjectSpec, descriptor: Int32?)
  func add(_ id: String, to mode: String, of loop: Loop)
  func remove(_ id: String, from mode: String, of loop: Loop)
  func contains(_ id: String, in mode: String, of loop: Loop) -> Bool
  func isValid(_ id: String) -> Bool
  func invalidate(_ id: String)

  // Timers; times on the loop's clock
  func nextFire(_ id: String) -> Int64?
  func setNextFire(_ id: String, _ time: Int64)
  func setTolerance(_ id: String, _ time: Int64)
  func fire(_ id: String)

  // Sources and ports: any thread
  func signal(_ id: String)
  func post(_ message: String, to id: String)

  // Descriptors
  func enable(_ id: String, _ events: [Direction])
  func disable(_ id: String, _ events: [Direction])
  func read(_ id: String, atMost count: Int) -> ReadOutcome

  // Loops
  func run(_ loop: Loop, mode: String, timeout: Int64?, returnAfterSource: Bool) -> RunResult
  func runUnconditionally(_ loop: Loop)
  func addCommonMode(_ mode: String, to loop: Loop)
  func nextTimerDate(in mode: String, of loop: Loop) -> Int64?
  func currentMode(of loop: Loop) -> String?
  /// A delayed perform request.
  func request(_ id: String, modes: [String], after delay: Int64, on loop: Loop)
  func cancelRequests(_ id: String, on loop: Loop)
  func cancelRequests(ofTarget name: String, on loop: Loop)

  // Loops: any thread
  func isWaiting(_ loop: Loop) -> Bool
  func stop(_ loop: Loop)
  func wakeUp(_ loop: Loop)

  // Blocks: any thread
  func perform(_ id: String, modes: [String], on loop: Loop, _ aim: Aim?)
  /// A perform request; sets the flag once it has been performed.
  func request(_ id: String, modes: [String], on loop: Loop, _ aim: Aim?, then flag: Flag?)
}
