// Folders, locks and socket files of one user, where named ports are found.

internal import CLinuxShims
package import MoonloopCore

/// Files of this user that no other user can access.
package enum PrivateFiles {
  /// The user ID of this process.
  package static var user: Int { Int(cmx_user()) }

  /// What is wrong with a folder.
  package enum Flaw: Error {
    case failed(SystemError)
    case noFolder
    case ofAnotherUser
    case openToOthers
  }

  /// Makes a folder that only this user may enter, or checks the one that exists.
  static func makeFolder(_ path: String) throws(Flaw) {
    var code: Int32 = 0
    switch cmx_private_folder(path, &code) {
    case cmx_privacy_good: return
    case cmx_privacy_no_folder: throw .noFolder
    case cmx_privacy_of_another: throw .ofAnotherUser
    case cmx_privacy_open_to_others: throw .openToOthers
    default: throw .failed(SystemError(call: "mkdir", code: code))
    }
  }

  /// Why a file cannot be locked.
  package enum Refusal: Error {
    /// Another process has it; its ID, if known.
    case taken(pid: Int?)
    case failed(SystemError)
  }

  /// Locks a file until the descriptor is closed or the process ends in any way.
  package static func lock(_ path: String) throws(Refusal) -> Descriptor {
    var owner: Int32 = 0
    let fd = cmx_lock_file(path, &owner)
    if fd >= 0 { return Descriptor(owning: fd) }
    if -fd == Errno.addressInUse { throw .taken(pid: owner > 0 ? Int(owner) : nil) }
    throw .failed(SystemError(call: SystemCall.open.name, code: -fd))
  }

  /// Whether a file that is not a socket is in the way.
  package static func isTaken(_ path: String) -> Bool { cmx_is_other_file(path) }
}

extension Sockets {
  /// How many descriptors one message may carry.
  package static let mostPassed = Int(CMX_MOST_PASSED)

  /// Sends some of the bytes, as many as fit, and descriptors with the first of them.
  /// - Throws: EAGAIN if nothing fits now.
  package static func send(
    _ fd: Int32, _ bytes: UnsafeRawBufferPointer, with passed: [Int32]
  ) throws(SystemError) -> Int {
    let result = passed.withUnsafeBufferPointer {
      cmx_send_with(fd, bytes.baseAddress, bytes.count, $0.baseAddress, Int32($0.count))
    }
    return try SystemCall.sendMessage.check(result)
  }

  /// The result of one receive.
  package struct Received {
    /// The number of bytes in the buffer; 0: the peer has ended.
    package var count = 0
    /// Owned by the caller from now on.
    package var descriptors: [Int32] = []
    /// Whether descriptors came that could not be taken over.
    package var isCut = false
  }

  /// Receives bytes and the descriptors sent with them.
  /// - Throws: EAGAIN if nothing has arrived.
  package static func receive(
    _ fd: Int32, withDescriptorsInto buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Received {
    var received = Received()
    var number: Int32 = 0
    let result = withUnsafeTemporaryAllocation(of: Int32.self, capacity: mostPassed) { passed in
      let result = cmx_receive_with(
        fd, buffer.baseAddress, buffer.count, passed.baseAddress, &number, &received.isCut)
      received.descriptors = Array(passed.prefix(Int(number)))
      return result
    }
    received.count = try SystemCall.receiveMessage.check(result)
    return received
  }
}
