// W5, W6, W7: descriptors, by CFSocket: a thread of Core Foundation waits for them in select().
// Sockets stand for pipes, which CFSocket does not take.
import CoreFoundation
import Glibc

/// A descriptor that is watched for bytes, or for connections.
final class Watched {
  let fd: Int32
  private let handler: (Watched, UnsafeRawPointer?) -> Void

  @discardableResult
  init(
    _ fd: Int32, accepts: Bool = false, _ handler: @escaping (Watched, UnsafeRawPointer?) -> Void
  ) {
    self.fd = fd
    self.handler = handler
    var context = CFSocketContext()
    context.info = Unmanaged.passRetained(self).toOpaque()
    let kind: CFSocketCallBackType = accepts ? .acceptCallBack : .readCallBack
    let socket = CFSocketCreateWithNative(
      nil, fd, kind.rawValue,
      { _, _, _, data, info in
        let own = Unmanaged<Watched>.fromOpaque(info!).takeUnretainedValue()
        own.handler(own, data)
      }, &context)
    CFRunLoopAddSource(home, CFSocketCreateRunLoopSource(nil, socket, 0), mode)
  }
}

private let stream = Int32(SOCK_STREAM.rawValue) | O_CLOEXEC

private func socketPair() -> (from: Int32, to: Int32) {
  var ends: [Int32] = [-1, -1]
  socketpair(AF_UNIX, stream | O_NONBLOCK, 0, &ends)
  return (ends[0], ends[1])
}

func watchIdleDescriptor() { Watched(socketPair().from) { _, _ in } }

func w5() {
  let (count, active) = (argument(0), 100)
  let last = scaled(count > 1000 ? 1e4 : 5e4)
  var moved = 0
  let pairs = (0..<count).map { _ in socketPair() }
  let clock = Stopwatch()
  for (i, pair) in pairs.enumerated() {
    let to = pairs[(i + 1) % count].to
    Watched(pair.from) { own, _ in
      var byte: UInt8 = 0
      guard read(own.fd, &byte, 1) == 1 else { return }
      moved += 1
      if moved == last { clock.stop(moved) }
      write(to, &byte, 1)
    }
  }
  var byte: UInt8 = 0
  for i in 0..<active { write(pairs[i * count / active].to, &byte, 1) }
  CFRunLoopRun()
}

private func listen() -> Int32 {
  let fd = socket(AF_INET, stream, 0)
  var (yes, address) = (Int32(1), sockaddr_in())
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  address.sin_port = UInt16(getenv("BENCH_PORT").flatMap { atoi($0) } ?? 0).bigEndian
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
  withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      _ = bind(fd, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  }
  Glibc.listen(fd, 1024)
  return fd
}

func w6() {
  let room = 65536
  let buffer = UnsafeMutableRawPointer.allocate(byteCount: room, alignment: 16)
  Watched(listen(), accepts: true) { _, native in
    let client = native!.load(as: Int32.self)
    var yes: Int32 = 1
    setsockopt(client, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, 4)
    Watched(client) { own, _ in
      let got = read(own.fd, buffer, room)
      if got > 0 { write(own.fd, buffer, got) }
    }
  }
  CFRunLoopRun()
}

func w7() {
  let count = argument(1)
  let before = statusNumber("/proc/self/status", "RssAnon:") * 1024
  for _ in 0..<count { addTimer(at: now() + 1000) { _ in } }
  addTimer(at: now() + 0.1) { _ in
    let after = statusNumber("/proc/self/status", "RssAnon:") * 1024
    report(["bytes": Double(after - before) / Double(count)])
    exit(0)
  }
  CFRunLoopRun()
}

func w7i() {
  for i in 0..<1000 { addTimer(at: now() + far[i]) { _ in } }
  for _ in 0..<100 { watchIdleDescriptor() }
  let seconds = scale < 1 ? 1.0 : 5
  func switches() -> Int {
    guard let tasks = opendir("/proc/self/task") else { return 0 }
    defer { closedir(tasks) }
    var sum = 0
    while let task = readdir(tasks) {
      let name = withUnsafeBytes(of: task.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      sum += statusNumber("/proc/self/task/\(name)/status", "voluntary_ctxt_switches:")
    }
    return sum
  }
  addTimer(at: now() + 0.5) { _ in
    let (slept, cpu) = (switches(), nanoseconds(CLOCK_PROCESS_CPUTIME_ID))
    addTimer(at: now() + seconds) { _ in
      report([
        "wakeups": Double(switches() - slept - 1),
        "cpu_ms": Double(nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 1e6,
      ])
      exit(0)
    }
  }
  CFRunLoopRun()
}
