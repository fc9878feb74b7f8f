// Perform requests as Cocoa makes them: one source of home's loop that goes before all others, in
// each mode that has requests waiting, and a timer for each delayed one.

import ConformanceFormat
import CoreFoundation

// Sendable: protected by `lock`; Core Foundation's objects protect themselves.
final class Requests: @unchecked Sendable {
  private final class Request {
    let id: String
    let modes: [String]
    let number: Int
    var isCancelled = false

    init(_ id: String, _ modes: [String], number: Int) {
      self.id = id
      self.modes = modes
      self.number = number
    }
  }

  private unowned let reference: Reference
  private let loop = CFRunLoopGetCurrent()!
  private var source: CFRunLoopSource!
  private let lock = Lock()
  private var waiting: [Request] = []
  private var taken: [Request] = []
  private var timers: [(id: String, timer: CFRunLoopTimer)] = []
  private var last = 0
  private var commonModes = ["default"]
  private var modes: Set<String> = []

  init(_ reference: Reference) {
    self.reference = reference
    var context = CFRunLoopSourceContext()
    context.info = Unmanaged.passUnretained(self).toOpaque()
    context.perform = { Unmanaged<Requests>.fromOpaque($0!).takeUnretainedValue().perform() }
    source = CFRunLoopSourceCreate(nil, CFIndex.min, &context)
  }

  func add(_ id: String, _ modes: [String]) {
    lock.with {
      last += 1
      waiting.append(Request(id, modes, number: last))
      self.modes.formUnion(modes.filter { $0 != "common" })
      place()
    }
    CFRunLoopSourceSignal(source)
    CFRunLoopWakeUp(loop)
  }

  func add(_ id: String, _ modes: [String], after delay: Double) {
    let date = CFAbsoluteTimeGetCurrent() + delay
    let timer = CFRunLoopTimerCreateWithHandler(nil, date, 0, 0, 0) { [unowned reference] _ in
      reference.called(id)
    }!
    lock.with { timers.append((id, timer)) }
    for mode in modes { CFRunLoopAddTimer(loop, timer, mode.runLoopMode) }
  }

  func cancel(_ id: String) {
    let timers = lock.with {
      for request in waiting + taken where request.id == id { request.isCancelled = true }
      waiting.removeAll(where: \.isCancelled)
      place()
      defer { self.timers.removeAll { $0.id == id } }
      return self.timers.filter { $0.id == id }
    }
    for entry in timers { CFRunLoopTimerInvalidate(entry.timer) }
  }

  func modeBecameCommon(_ mode: String) {
    lock.with {
      if mode != "common" && !commonModes.contains(mode) { commonModes.append(mode) }
      place()
    }
  }

  private func perform() {
    let mode = CFRunLoopCopyCurrentMode(loop)?.name ?? ""
    let last = lock.with { self.last }
    var batch = take(mode, upTo: last)
    while !batch.isEmpty {
      let request = batch.removeFirst()
      let isCancelled = lock.with {
        taken.removeAll { $0 === request }
        return request.isCancelled
      }
      if isCancelled { continue }
      reference.called(request.id)
      batch = (batch + take(mode, upTo: last)).sorted { $0.number < $1.number }
    }
  }

  private func take(_ mode: String, upTo last: Int) -> [Request] {
    let (found, isMore) = lock.with {
      let found = waiting.filter { $0.number <= last && isFor($0, mode) }
      waiting.removeAll { request in found.contains { $0 === request } }
      taken += found
      place()
      return (found, !waiting.isEmpty)
    }
    if isMore { CFRunLoopSourceSignal(source) }
    return found
  }

  private func isFor(_ request: Request, _ mode: String) -> Bool {
    request.modes.contains(mode)
      || (request.modes.contains("common") && commonModes.contains(mode))
  }

  /// Adds the source to modes that have requests waiting, and removes it from the others (R112).
  private func place() {
    for mode in modes.union(commonModes) {
      let isIn = CFRunLoopContainsSource(loop, source, mode.runLoopMode)
      let isWanted = waiting.contains { isFor($0, mode) }
      if isIn && !isWanted { CFRunLoopRemoveSource(loop, source, mode.runLoopMode) }
      if !isIn && isWanted { CFRunLoopAddSource(loop, source, mode.runLoopMode) }
    }
  }
}
