// What random scenarios are performed by, many in one process.

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
  /// - Returns: For each target the traces by id; one is missing if its process ended before.
  static func perform(
    _ cases: [FuzzCase], by targets: [FuzzTarget], jobs: Int, scale: Int64
  ) throws(FormatError) -> [[String: [String]]] {
    let path = "/tmp/conformance-\(getpid()).jsonl"
    guard let file = fopen(path, "w") else { throw FormatError(message: "cannot write \(path)") }
    for entry in cases { fputs(entry.json.text + "\n", file) }
    fclose(file)
    defer { unlink(path) }
    setenv("CONFORMANCE_SCALE", "\(scale)", 1)
    defer { unsetenv("CONFORMANCE_SCALE") }
    var children: [Child] = []
    for target in targets {
      children.append(
        try Child(
          program: target.face == .cf ? "ConformanceReference" : nil,
          arguments: [
            "--face", target.face.rawValue, "--kernel", target.kernel.rawValue, "--jobs",
            "\(target.isTimed ? jobs : 1)", "--batch", path,
          ]))
    }
    read(&children)
    return children.map { child in
      _ = child.finish()
      return traces(in: child.text)
    }
  }

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
