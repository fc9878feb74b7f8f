// What other threads touch of a loop; everything else belongs to its own thread.

package import Synchronization

/// The part of a loop that any thread may use.
package struct SharedState: ~Copyable, Sendable {
  package let inbox = Inbox<Post>()
  /// How many wake-ups were asked for, ever: a pass compares it with that at its begin (R117).
  let wakes = Atomic<UInt64>(0)
  /// The same number when a pass last began. As long as the two differ, another wake-up changes
  /// nothing.
  let wakesSeen = Atomic<UInt64>(0)
  var hasUnseenWake: Bool {
    wakes.load(ordering: .relaxed) != wakesSeen.load(ordering: .relaxed)
  }
  /// Whether the loop's thread may be in the kernel's wait: the thread that clears this wakes it.
  let isAsleep = Atomic<Bool>(false)
  /// Whether the loop sleeps (R5).
  let isWaiting = Atomic<Bool>(false)
  /// The serial number of the innermost run; 0: the loop does not run.
  let activation = Atomic<UInt64>(0)
  let hasEnded = Atomic<Bool>(false)
  /// Every run under way, and every later one, ends at once.
  let endsRuns = Atomic<Bool>(false)
  /// The loop serves the loops of scripts until they are through: the end of the program does not
  /// end its runs.
  package let outlastsScripts = Atomic<Bool>(false)
  /// Whether another run loop serves this one in its runs, and which.
  let isHosted = Atomic<Bool>(false)
  let isHostAsleep = Atomic<Bool>(false)
  let host = Guarded<(any LoopHost)?>(nil)
  /// The jobs of actors that come after the end.
  let lateJobs = LateJobs()
}
