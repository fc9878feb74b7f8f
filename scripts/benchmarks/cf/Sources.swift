// W3, W4: custom sources (version 0), and blocks from another thread.
import CoreFoundation
import Glibc

/// A custom source; it lives as long as the process.
final class Source {
  private(set) var source: CFRunLoopSource!
  private let handler: (Source) -> Void

  init(_ handler: @escaping (Source) -> Void) {
    self.handler = handler
    var context = CFRunLoopSourceContext()
    context.info = Unmanaged.passRetained(self).toOpaque()
    context.perform = { info in
      let own = Unmanaged<Source>.fromOpaque(info!).takeUnretainedValue()
      own.handler(own)
    }
    source = CFRunLoopSourceCreate(nil, 0, &context)
    CFRunLoopAddSource(home, source, mode)
  }

  func signal() { CFRunLoopSourceSignal(source) }
}

func w3() {
  let last = scaled(argument(0) == 1 ? 3e5 : 1e6)
  var performed = 0
  if arguments.contains("fd") { watchIdleDescriptor() }
  let clock = Stopwatch()
  for _ in 0..<argument(0) {
    Source { source in
      performed += 1
      if performed == last { clock.stop(performed) }
      source.signal()
    }.signal()
  }
  CFRunLoopRun()
}

/// Runs a function on another thread.
private func onThread(_ body: @escaping () -> Void) {
  final class Box {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { box in
      Unmanaged<Box>.fromOpaque(box!).takeRetainedValue().body()
      return nil
    }, Unmanaged.passRetained(Box(body)).toOpaque())
}

func w4a() {
  let count = scaled(3000)
  let times = Times(count)
  // Written before the signal, read after it.
  let sent = UnsafeMutablePointer<Int>.allocate(capacity: 1)
  let source = Source { _ in times.add(nanoseconds(CLOCK_MONOTONIC) - sent.pointee) }
  onThread {
    while true {  // Signals that come together are one.
      usleep(500)
      sent.pointee = nanoseconds(CLOCK_MONOTONIC)
      source.signal()
      CFRunLoopWakeUp(home)
    }
  }
  CFRunLoopRun()
}

func w4b() {
  let count = scaled(5e5)
  let clock = Stopwatch()
  let source = Source { _ in if sender_is_at_end() { clock.stop(count) } }
  _ = sender_start(
    { source in
      Unmanaged<Source>.fromOpaque(source!).takeUnretainedValue().signal()
      CFRunLoopWakeUp(home)
      return 0
    }, Unmanaged.passRetained(source).toOpaque(), Int64(count))
  CFRunLoopRun()
}

func w4c() {
  let last = scaled(3e5)
  let idle = Source { _ in }  // Without an item the run would end.
  let clock = Stopwatch()
  onThread {
    for number in 1...last {
      CFRunLoopPerformBlock(home, mode) { if number == last { clock.stop(last) } }
      CFRunLoopWakeUp(home)
    }
  }
  CFRunLoopRun()
  _ = idle
}
