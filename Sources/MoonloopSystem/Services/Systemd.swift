// What systemd and a program that it started say to each other.

internal import CLinuxShims
package import MoonloopCore

/// The service manager that started this process, if there is one. Any thread.
package enum Systemd {
  /// Whether it wants to know of the program's state.
  package static var isListening: Bool { cmx_is_notified() }

  /// Sends it lines such as "READY=1", if it listens. Bypasses any recording.
  package static func notify(_ lines: String) { cmx_notify(lines) }

  /// Tells it that the program begins to load its configuration again.
  package static func notifyReload() {
    cmx_notify("RELOADING=1\nMONOTONIC_USEC=\(cmx_service_time())")
  }

  /// The longest time between two signs of life; nil if it wants none.
  package static var watchdogTime: Duration? {
    let time = cmx_watchdog_time()
    return time > 0 ? .nanoseconds(time) : nil
  }

  /// How many sockets it has passed.
  package static var passedSockets: Int { Int(cmx_passed_sockets()) }

  /// A copy of a listening socket that it has passed, for the caller to close.
  /// - Parameter name: "" if it passed only one, or the socket's name, or its number from 1.
  /// - Throws: ENOENT if there is none, ENOTUNIQ if there are several, EINVAL if it does not
  ///   listen.
  package static func passedSocket(_ name: String) throws(SystemError) -> Descriptor {
    try SystemCall.fcntl.descriptor(cmx_passed_socket(name))
  }

  /// Whether a descriptor leads to the journal, which wants each line's priority before it.
  package static func isJournal(_ fd: Int32) -> Bool { cmx_is_journal(fd) }
}
