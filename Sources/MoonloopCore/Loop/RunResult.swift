// Why a run ended.

/// Why a run of a loop ended. Counterpart: `CFRunLoopRunResult`, in the same order.
public enum RunResult: Int, Sendable, CaseIterable {
  /// The mode has nothing left that could happen (R7, R9).
  case finished = 1
  /// `stop` met this run (R15).
  case stopped = 2
  /// The time limit was over at the end of a pass (R11).
  case timedOut = 3
  /// A source was served, and the run was asked to return after one (R13).
  case handledSource = 4
}
