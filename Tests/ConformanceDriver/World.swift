// The seam between the engine and time, threads and sockets: the real ones or simulated ones.

enum ReadOutcome: Sendable {
  case data([UInt8])
  case endOfFile
  case nothing
}

/// Where a scenario takes place. Times are nanoseconds on the world's clock, which is also that of
/// its loops.
protocol World: AnyObject, Sendable {
  func now() -> Int64

  /// Lets the time of a callback or an action pass, where it does not pass by itself.
  func spendTime()

  /// Makes the calling thread the home thread, with its loop, until the body returns.
  func runHome(_ body: () -> Void)
  /// Starts a thread with a loop of its own.
  func startThread(named name: String, _ body: @escaping @Sendable () -> Void)
  /// Hands a block to the libdispatch main queue.
  func mainAsync(_ block: @escaping @Sendable () -> Void)

  /// A connected pair of nonblocking stream sockets.
  func socketPair() -> (near: Int32, far: Int32)
  func read(_ fd: Int32, atMost count: Int) -> ReadOutcome
  /// - Returns: How many bytes were written; 0 if there is no room or no peer.
  func write(_ fd: Int32, _ bytes: [UInt8]) -> Int
  func close(_ fd: Int32)
}
