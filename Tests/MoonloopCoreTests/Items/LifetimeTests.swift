// What keeps what alive, and until when.

internal import Glibc
internal import MoonloopCore
internal import MoonloopSimulation
internal import Testing

@Suite struct LifetimeTests {
  enum Kind: CaseIterable { case source, timer, port, descriptor, observer }

  @Test("the loop holds its items", arguments: Kind.allCases)
  func held(kind: Kind) throws {
    try withLoop { rig in  // R126
      let canary = try Canary(kind, rig) { _ in }
      #expect(canary.item != nil && canary.capture != nil)
      canary.item.map(invalidate)
      #expect(canary.item == nil && canary.capture == nil)
    }
  }

  @Test("invalidation in its own callback lets go of everything after it", arguments: Kind.allCases)
  func inOwnCallback(kind: Kind) throws {
    try withLoop { rig in  // R126, R127
      var canary: Canary?
      canary = try Canary(kind, rig) { item in
        invalidate(item)
        #expect(canary?.capture != nil)
        rig.log("called")
      }
      canary?.trigger()
      try rig.source("s")
      rig.run(for: 1)
      #expect(rig.trace.first == "called")
      #expect(canary?.item == nil && canary?.capture == nil)
    }
  }

  @Test("invalidation lets go even if the item itself is kept", arguments: Kind.allCases)
  func keptOutside(kind: Kind) throws {
    try withLoop { rig in  // R126
      let canary = try Canary(kind, rig) { _ in }
      let kept = try #require(canary.item)
      invalidate(kept)
      #expect(canary.capture == nil)
      #expect(!kept.isValid)
    }
  }

  @Test("removed from all modes it is no longer kept", arguments: Kind.allCases)
  func removed(kind: Kind) throws {
    try withLoop { rig in  // R126
      let canary = try Canary(kind, rig) { _ in }
      if let item = canary.item { rig.loop.remove(item) }
      #expect(canary.item == nil && canary.capture == nil)
    }
  }

  @Test func `a source in two loops lets go when both have looked`() throws {
    try withLoop { rig in  // R126
      let canary = try Canary(.source, rig) { _ in }
      try rig.withOtherLoop { other in
        let source = try #require(canary.item)
        try other.add(source)
        invalidate(source)
        #expect(canary.capture == nil)
        #expect(other.run() == .finished)
      }
    }
  }

  @Test func `ten thousand loops leave no descriptor, no thread and no memory`() async {
    await #expect(processExitsWith: .success) {
      func once() {
        Loop.isolated(clock: .real) { loop in
          guard let (near, far) = try? loop.kernel.socketPair() else { exit(2) }
          let source = Loop.DescriptorSource(near, closesDescriptor: true) { source, _ in
            source.invalidate()
          }
          try? loop.add(source, modes: [.default, "a", "b"])
          loop.kernel.close(far)
          loop.run(for: .seconds(1))
        }
      }
      func entries(of folder: String) -> Int {
        guard let directory = opendir("/proc/self/\(folder)") else { return -1 }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count
      }
      func residentPages() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return -1 }
        defer { fclose(file) }
        var text = [CChar](repeating: 0, count: 100)
        guard fgets(&text, 100, file) != nil else { return -1 }
        let words = String(decoding: text.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return words.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? -1
      }
      let isSanitized = getenv("MOONLOOP_SANITIZED") != nil
      for _ in 0..<200 { once() }
      let before = (entries(of: "fd"), entries(of: "task"), residentPages())
      for _ in 0..<(isSanitized ? 500 : 10_000) { once() }
      // Other threads of the process have a few of their own; a leak would be thousands.
      if entries(of: "fd") > before.0 + 20 { exit(3) }
      if entries(of: "task") > before.1 + 10 { exit(4) }
      if !isSanitized, residentPages() > before.2 + 500 { exit(5) }  // 2 MB
      exit(EXIT_SUCCESS)
    }
  }
}

private func invalidate(_ item: Loop.Item) {
  switch item {
  case let source as Loop.Source: source.invalidate()
  case let timer as Loop.Timer: timer.invalidate()
  case let port as Loop.Port: port.invalidate()
  case let descriptor as Loop.DescriptorSource: descriptor.invalidate()
  case let observer as Loop.Observer: observer.invalidate()
  default: break
  }
}

/// An item that only its loop keeps, and something that only its handler keeps.
private final class Canary {
  private final class Capture {}
  weak var item: Loop.Item?
  weak var capture: AnyObject?
  let trigger: () -> Void

  init(_ kind: LifetimeTests.Kind, _ rig: Rig, _ act: @escaping (Loop.Item) -> Void) throws {
    let capture = Capture()
    self.capture = capture
    let call: (Loop.Item) -> Void = { item in
      withExtendedLifetime(capture) { act(item) }
    }
    let made: Loop.Item
    var trigger = {}
    switch kind {
    case .source:
      let source = Loop.Source { call($0) }
      made = source
      trigger = { [weak source] in source?.signal() }
    case .timer: made = Loop.Timer(after: .zero, every: .seconds(1)) { call($0) }
    case .port:
      let port = Loop.Port { port, _ in call(port) }
      made = port
      trigger = { [weak port] in try? port?.post(0) }
    case .descriptor:
      let fd = rig.kernel.openFile()
      made = Loop.DescriptorSource(fd, closesDescriptor: true) { source, _ in call(source) }
    case .observer: made = Loop.Observer(.beforeTimers) { observer, _ in call(observer) }
    }
    self.trigger = trigger
    item = made
    try rig.loop.add(made)
  }
}
