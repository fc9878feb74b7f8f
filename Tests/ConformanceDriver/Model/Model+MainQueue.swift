// The libdispatch main queue, which a loop of the main thread serves in the common modes.

import ConformanceFormat

extension Model {
  private var hasMainQueue: Bool { scenario.onMainThread }

  private func isCommon(_ mode: Mode) -> Bool { commonModes.contains(mode.name) }

  /// It keeps the common modes from being empty, except inside its own blocks (R8).
  func isHeldByMainQueue(_ mode: Mode) -> Bool {
    hasMainQueue && isCommon(mode) && !mainQueue.isServed
  }

  func isMainQueueReady(_ mode: Mode) -> Bool {
    mainQueue.isRaised && isCommon(mode) && !mainQueue.isServed && !mainQueue.isKept
  }

  func queueOnMain(_ block: Item) {
    mainQueue.blocks.append(block)
    mainQueue.isRaised = true
  }

  /// All blocks in one go; one that comes meanwhile waits for another pass (R125).
  func performMainQueue() {
    let batch = mainQueue.blocks
    mainQueue.blocks = []
    // CF forgets that it was ready once it ends the sleep; a block queued then signals again.
    if rules(.eventIsTheOuterRuns) { mainQueue.isRaised = false }
    mainQueue.isServed = true
    for block in batch { call(block) }
    mainQueue.isServed = false
  }

  /// Only the kernel knows whether a port or the main queue or a descriptor came first.
  func lookForTies(among candidates: [Ready]) {
    if candidates.contains(where: \.isOfKernel), candidates.filter(\.isPort).count > 1 {
      refuse("the main queue or a descriptor and a port are ready together")
    }
  }
}
