// Descriptors that were closed behind the loop's back: the kernel forgets them silently, so
// the loop looks for itself before it sleeps for long.

/// How often descriptors are looked at, and how many at a time. Loop thread only.
struct DescriptorInspection {
  /// The least time between two looks, in nanoseconds; also what counts as a long sleep.
  static let interval: Int64 = 1_000_000_000
  /// How many descriptors one look is for: a program has no more, as a rule.
  static let portion = 16

  /// The next look is not before this date.
  fileprivate var dueAt: Int64 = .min
  /// Where the last look ended, among the places of the mode.
  fileprivate var next = 0
  /// Passes count call-outs: this loop cannot have closed anything since.
  fileprivate var pass: UInt64 = .max
}

extension Loop {
  /// Looks at some descriptors of a mode before a sleep until a date.
  ///
  /// If the last look is too recent, the sleep is cut short once, so that the look is not
  /// skipped forever; the rest of the sleep follows, and no observer is called.
  /// - Returns: The date until which to sleep now; nil if a descriptor was found closed, and its
  ///   owner was called, which may have changed anything.
  func inspectDescriptors(_ mode: Mode, before date: Int64) -> Int64? {
    if mode.descriptors.isEmpty && mode.files.isEmpty { return date }
    if descriptors.inspection.pass == runs.passes { return date }
    if !clock.jumpsWhenIdle && !clock.hasReached(descriptors.inspection.dueAt) {
      return min(date, descriptors.inspection.dueAt)
    }
    let now = clock.now()
    if date != .max && date < saturatingDate(now, after: DescriptorInspection.interval) {
      return date
    }
    descriptors.inspection.dueAt = saturatingDate(now, after: DescriptorInspection.interval)
    descriptors.inspection.pass = runs.passes
    return failClosed(mode) ? nil : date
  }

  private func failClosed(_ mode: Mode) -> Bool {
    let (polled, files) = (mode.descriptors, mode.files)
    let places = polled.placeCount + files.placeCount
    var found = false
    for step in 0..<min(DescriptorInspection.portion, places) {
      let place = (descriptors.inspection.next + step) % places
      let source =
        place < polled.placeCount
        ? polled[place] : files[place - polled.placeCount]
      guard let source, source.isValid, !kernel.isOpen(source.fd) else { continue }
      found = true
      fail(source, SystemError(call: "fcntl", code: Errno.badDescriptor))
    }
    descriptors.inspection.next =
      (descriptors.inspection.next + DescriptorInspection.portion) % places
    return found
  }
}
