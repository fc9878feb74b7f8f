// What can go wrong when items are put on a loop: operating errors, as values.

/// An item could not be put on a loop, or a message into a port.
public enum LoopError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The item was invalidated; it can be used no more.
  case invalidItem(String)
  /// The item is in modes of another loop and has to leave them first (R35, R80).
  case onAnotherLoop(String)
  /// The handler of the item may be bound to another thread, for whose loop it was made.
  case madeForAnotherThread(String)
  /// The descriptor is watched in this mode by another source already.
  case descriptorInUse(fd: Int32, by: String)
  /// The port holds as many messages as it may.
  case portFull(String, capacity: Int)
  /// The loop holds as many timers as it may.
  case tooManyTimers(Int)
  /// The thread of the loop has ended, or the isolated loop is over.
  case loopEnded(String)
  /// The system refused.
  case system(SystemError, String)

  /// The symbolic code of the error, such as `EEXIST`.
  public var code: String {
    switch self {
    case .invalidItem: "EINVAL"
    case .onAnotherLoop: "EBUSY"
    case .madeForAnotherThread: "EPERM"
    case .descriptorInUse: "EEXIST"
    case .portFull: "EAGAIN"
    case .tooManyTimers: "ENOSPC"
    case .loopEnded: "ESRCH"
    case .system(let error, _): error.name
    }
  }

  public var description: String {
    switch self {
    case .invalidItem(let name): "\(name) is invalid: it was invalidated and cannot be added"
    case .onAnotherLoop(let name):
      "\(name) is in modes of another loop; remove it there from all modes first"
    case .madeForAnotherThread(let name):
      "\(name) was made for the loop of another thread; make it with a @Sendable handler instead"
    case .descriptorInUse(let fd, let other):
      "descriptor \(fd) is watched already by \(other); use one source for both directions"
    case .portFull(let name, let capacity): "\(name) is full: \(capacity) messages wait in it"
    case .tooManyTimers(let limit): "the loop has \(limit) timers, more than it can hold"
    case .loopEnded(let name): "\(name) has ended with its thread"
    case .system(let error, let what): "\(what): \(error)"
    }
  }
}
