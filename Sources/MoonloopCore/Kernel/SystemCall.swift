// The names of the system calls, their results as Swift errors, and the switch that makes them
// fail.

internal import CLinuxShims

/// A system call that the kernels make, and that a test can make fail.
package enum SystemCall: Int32, CaseIterable, Sendable {
  case epollCreate = 1
  case epollControl, epollWait, eventfd, timerfdCreate, timerfdSet, fcntl, read, write
  case socketPair, prctl, epollWaitPrecise, shutdown
  case signalfd, pipe, clone, inotifyInit, inotifyAdd, open
  case socket, bind, listen, accept, connect, setOption, sendTo, receiveFrom
  case sendMessage, receiveMessage, sendFile, splice

  /// The name as in the manual, such as `epoll_ctl`.
  package var name: String {
    switch self {
    case .epollCreate: "epoll_create1"
    case .epollControl: "epoll_ctl"
    case .epollWait: "epoll_wait"
    case .eventfd: "eventfd"
    case .timerfdCreate: "timerfd_create"
    case .timerfdSet: "timerfd_settime"
    case .fcntl: "fcntl"
    case .read: "read"
    case .write: "write"
    case .socketPair: "socketpair"
    case .prctl: "prctl"
    case .epollWaitPrecise: "epoll_pwait2"
    case .shutdown: "shutdown"
    case .signalfd: "signalfd"
    case .pipe: "pipe2"
    case .clone: "clone"
    case .inotifyInit: "inotify_init1"
    case .inotifyAdd: "inotify_add_watch"
    case .open: "open"
    case .socket: "socket"
    case .bind: "bind"
    case .listen: "listen"
    case .accept: "accept4"
    case .connect: "connect"
    case .setOption: "setsockopt"
    case .sendTo: "sendto"
    case .receiveFrom: "recvfrom"
    case .sendMessage: "sendmsg"
    case .receiveMessage: "recvmsg"
    case .sendFile: "sendfile"
    case .splice: "splice"
    }
  }

  /// The value of a call that says failure as -errno.
  package func check(_ result: Int32) throws(SystemError) -> Int32 {
    if result < 0 { throw SystemError(call: name, code: -result) }
    return result
  }

  /// Passes on a count of bytes; throws if it is a negative error number.
  package func check(_ result: Int) throws(SystemError) -> Int {
    if result < 0 { throw SystemError(call: name, code: Int32(-result)) }
    return result
  }

  /// The descriptor that a call made.
  package func descriptor(_ result: Int32) throws(SystemError) -> Descriptor {
    Descriptor(owning: try check(result))
  }

  /// Fails if a fault is due; for the kernel that has no system calls to fail by themselves.
  package func takeFault() throws(SystemError) {
    var code = cmx_fault_take(rawValue)
    while code == Errno.interrupted { code = cmx_fault_take(rawValue) }
    if code != 0 { throw SystemError(call: name, code: code) }
  }
}

/// Makes system calls of the calling thread fail, in both kernels.
///
/// In every build: the price is one comparison with a thread-local word for each system call.
package enum SystemFault {
  /// Runs a body while some calls of one system call fail without reaching the system.
  ///
  /// One fault at a time: a nested use replaces the outer one. It covers the calling thread only.
  /// - Parameters:
  ///   - call: The call that fails.
  ///   - skipped: How many calls pass first.
  ///   - times: How many fail after these; `Int32.max` is for good.
  ///   - code: The `errno` of the failure.
  /// - Returns: What the body returned, and how many calls failed.
  package static func during<Value>(
    _ call: SystemCall, after skipped: Int32 = 0, times: Int32 = 1, code: Int32,
    _ body: () throws -> Value
  ) rethrows -> (value: Value, strikes: Int) {
    cmx_fault_set(call.rawValue, skipped, times, code)
    defer { cmx_fault_set(0, 0, 0, 0) }
    let value = try body()
    return (value, Int(cmx_fault_strikes()))
  }
}

/// The values of `errno` that have a meaning here.
package enum Errno {
  static let notPermitted: Int32 = 1
  package static let notFound: Int32 = 2
  package static let noProcess: Int32 = 3
  package static let interrupted: Int32 = 4
  package static let inputOutput: Int32 = 5
  package static let badDescriptor: Int32 = 9
  package static let wouldBlock: Int32 = 11
  package static let noMemory: Int32 = 12
  package static let denied: Int32 = 13
  package static let exists: Int32 = 17
  package static let notFolder: Int32 = 20
  static let isDirectory: Int32 = 21
  package static let brokenPipe: Int32 = 32
  package static let invalid: Int32 = 22
  package static let notSocket: Int32 = 88
  package static let addressInUse: Int32 = 98
  package static let inProgress: Int32 = 115
  package static let connectionReset: Int32 = 104
  static let notSupported: Int32 = 95
  package static let cancelled: Int32 = 125
}
