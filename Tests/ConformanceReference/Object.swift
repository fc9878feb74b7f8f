// The objects of a scenario as Core Foundation's: timers, sources of both versions, observers.

import ConformanceFormat
import CoreFoundation
import Glibc

final class Object {
  private enum Kind {
    case timer(CFRunLoopTimer)
    case source(CFRunLoopSource)
    case observer(CFRunLoopObserver)
  }
  /// Set once, at the end of `init`, because a source needs the address of its object.
  private var kind: Kind!
  private let spec: ObjectSpec
  fileprivate var id: String { spec.id }
  private var identity: String? {
    if case .source(_, _, let identity) = spec.kind { identity } else { nil }
  }
  fileprivate unowned let reference: Reference
  // A port: an eventfd that is written while messages wait; CF reads it before the call-out. A
  // descriptor: an epoll that watches our end of a socket pair, from which CF can read nothing.
  private let lock = Lock()
  private var ends: (own: Int32, far: Int32) = (-1, -1)
  private var isEnabled = true
  private var isOneShot = false
  fileprivate private(set) var descriptor: Int32 = -1
  private var messages: [String] = []

  init(_ spec: ObjectSpec, scale: Int64, _ reference: Reference) {
    self.spec = spec
    self.reference = reference
    let id = spec.id
    switch spec.kind {
    case .timer(let delay, let interval, _):
      let first = CFAbsoluteTimeGetCurrent() + Double(delay * scale) / 1e9
      let timer = CFRunLoopTimerCreateWithHandler(
        nil, first, Double(max(0, interval) * scale) / 1e9, 0, 0
      ) { [unowned reference] _ in reference.called(id) }
      kind = .timer(timer!)
    case .observer(let activities, let repeats, let order):
      let mask = activities.reduce(0 as CFOptionFlags) { $0 | $1.flag }
      let observer = CFRunLoopObserverCreateWithHandler(nil, mask, repeats, order) {
        [unowned reference] _, activity in
        let word = ActivityName.word(of: activity)
        reference.called(id, word, on: word)
      }
      kind = .observer(observer!)
    case .source(let order, let hasLifecycle, let identity):
      var context = CFRunLoopSourceContext()
      if identity != nil {
        context.equal = { .init(booleanLiteral: Object.identity($0) == Object.identity($1)) }
        context.hash = { CFHashCode(bitPattern: Object.identity($0).hashValue) }
      }
      context.perform = { Object.of($0).map { $0.reference.called($0.id, "perform") } }
      if hasLifecycle {
        context.schedule = { Object.of($0)?.tell("schedule", $2) }
        context.cancel = { Object.of($0)?.tell("cancel", $2) }
      }
      context.info = Unmanaged.passUnretained(self).toOpaque()
      kind = .source(CFRunLoopSourceCreate(nil, order, &context)!)
    default:
      if case .descriptor(let events, let reenabled, _) = spec.kind {
        isEnabled = events.contains(.read)
        isOneShot = !reenabled.contains(.read)
        makeEnds()
      } else {
        descriptor = makeEventDescriptor(0, O_NONBLOCK | O_CLOEXEC)
      }
      var context = CFRunLoopSourceContext1()
      context.version = 1
      context.getPort = { Object.of($0)?.descriptor ?? -1 }
      context.perform = { Object.of($0)?.deliver() }
      context.info = Unmanaged.passUnretained(self).toOpaque()
      kind = .source(
        withUnsafeMutablePointer(to: &context) { pointer in
          pointer.withMemoryRebound(to: CFRunLoopSourceContext.self, capacity: 1) {
            CFRunLoopSourceCreate(nil, 0, $0)!
          }
        })
    }
  }

  deinit { for fd in [descriptor, ends.own, ends.far] where fd >= 0 { close(fd) } }

  private static func of(_ info: UnsafeMutableRawPointer?) -> Object? {
    info.map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func identity(_ info: UnsafeRawPointer?) -> String? {
    of(UnsafeMutableRawPointer(mutating: info))?.identity
  }

  private func tell(_ what: String, _ mode: CFString?) {
    reference.tell(spec, "\(what):\(mode?.name ?? "")")
  }

  // MARK: Ports

  private func raise() {
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
  }

  func post(_ message: String) {
    guard isValid else { return }
    lock.with { messages.append(message) }
    raise()
  }

  private func deliver() {
    if ends.own >= 0 { return deliverReadiness() }
    let (message, isMore) = lock.with {
      (messages.isEmpty ? nil : messages.removeFirst(), !messages.isEmpty)
    }
    if isMore { raise() }
    if let message { reference.called(id, message) }
  }

  // MARK: Descriptors

  private func makeEnds() {
    var pair: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue) | O_NONBLOCK | O_CLOEXEC
    guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { fail("no socket pair") }
    ends = (pair[0], pair[1])
    descriptor = makeEpoll(O_CLOEXEC)
    watch()
  }

  /// Makes the epoll watch or not. Adding it again signals CF if there is something to read.
  private func watch() {
    // An epoll_event begins with the events.
    var event: (events: UInt32, UInt32, UInt32, UInt32) = (1, 0, 0, 0)
    let (addition, removal): (Int32, Int32) = (1, 2)
    withUnsafeMutableBytes(of: &event) {
      _ = changeEpoll(descriptor, removal, ends.own, $0.baseAddress!)
      if isEnabled { _ = changeEpoll(descriptor, addition, ends.own, $0.baseAddress!) }
    }
  }

  private func deliverReadiness() {
    var one = pollfd(fd: ends.own, events: Int16(POLLIN), revents: 0)
    guard isEnabled, poll(&one, 1, 0) == 1 else { return }
    if isOneShot { isEnabled = false }
    watch()
    reference.called(id, "read", on: "read")
  }

  func enable(_ isEnabled: Bool) {
    self.isEnabled = isEnabled
    watch()
  }

  func writeToFarEnd(_ text: String) {
    let bytes = Array(text.utf8)
    _ = send(ends.far, bytes, bytes.count, Int32(truncatingIfNeeded: MSG_NOSIGNAL))
  }

  func closeFarEnd() {
    close(ends.far)
    ends.far = -1
  }

  func read(atMost count: Int) -> String {
    var bytes = [UInt8](repeating: 0, count: count)
    let found = isValid ? recv(ends.own, &bytes, count, 0) : -1
    if found <= 0 { return found < 0 ? "none" : "EOF" }
    return String(decoding: bytes[..<found], as: UTF8.self)
  }

  // MARK: Operations

  func signal() { if case .source(let source) = kind! { CFRunLoopSourceSignal(source) } }

  func setNext(_ delay: Double) {
    guard case .timer(let timer) = kind else { return }
    CFRunLoopTimerSetNextFireDate(timer, CFAbsoluteTimeGetCurrent() + delay)
  }

  var nextFire: CFAbsoluteTime {
    if case .timer(let timer) = kind! { CFRunLoopTimerGetNextFireDate(timer) } else { 0 }
  }

  var isValid: Bool {
    switch kind! {
    case .timer(let timer): CFRunLoopTimerIsValid(timer)
    case .source(let source): CFRunLoopSourceIsValid(source)
    case .observer(let observer): CFRunLoopObserverIsValid(observer)
    }
  }

  func invalidate() {
    switch kind! {
    case .timer(let timer): CFRunLoopTimerInvalidate(timer)
    case .source(let source): CFRunLoopSourceInvalidate(source)
    case .observer(let observer): CFRunLoopObserverInvalidate(observer)
    }
  }

  func add(to loop: CFRunLoop, _ mode: CFString) {
    switch kind! {
    case .timer(let timer): CFRunLoopAddTimer(loop, timer, mode)
    case .source(let source):
      let before = places(of: source, loop)
      CFRunLoopAddSource(loop, source, mode)
      // What CF had read of the port before it was removed is to be read again.
      if descriptor >= 0, isValid, places(of: source, loop) > before,
        lock.with({ !messages.isEmpty })
      {
        raise()
      }
    case .observer(let observer): CFRunLoopAddObserver(loop, observer, mode)
    }
  }

  /// In how many modes a source is.
  private func places(of source: CFRunLoopSource, _ loop: CFRunLoop) -> Int {
    guard let modes = CFRunLoopCopyAllModes(loop) else { return 0 }
    return (0..<CFArrayGetCount(modes)).count(where: {
      // An array of modes holds their names, each a CFString.
      let mode = unsafeBitCast(CFArrayGetValueAtIndex(modes, $0), to: CFString.self)
      return CFRunLoopContainsSource(loop, source, mode)
    })
  }

  func remove(from loop: CFRunLoop, _ mode: CFString) {
    switch kind! {
    case .timer(let timer): CFRunLoopRemoveTimer(loop, timer, mode)
    case .source(let source): CFRunLoopRemoveSource(loop, source, mode)
    case .observer(let observer): CFRunLoopRemoveObserver(loop, observer, mode)
    }
  }

  func isIn(_ loop: CFRunLoop, _ mode: CFString) -> Bool {
    switch kind! {
    case .timer(let timer): CFRunLoopContainsTimer(loop, timer, mode)
    case .source(let source): CFRunLoopContainsSource(loop, source, mode)
    case .observer(let observer): CFRunLoopContainsObserver(loop, observer, mode)
    }
  }
}

/// Swift's Glibc has neither eventfd nor epoll; their types are those of the man pages.
private let makeEventDescriptor = unsafeBitCast(
  dlsym(nil, "eventfd"), to: (@convention(c) (UInt32, Int32) -> Int32).self)
/// As above.
private let makeEpoll = unsafeBitCast(
  dlsym(nil, "epoll_create1"), to: (@convention(c) (Int32) -> Int32).self)
/// As above.
private let changeEpoll = unsafeBitCast(
  dlsym(nil, "epoll_ctl"),
  to: (@convention(c) (Int32, Int32, Int32, UnsafeMutableRawPointer) -> Int32).self)

extension String {
  /// The mode of that name; Core Foundation knows the common modes by the address of theirs.
  var runLoopMode: CFString {
    switch self {
    case "default": kCFRunLoopDefaultMode
    case "common": kCFRunLoopCommonModes
    default: utf16.withContiguousUnits { CFStringCreateWithCharacters(nil, $0, utf16.count) }
    }
  }
}

extension String.UTF16View {
  fileprivate func withContiguousUnits<Result>(
    _ body: (UnsafePointer<UniChar>?) -> Result
  ) -> Result {
    Array(self).withUnsafeBufferPointer { body($0.baseAddress) }
  }
}

extension CFString {
  /// The name of the mode in scenarios.
  var name: String {
    if CFEqual(self, kCFRunLoopDefaultMode) { return "default" }
    var units = [UniChar](repeating: 0, count: CFStringGetLength(self))
    CFStringGetCharacters(self, CFRange(location: 0, length: units.count), &units)
    return String(decoding: units, as: UTF16.self)
  }
}

extension ActivityName {
  fileprivate var flag: CFOptionFlags {
    switch self {
    case .entry: 1 << 0
    case .beforeTimers: 1 << 1
    case .beforeSources: 1 << 2
    case .beforeWaiting: 1 << 5
    case .afterWaiting: 1 << 6
    case .exit: 1 << 7
    }
  }

  fileprivate static func word(of activity: CFRunLoopActivity) -> String {
    allCases.first { $0.flag == activity.rawValue }?.rawValue ?? "unknown"
  }
}
