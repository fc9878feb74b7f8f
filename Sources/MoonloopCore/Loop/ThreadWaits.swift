// Threads of loops that wait for one another would wait for ever: the last one is stopped instead.

internal import CLinuxShims

/// Where a thread waits, without a limit, and whose thread is to open the gate.
private struct ThreadWait {
  let target: Int32
  let gate: any Gate
}

/// By the waiting thread. Any thread.
private let waits = Guarded<[Int32: ThreadWait]>([:])

extension Loop {
  /// Waits until the loop's thread opens a gate, for a caller of another thread.
  /// - Returns: false if the time is over first.
  /// - Note: Stops the program if no limit is given and the loop's thread waits for the caller's.
  func wait(at gate: any Gate, atMost limit: Duration?, _ what: StaticString) -> Bool {
    guard limit == nil, Loop.ofThisThread != nil else {
      return gate.wait(atMost: limit?.loopNanoseconds ?? .max)
    }
    let caller = cmx_thread_id()
    if Self.note(ThreadWait(target: threadID, gate: gate), of: caller) {
      fatalError(
        "\(what): thread \(caller) would wait for \(name), whose thread \(threadID) waits for this "
          + "one: neither could go on; use perform, or a timeout")
    }
    defer { waits.withLock { $0[caller] = nil } }
    return gate.wait(atMost: .max)
  }

  /// - Returns: Whether the thread would wait for itself in the end. An open gate holds nobody,
  ///   though its thread may not know yet: also the caller's own, whose request is made before.
  private static func note(_ wait: ThreadWait, of caller: Int32) -> Bool {
    waits.withLock { waits in
      waits[caller] = wait
      var next = wait.target
      while next != caller {
        guard let wait = waits[next], !wait.gate.isOpen else { return false }
        next = wait.target
      }
      return !wait.gate.isOpen
    }
  }
}
