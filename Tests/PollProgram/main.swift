// A program with its own loop, here a bare poll, that hosts a Moonloop and sleeps in its place.
// docs/hosting.md explains it; `ProgramTests` runs it and reads its output.

import Glibc
import MoonloopCore

let loop = Loop.current

// The program's own part: a pipe, into which another thread writes.
var ends: [Int32] = [0, 0]
precondition(pipe(&ends) == 0)
let writing = ends[1]

let port = loop.makePort(name: "jobs") { _, message in
  print("port: \(message)")
  start { _ = write(writing, "done", 4) }
}
try loop.add(port)
loop.schedule(after: .milliseconds(20)) { _ in
  print("timer")
  start { try? port.post("from another thread") }
}

/// Runs a closure on its own thread.
func start(_ body: @escaping @Sendable () -> Void) {
  final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    {
      Unmanaged<Box>.fromOpaque($0!).takeRetainedValue().body()
      return nil
    }, Unmanaged.passRetained(Box(body)).toOpaque())
  pthread_detach(thread)
}

var watched = [
  pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0),
  pollfd(fd: try loop.pollDescriptor(), events: Int16(POLLIN), revents: 0),
]
var wakeUps = 0
var isDone = false
while !isDone {
  let more = loop.pump() == .handledSource
  // How long until the loop has something due, in milliseconds, rounded up; -1 means forever.
  var rest: Int32 = -1
  if let date = loop.nextDate() {
    rest = Int32(max(0, loop.now.duration(to: date) / .milliseconds(1) + 0.999))
  }
  poll(&watched, 2, more ? 0 : rest)
  wakeUps += 1
  if watched[0].revents != 0 {
    var bytes = [UInt8](repeating: 0, count: 64)
    let length = read(ends[0], &bytes, 64)
    print("pipe: \(String(decoding: bytes.prefix(length), as: UTF8.self))")
    isDone = true
  }
}
// One for the timer, one for the port, one for the pipe: an idle host sleeps.
print("few wake-ups: \(wakeUps <= 5)")
