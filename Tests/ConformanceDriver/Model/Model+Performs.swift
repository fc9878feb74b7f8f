// Perform requests, which the reference builds as Cocoa does: one source that goes before all
// others, and a timer for each delayed one.

import ConformanceFormat

extension Model {
  /// The requests that were not performed yet, in order.
  final class Performs {
    final class Request {
      let block: Block
      let number: Int
      var isCancelled = false

      init(_ block: Block, number: Int) {
        self.block = block
        self.number = number
      }
    }

    var waiting: [Request] = []
    /// Taken by a pass, together with others before them.
    var taken: [Request] = []
    var last = 0
    /// In each mode that has requests waiting (R112).
    let source = Item(ObjectSpec(unseen: "requests", .source(order: .min, hasLifecycle: false)))
    /// The timers of delayed ones (R114).
    var timers: [Item] = []
  }

  func request(_ block: Item, _ names: [String]) {
    for name in names where name != "common" { _ = mode(name) }
    performs.last += 1
    performs.waiting.append(
      Performs.Request(Block(item: block, modes: names), number: performs.last))
    placePerforms()
    markPerforms()
    wakeUp()
  }

  func request(_ block: Item, _ names: [String], after delay: Int64) {
    let timer = Item(ObjectSpec(unseen: block.spec.id, .timer(delay: delay, interval: 0)))
    timer.request = block
    (timer.date, timer.shown) = (now + delay, now + delay)
    performs.timers.append(timer)
    for name in names { add(timer, to: name) }
  }

  func cancelRequests(_ block: Item) {
    for request in performs.waiting + performs.taken where request.block.item === block {
      request.isCancelled = true
    }
    performs.waiting.removeAll(where: \.isCancelled)
    placePerforms()
    for timer in performs.timers where timer.request === block { invalidate(timer) }
    performs.timers.removeAll { !$0.isValid }
  }

  /// All that wait for a mode, together; if one makes the mode common, also later ones that wait
  /// for common modes (R109, R111).
  func performRequests(_ mode: Mode) {
    let last = performs.last
    var batch = takeRequests(mode, upTo: last)
    while !batch.isEmpty && !isOver {
      let request = batch.removeFirst()
      performs.taken.removeAll { $0 === request }
      if request.isCancelled { continue }
      call(request.block.item)
      batch = (batch + takeRequests(mode, upTo: last)).sorted { $0.number < $1.number }
    }
  }

  private func takeRequests(_ mode: Mode, upTo last: Int) -> [Performs.Request] {
    let taken = performs.waiting.filter { $0.number <= last && $0.block.isFor(mode, self) }
    performs.waiting.removeAll { request in taken.contains { $0 === request } }
    performs.taken += taken
    placePerforms()
    if !performs.waiting.isEmpty { markPerforms() }
    return taken
  }

  private func markPerforms() {
    guard performs.source.mark == nil else { return }
    marks += 1
    performs.source.mark = marks
  }

  /// Adds the source to the modes that have requests waiting, and removes it from the others.
  func placePerforms() {
    let isForCommon = performs.waiting.contains { $0.block.modes.contains("common") }
    if isForCommon { for name in commonModes { _ = mode(name) } }
    for mode in modes.values {
      let isIn = mode.sources.contains { $0 === performs.source }
      let isWanted = performs.waiting.contains { $0.block.isFor(mode, self) }
      if isIn && !isWanted { mode.sources.removeAll { $0 === performs.source } }
      if !isIn && isWanted { mode.sources.append(performs.source) }
    }
  }
}
