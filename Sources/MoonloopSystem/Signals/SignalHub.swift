// Signals of the process, passed to all watches for them on any loop. One signal is read once, from
// one signalfd; its reader notifies the others.

internal import CLinuxShims
package import MoonloopCore

/// What is known about a received signal.
package struct SignalArrival: Sendable, Equatable {
  package let number: Int32
  /// The process that sent it last; 0: the kernel.
  package var pid: Int32
  package var uid: UInt32
  /// How many were coalesced into this one, as far as the system reports.
  package var count = 1
}

/// The watches for each signal. Any thread.
enum SignalHub {
  private struct Taken {
    /// The watches, with the numbers by which they came.
    private(set) var members: [ObjectIdentifier: (watch: Loop.SignalWatch, place: UInt64)] = [:]
    /// How many watches there are on each thread.
    private(set) var threads: [Int32: Int] = [:]
    /// The threads on which the signal was not blocked before.
    var blocked: Set<Int32> = []
    private var nextPlace: UInt64 = 0

    mutating func add(_ watch: Loop.SignalWatch, _ thread: Int32) {
      members[ObjectIdentifier(watch)] = (watch, nextPlace)
      nextPlace += 1
      threads[thread, default: 0] += 1
    }

    mutating func remove(_ watch: Loop.SignalWatch, _ thread: Int32) {
      guard members.removeValue(forKey: ObjectIdentifier(watch)) != nil else { return }
      threads[thread]! -= 1
      if threads[thread] == 0 { threads[thread] = nil }
    }
  }

  private static let taken = Guarded<[Int32: Taken]>([:])

  /// Claims a signal for a watch, on the thread of its loop: blocks it there, and keeps what the
  /// program did about it before.
  static func join(_ number: Int32, _ watch: Loop.SignalWatch) throws(SystemError) {
    let thread = cmx_thread_id()
    let wasBlocked = cmx_signal_block(number)
    let result = taken.withLock { table -> Int32 in
      if table[number] == nil {
        let result = cmx_signal_divert(number, thread)
        if result < 0 { return result }
      }
      if !wasBlocked { table[number, default: Taken()].blocked.insert(thread) }
      table[number, default: Taken()].add(watch, thread)
      return 0
    }
    if result < 0 {
      if !wasBlocked { cmx_signal_unblock(number) }
      throw SystemError(call: "sigaction", code: -result)
    }
  }

  /// Releases a signal. After the last release, everything is back as before the first claim. A
  /// signal that has come but was not read then has its previous effect; at the end of the program
  /// none, as another has decided how it ends.
  static func leave(_ number: Int32, _ watch: Loop.SignalWatch) {
    let thread = cmx_thread_id()
    let unblocks = taken.withLock { table -> Bool in
      guard table[number] != nil else { return false }
      table[number]!.remove(watch, thread)
      guard table[number]!.threads[thread] == nil else { return false }
      let unblocks = table[number]!.blocked.remove(thread) != nil
      if let other = table[number]!.threads.keys.first {
        cmx_signal_pass_to(number, other)
      } else {
        if Ending.isAskedFor { cmx_signal_drop(number) }
        cmx_signal_restore(number)
        table[number] = nil
      }
      return unblocks
    }
    if unblocks { cmx_signal_unblock(number) }
  }

  /// Notifies all other watches of a signal that it has come.
  static func distribute(_ arrival: SignalArrival, from watch: Loop.SignalWatch) {
    let others = taken.withLock { table in
      table[arrival.number]?.members.values.filter { $0.watch !== watch } ?? []
    }
    for other in others.sorted(by: { $0.place < $1.place }) { other.watch.noteElsewhere(arrival) }
  }
}

extension Loop {
  /// Watches for signals of the process. Loop thread only, except what the hub calls.
  ///
  /// Its source is readable when a signal has come. Equal signals that come before being served
  /// count as one, with a count.
  // Sendable: all except `loop`, which never changes, is used only on the thread of that loop; the
  // loop keeps this alive while it has the source.
  package final class SignalWatch: @unchecked Sendable {
    /// Called with one signal.
    package typealias Handler = (_ source: DescriptorSource, _ arrival: SignalArrival) -> Void

    package let numbers: [Int32]
    private let loop: Loop
    private weak var source: DescriptorSource?
    private var pending: [SignalArrival] = []
    private var joined: [Int32] = []

    private init(_ numbers: [Int32], on loop: Loop) {
      self.numbers = numbers
      self.loop = loop
    }

    /// Claims signals and makes their source, in no mode yet.
    /// - Throws: If the system refuses; nothing is left behind.
    package static func make(
      _ numbers: [Int32], name: String, on loop: Loop, handler: @escaping Handler
    ) throws(SystemError) -> (watch: SignalWatch, source: DescriptorSource) {
      let watch = SignalWatch(numbers, on: loop)
      do throws(SystemError) {
        for number in numbers {
          try SignalHub.join(number, watch)
          watch.joined.append(number)
        }
        let fd = cmx_signal_open(numbers, Int32(numbers.count))
        let descriptor = try SystemCall.signalfd.descriptor(fd)
        let source = DescriptorSource(
          descriptor.release(), closesDescriptor: true, name: name,
          handler: { source, _ in watch.serve(source, handler) })
        source.isNonBlocking = true
        watch.source = source
        return (watch, source)
      } catch {
        watch.end()
        throw error
      }
    }

    /// Releases its signals. The source must have ended before.
    package func end() {
      for number in joined { SignalHub.leave(number, self) }
      joined = []
      pending = []
    }

    /// How many different signals are waiting to be served.
    package var waiting: Int { pending.count }

    /// Reads all signals that have come and serves one; the others follow in the next passes.
    private func serve(_ source: DescriptorSource, _ handler: Handler) {
      withUnsafeTemporaryAllocation(of: cmx_signal.self, capacity: 16) { signals in
        while true {
          let count = cmx_signal_read(source.fd, signals.baseAddress, 16)
          for signal in signals.prefix(Int(max(0, count))) {
            let arrival = SignalArrival(number: signal.number, pid: signal.pid, uid: signal.uid)
            note(arrival)
            SignalHub.distribute(arrival, from: self)
          }
          if count < 16 { break }
        }
      }
      guard !pending.isEmpty else {
        source.hasReadAhead = false
        return
      }
      let next = pending.removeFirst()
      source.hasReadAhead = !pending.isEmpty
      handler(source, next)
    }

    private func note(_ arrival: SignalArrival) {
      if let place = pending.firstIndex(where: { $0.number == arrival.number }) {
        pending[place].pid = arrival.pid
        pending[place].uid = arrival.uid
        pending[place].count += 1
      } else {
        pending.append(arrival)
      }
    }

    /// Another watch has read a signal that this one wants too. Any thread.
    fileprivate func noteElsewhere(_ arrival: SignalArrival) {
      if loop.isOnThread { return noteHere(arrival) }
      loop.post(.change { _ in self.noteHere(arrival) })
      loop.wakeUp()
    }

    private func noteHere(_ arrival: SignalArrival) {
      guard let source, source.isValid else { return }
      note(arrival)
      source.hasReadAhead = true
    }
  }
}
