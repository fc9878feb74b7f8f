// A system call that failed, as a value: the call, its errno, and words for both.

internal import CLinuxShims
internal import Glibc

/// A system call that failed.
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The name of the system call, such as `epoll_ctl`.
  public let call: String
  /// The value of `errno` after the call.
  public let code: Int32

  /// The failure of a system call, with what `errno` was after it.
  public init(call: String, code: Int32) {
    self.call = call
    self.code = code
  }

  /// The symbolic name of the code, such as `EBADF`.
  public var name: String {
    (cmx_errno_name(code) ?? cmx_tls_name(code)).map { String(cString: $0) } ?? "errno \(code)"
  }

  /// The system's words for the code, such as `Bad file descriptor`.
  public var message: String {
    cmx_tls_words(code).map { String(cString: $0) } ?? String(cString: strerror(code))
  }

  public var description: String { "\(call) failed: \(message) (\(name))" }
}
