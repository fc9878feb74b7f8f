// What performs random scenarios, many in one process.

import ConformanceFormat
import Glibc

struct FuzzTarget {
  let face: FaceName
  let kernel: KernelName

  var name: String { face == .cf ? "CFRunLoop" : "\(face.rawValue), \(kernel.rawValue)" }
  var isTimed: Bool { kernel == .real }

  static let reference = FuzzTarget(face: .cf, kernel: .real)
  static let all = [
    FuzzTarget(face: .swift, kernel: .simulated), FuzzTarget(face: .lua, kernel: .simulated),
    FuzzTarget(face: .swift, kernel: .real), FuzzTarget(face: .lua, kernel: .real), reference,
  ]

  func perform(
    _ cases: [FuzzCase], jobs: Int, scale: Int64
  ) throws(FormatError) -> [String: [String]] {
    try Self.perform(cases, by: [self], jobs: jobs, scale: scale)[0]
  }

  /// Performs scenarios by several targets at the same time.
  /// - Returns: The traces of each target by id; one is missing if its process ended before, and
  ///   did so again when nothing else ran in it.
  static func perform(
    _ cases: [FuzzCase], by targets: [FuzzTarget], jobs: Int, scale: Int64
  ) throws(FormatError) -> [[String: [String]]] {
    setenv("CONFORMANCE_SCALE", "\(scale)", 1)
    defer { unsetenv("CONFORMANCE_SCALE") }
    var all = targets.map { _ in [String: [String]]() }
    // A process has only one main thread.
    var rest = cases.filter(\.scenario.onMainThread)[...]
    var portion = [cases.filter { !$0.scenario.onMainThread }]
    while true {
      let traces = try perform(portion, by: targets, jobs: jobs)
      for index in targets.indices { all[index].merge(traces[index]) { $1 } }
      if rest.isEmpty { break }
      portion = rest.prefix(min(jobs, mostProcesses)).map { [$0] }
      rest = rest.dropFirst(portion.count)
    }
    for (index, target) in targets.enumerated() {
      let missing = cases.filter { target.knows($0) && all[index][$0.scenario.id] == nil }
      let found = try performApart(missing, by: target, jobs: jobs, of: cases.count)
      all[index].merge(found) { $1 }
    }
    return all
  }

  /// Performs again what a process left out that ended too soon, a part of it in each of several
  /// processes, until what ends them is alone.
  private static func performApart(
    _ cases: [FuzzCase], by target: FuzzTarget, jobs: Int, of count: Int
  ) throws(FormatError) -> [String: [String]] {
    var found: [String: [String]] = [:]
    var missing = cases
    var size = count
    while !missing.isEmpty && size > 1 {
      size = max(1, missing.count / mostProcesses)
      var rest = missing[...]
      while !rest.isEmpty {
        var portion: [[FuzzCase]] = []
        while portion.count < mostProcesses, !rest.isEmpty {
          portion.append(Array(rest.prefix(size)))
          rest = rest.dropFirst(size)
        }
        found.merge(try perform(portion, by: [target], jobs: jobs)[0]) { $1 }
      }
      missing.removeAll { found[$0.scenario.id] != nil }
    }
    return found
  }

  /// How many processes of each target are at work at the same time.
  private static let mostProcesses = 12

  /// Performs groups of scenarios, each in a process of its own.
  private static func perform(
    _ groups: [[FuzzCase]], by targets: [FuzzTarget], jobs: Int
  ) throws(FormatError) -> [[String: [String]]] {
    var children: [Child] = []
    var owners: [Int] = []
    for (number, group) in groups.enumerated() where !group.isEmpty {
      let path = "/tmp/conformance-\(getpid())-\(number).jsonl"
      guard let file = fopen(path, "w") else { throw FormatError(message: "cannot write \(path)") }
      for entry in group { fputs(entry.json.text + "\n", file) }
      fclose(file)
      for (owner, target) in targets.enumerated() {
        children.append(try target.start(path, jobs: jobs))
        owners.append(owner)
      }
    }
    read(&children)
    for number in groups.indices { unlink("/tmp/conformance-\(getpid())-\(number).jsonl") }
    var all = targets.map { _ in [String: [String]]() }
    for (owner, child) in zip(owners, children) {
      _ = child.finish()
      all[owner].merge(traces(in: child.text)) { $1 }
    }
    return all
  }

  private func start(_ path: String, jobs: Int) throws(FormatError) -> Child {
    try Child(
      program: face == .cf ? "ConformanceReference" : nil,
      arguments: [
        "--face", face.rawValue, "--kernel", kernel.rawValue, "--jobs", "\(isTimed ? jobs : 1)",
        "--batch", path,
      ])
  }

  /// The simulated kernel has no libdispatch main queue.
  func knows(_ entry: FuzzCase) -> Bool { isTimed || !entry.scenario.onMainThread }

  private static func read(_ children: inout [Child]) {
    var open = Set(children.indices)
    while !open.isEmpty {
      let indices = open.sorted()
      var descriptors = indices.map {
        pollfd(fd: children[$0].output, events: Int16(POLLIN), revents: 0)
      }
      _ = poll(&descriptors, nfds_t(descriptors.count), -1)
      for (place, index) in indices.enumerated() where descriptors[place].revents != 0 {
        if !children[index].readOutput() { open.remove(index) }
      }
    }
  }

  private static func traces(in text: [UInt8]) -> [String: [String]] {
    var all: [String: [String]] = [:]
    for line in text.split(separator: UInt8(ascii: "\n")) {
      guard var fields = try? Fields(JSON.parse(Array(line)), place: "line"),
        let id = try? fields.string("id"), let trace = try? fields.strings("trace")
      else { continue }
      all[id] = trace
    }
    return all
  }
}
