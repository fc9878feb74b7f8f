// The points where this loop and Core Foundation's differ on purpose: the switches of the model.

/// One point on which docs/sequence.md rules against CFRunLoop as it runs on Linux.
enum Ruling: String, CaseIterable, Sendable {
  /// A mode that has become empty ends the run before and in the sleep.
  case emptinessBeforeSleep = "R10"
  /// A port that is ready before the sleep is served without the notifications of a sleep.
  case readyPortNeedsNoSleep = "R27"
  /// Only a port, a due timer, the timeout or a wake-up ends the sleep; CF's kernel timer is never
  /// disarmed.
  case goneTimerDoesNotWake = "R30"
  /// A signalled source that leaves all modes gives up its place among equal orders.
  case placeIsLostWithModes = "R41"
  /// Adding a source from another thread wakes the loop.
  case addedSourceWakes = "R50"
  /// Blocks run after the sources if any was performed; CF only looks at the last one.
  case anySourceCounts = "R52"
  /// A port that was emptied in one mode has lost its place in its others.
  case emptiedPortLosesPlace = "R54"
  /// A ready port goes before due timers; CF takes what was ready first.
  case portsBeforeTimers = "R56"
  /// A timer that an earlier call-out of the batch took out of this mode or postponed does not fire
  /// in it, and one that was moved is sorted again; CF collects the batch once.
  case batchFollowsChanges = "R74"
  /// A past first date keeps its grid.
  case pastDateKeepsGrid = "R77"
  /// Moving a timer from another thread does not end the sleep.
  case movedTimerDoesNotWake = "R85"
  /// A mode exists once it is a common mode; CF makes it when the first item joins it.
  case commonModeExists = "R90"
  /// A common timer that was taken out of all its modes is still a common item.
  case timerNowhereIsCommon = "R91"
  /// An invalid item is no common item.
  case invalidIsNotCommon = "R93"
  /// A wake-up reaches every run of the stack; in CF the inner run consumes it.
  case wakeUpReachesAllRuns = "R102"
  /// A nested run performs blocks of other modes that were queued with the batch under way.
  case batchHidesOnlyItself = "R109"
  /// A wake-up that no sleep has used is over with its run, and a stop leaves none to the next run.
  case wakeUpEndsWithItsRun = "R118"
  /// What ended a sleep is hidden from a run that is nested in `afterWaiting`; in CF that run
  /// merely does not see it as ready.
  case eventIsTheOuterRuns = "R135"
  /// A wake-up does not cost other ready items their turn.
  case wakeUpTakesNoTurn = "R137"
  /// The timeout of an outer run does not wake the inner one.
  case outerTimeoutIsSilent = "R138"
  /// Step 9 looks again, unless the port that ended the sleep is still ready: what became ready in
  /// `afterWaiting` can be the event of the pass.
  case eventIsLookedForAgain = "R139"
  /// A timer whose date was set to the past reports the moment of the call, at which it is due.
  case pastDateIsShownAsNow = "R140"

  /// The rulings that hold here, or there.
  static func all(of face: FaceName) -> Set<Ruling> { face.isCF ? [] : Set(allCases) }
}
