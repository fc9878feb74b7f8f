// Random scenarios on every face and kernel and on the live CFRunLoop, judged by the model.

import ConformanceFormat
import Glibc

struct Fuzz {
  private let count: Int
  private let options: Options
  private let targets: [FuzzTarget]
  /// How many are performed before the next are made.
  private static let portion = 1000
  /// How many differences are shrunk and printed.
  private static let mostShown = 5

  private struct Difference {
    let entry: FuzzCase
    let target: FuzzTarget
    /// nil: its process ended without a trace.
    let trace: [String]?
  }

  private var tried = 0
  private var performed = 0
  private var explained: [Ruling: Int] = [:]
  private var differing = 0
  private var hanging = 0
  private var onMain = 0
  private var late = 0
  private var differences: [Difference] = []

  init(count: Int, _ options: Options, _ targets: [FuzzTarget]) {
    self.count = count
    self.options = options
    self.targets = targets
  }

  /// - Returns: The exit status.
  mutating func run() throws(FormatError) -> Int32 {
    if count == 1, let reason = FuzzCase.reasonNotToUse(seed: options.seed) {
      print("seed \(options.seed) makes no case: \(reason)")
      return 0
    }
    while performed < count && (options.shrinks || differences.isEmpty) {
      let cases = makeCases(min(Self.portion, count - performed))
      performed += cases.count
      try check(cases)
      Self.showProgress("\(performed) of \(count), \(differences.count) differences")
    }
    Self.showProgress("")
    report()
    var shown: Set<String> = []
    for difference in differences where options.shrinks && shown.count < Self.mostShown {
      guard shown.insert(difference.entry.scenario.id).inserted else { continue }
      Self.showProgress("making \(difference.entry.scenario.id) smaller")
      let shrunk = try Shrinker(target: difference.target).shrink(difference.entry)
      Self.showProgress("")
      print(Self.text(of: difference, shrunk))
    }
    return differences.isEmpty ? 0 : 1
  }

  private mutating func makeCases(_ wanted: Int) -> [FuzzCase] {
    var cases: [FuzzCase] = []
    while cases.count < wanted {
      tried += 1
      guard let entry = FuzzCase(Generator.scenario(seed: options.seed &+ tried - 1)) else {
        continue
      }
      if entry.hangsInCF {
        // Each costs the reference seconds.
        if hanging * 100 > performed + cases.count { continue }
        hanging += 1
      }
      if entry.ours != entry.cf { differing += 1 }
      if entry.scenario.onMainThread { onMain += 1 }
      for ruling in entry.rulings { explained[ruling, default: 0] += 1 }
      cases.append(entry)
    }
    return cases
  }

  // MARK: Comparing

  private mutating func check(_ cases: [FuzzCase]) throws(FormatError) {
    let traces = try FuzzTarget.perform(cases, by: targets, jobs: 100, scale: 1)
    for (target, traces) in zip(targets, traces) {
      let wrong = cases.filter {
        target.knows($0) && !$0.accepts(traces[$0.scenario.id], of: target.face)
      }
      if wrong.isEmpty { continue }
      if target.isTimed {
        try lookAgain(wrong, target)
      } else {
        try note(wrong, target)
      }
    }
  }

  /// On a busy machine some cases fail in real time: they run again with times stretched further,
  /// the last rounds one by one. What never passes counts as a difference, even if the traces vary.
  private mutating func lookAgain(
    _ cases: [FuzzCase], _ target: FuzzTarget
  ) throws(FormatError) {
    var wrong = cases
    for (scale, jobs) in [(2, 48), (5, 16), (8, 16), (10, 4), (10, 1)] as [(Int64, Int)]
    where !wrong.isEmpty {
      let traces = try target.perform(wrong, jobs: jobs, scale: scale)
      wrong.removeAll { $0.accepts(traces[$0.scenario.id], of: target.face) }
    }
    late += cases.count - wrong.count
    try note(wrong, target)
  }

  private mutating func note(_ wrong: [FuzzCase], _ target: FuzzTarget) throws(FormatError) {
    for entry in wrong {
      let scale: Int64 = target.isTimed ? 3 : 1
      let trace = try target.perform([entry], jobs: 1, scale: scale)[entry.scenario.id]
      if !entry.accepts(trace, of: target.face) {
        differences.append(Difference(entry: entry, target: target, trace: trace))
      }
    }
  }

  // MARK: Reporting

  /// Replaces the last line of a terminal.
  private static func showProgress(_ text: String) {
    guard isatty(STDERR_FILENO) == 1 else { return }
    let line = Array("\r\u{1B}[K\(text)".utf8)
    _ = write(STDERR_FILENO, line, line.count)
  }

  private func report() {
    print(
      "\(performed) cases of \(tried) that were made: \(performed - differing) leave the same trace"
        + " here and in Core Foundation, \(differing) differ by the rulings")
    let counts = explained.sorted { $0.value > $1.value }.map { "\($0.key.rawValue) \($0.value)" }
    print("rulings that decided: " + counts.joined(separator: ", "))
    print("\(onMain) ran on the main thread, with the main queue")
    print("\(hanging) never end in Core Foundation; \(late) were late and right with more time")
    print("by: " + targets.map(\.name).joined(separator: "; "))
    for id in Set(differences.map(\.entry.scenario.id)).sorted() {
      let targets = differences.filter { $0.entry.scenario.id == id }.map(\.target.name)
      print("FAIL \(id) by: \(targets.joined(separator: "; "))")
    }
    print("\(differences.count) differences that no ruling explains")
  }

  private static func text(of difference: Difference, _ shrunk: FuzzCase) -> String {
    var lines = ["", "// by \(difference.target.name), from \(difference.entry.scenario.id)"]
    if let traces = try? difference.target.perform([shrunk], jobs: 1, scale: 2) {
      let left = traces[shrunk.scenario.id].map { $0.map(JSON.quoted).joined(separator: ", ") }
      lines.append("// it left: \(left ?? "nothing: the process ended")")
    }
    return (lines + [shrunk.file]).joined(separator: "\n")
  }
}
