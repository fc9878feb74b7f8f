// Folders, locks and sockets' files that are one user's alone: where named ports are found.

internal import CLinuxShims
package import MoonloopCore

/// Files of this user that no other may use.
package enum PrivateFiles {
  /// Who runs this process, by number.
  package static var user: Int { Int(cmx_user()) }

  /// What is wrong with a folder.
  package enum Flaw: Error {
    case failed(SystemError)
    case noFolder
    case ofAnotherUser
    case openToOthers
  }

  /// Makes a folder that only this user may enter; one that is there must be such.
  package static func makeFolder(_ path: String) throws(Flaw) {
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
    /// Another has it: this process, if that is known.
    case taken(pid: Int?)
    case failed(SystemError)
  }

  /// Locks a file, until the descriptor is closed or the process ends, however it ends.
  package static func lock(_ path: String) throws(Refusal) -> Descriptor {
    var owner: Int32 = 0
    let fd = cmx_lock_file(path, &owner)
    if fd >= 0 { return Descriptor(owning: fd) }
    if -fd == Errno.addressInUse { throw .taken(pid: owner > 0 ? Int(owner) : nil) }
    throw .failed(SystemError(call: SystemCall.open.name, code: -fd))
  }

  /// Whether something that is no socket is in the way of one.
  package static func isTaken(_ path: String) -> Bool { cmx_is_other_file(path) }
}

extension Sockets {
  /// How many descriptors one message may carry.
  package static let mostPassed = Int(CMX_MOST_PASSED)

  /// Sends what fits of some bytes, and descriptors with the first of them.
  /// - Throws: EAGAIN when nothing fits now.
  package static func send(
    _ fd: Int32, _ bytes: UnsafeRawBufferPointer, with passed: [Int32]
  ) throws(SystemError) -> Int {
    let result = passed.withUnsafeBufferPointer {
      cmx_send_with(fd, bytes.baseAddress, bytes.count, $0.baseAddress, Int32($0.count))
    }
    return try SystemCall.sendMessage.check(result)
  }

  /// What one look at a socket brought.
  package struct Received {
    /// How many bytes lie in the buffer; 0: the peer has ended.
    package var count = 0
    /// The caller's from now on.
    package var descriptors: [Int32] = []
    /// Descriptors that came could not be taken over.
    package var isCut = false
  }

  /// Receives bytes and the descriptors that came with them.
  /// - Throws: EAGAIN when nothing has come.
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
