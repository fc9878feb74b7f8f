// `moonloop plan`, `simulate` and `check`: their whole output against Tests/Planning/expected,
// without real times.
//
// To write the expected texts again: MOONLOOP_EXPECTED=write swift test --filter PlanningTests

import Foundation
import FoundationXML
import Testing

@Suite("moonloop plan, simulate, check")
struct PlanningTests {
  struct Row: Sendable, CustomTestStringConvertible {
    /// The name of the file with the expected output.
    let name: String
    let arguments: [String]
    let folder: String
    let status: Int32

    init(
      _ name: String, _ command: String, folder: String = "configurations", status: Int32 = 0
    ) {
      (self.name, self.folder, self.status) = (name, folder, status)
      arguments = command.split(separator: " ").map(String.init)
    }

    var testDescription: String { name }
  }

  static let folder = Program.root.appendingPathComponent("Tests/Planning")
  static let service = "../../../scripts/examples/service/service.lua"

  static let plans: [Row] = [
    Row("plan", "plan app.lua"),
    Row("plan-json", "plan --json thrifty.lua"),
    Row("plan-service", "plan \(service)"),
    Row("plan-beside", "plan configurations/beside.lua", folder: "."),
    Row("plan-mistake", "plan ../defects/mistake.lua", status: 1),
    Row("plan-refused", "plan ../defects/refused.lua", status: 1),
    Row("plan-inherited", "plan ../defects/inherited.lua", status: 1),
    Row("run-inherited", "run ../defects/inherited.lua", status: 1),
    Row("plan-calendar", "plan calendar.lua"),
    Row("plan-computed", "plan ../defects/computed.lua", status: 1),
    Row("plan-syntax", "plan ../defects/syntax.lua", status: 1),
    Row("plan-script", "plan ../defects/nested-default.lua", status: 1),
    Row("plan-missing", "plan missing.lua", status: 2),
    Row("plan-nothing", "plan", status: 2),
    Row("plan-option", "plan --jsn app.lua", status: 2),
  ]

  static let simulations: [Row] = [
    Row("simulate", "simulate app.lua"),
    Row("simulate-stop", "simulate app.lua --for=5m --stop-at 2m"),
    Row("simulate-input", "simulate app.lua --for 1m --input commands=7s --input=work=500ms"),
    Row("simulate-timers", "simulate app.lua --no-handlers --for 10m"),
    Row("simulate-json", "simulate thrifty.lua --json --for 90s"),
    Row("simulate-against", "simulate app.lua --for 1h --against thrifty.lua"),
    Row("simulate-modal", "simulate modal.lua --for 15s"),
    Row("simulate-held-back", "simulate ../defects/held-back.lua --for 10s"),
    Row("simulate-dated", "simulate dated.lua --for 1h"),
    Row("simulate-service", "simulate \(service) --seed 7"),
    Row("simulate-failing", "simulate failing.lua", status: 1),
    Row("simulate-taken", "simulate taken.lua", status: 1),
    Row("simulate-no-page", "simulate app.lua --html nowhere/page.html", status: 2),
    Row("simulate-hanging", "simulate hanging.lua --for=9s", status: 1),
    Row("simulate-standing", "simulate standing.lua", status: 1),
    Row("simulate-mistake", "simulate ../defects/mistake.lua", status: 1),
    Row("simulate-from", "simulate app.lua --for 5s --from 20m", status: 2),
    Row("simulate-time", "simulate app.lua --for soon", status: 2),
    Row("simulate-unknown", "simulate app.lua --input comands=1s", status: 2),
    Row("simulate-against-missing", "simulate app.lua --against missing.lua", status: 2),
  ]

  static let checks: [Row] =
    [
      "mistake", "syntax", "mode-never-run", "mode-never-run-script", "never-ends", "ends-at-once",
      "runs-common", "never-signalled", "never-signalled-script", "signal-without-wake-up",
      "shared-wake-up", "shared-wake-up-script", "zero-interval", "zero-interval-script",
      "wide-tolerance", "nested-default", "never-invalidated", "blocks-the-loop", "named-handlers",
      "named-run", "never-ends-script", "configured-script", "never-added", "closed-at-once",
      "unknown-name", "runs-common-named", "misspelt-section", "empty-section", "named-table",
      "dot-for-colon", "called-at-once", "plain-yield", "wrong-value", "used-module",
      "first-statement",
    ].map {
      Row("check-\($0)", "check \($0).lua", folder: "defects", status: 1)
    } + [
      Row(
        "check-starves-others", "check --for 10s starves-others.lua", folder: "defects", status: 1),
      Row(
        "check-outlasts-interval", "check --for 10s outlasts-interval.lua", folder: "defects",
        status: 1),
      Row("check-held-back", "check --for 10s held-back.lua", folder: "defects", status: 1),
      Row(
        "check-trace", "check --recording ../recordings/trace.json starves-recorded.lua",
        folder: "defects", status: 1),
      Row(
        "check-metrics", "check --json --recording=../recordings/metrics.json",
        folder: "defects", status: 1),
      Row(
        "check-clock-hold", "check --recording ../recordings/held.json held-recorded.lua",
        folder: "defects", status: 1),
      Row(
        "check-damaged", "check --recording ../recordings/damaged.json",
        folder: "defects", status: 2),
      Row(
        "check-no-recording", "check --recording ../recordings/other.txt",
        folder: "defects", status: 2),
      Row("check-modal", "check --for 15s modal.lua", status: 1),
      Row("check-not-run", "check starves-others.lua", folder: "defects"),
      Row("check-other-table", "check other-table.lua", folder: "defects"),
      Row("check-computed", "check computed.lua", folder: "defects", status: 1),
      Row("check-computed-section", "check computed-section.lua", folder: "defects", status: 1),
      Row("check-computed-elsewhere", "check computed-elsewhere.lua", folder: "defects", status: 1),
      Row("check-computed-error", "check computed-error.lua", folder: "defects", status: 1),
      Row("check-computed-effect", "check computed-effect.lua", folder: "defects"),
      Row("check-computed-module", "check computed-module.lua", folder: "defects"),
      Row("check-computed-runs", "check computed-runs.lua", folder: "defects"),
      Row("check-computed-requires", "check computed-requires.lua", folder: "defects"),
      Row("check-allowed", "check allowed.lua", folder: "defects"),
      Row(
        "check-json", "check --json wide-tolerance.lua allowed.lua", folder: "defects", status: 1),
      Row("check-rules", "check --list-rules"),
      Row("check-service", "check \(service)"),
      Row("check-missing", "check app.lua missing.lua", status: 2),
      Row("check-nothing", "check", status: 2),
    ]

  /// The output without what varies from run to run: the real time that handlers took.
  static func settled(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let line = String(line).replacing(/("busy(?:_max)?":)[\d.e-]+/) { "\($0.1)T" }
      if line.hasPrefix("  busy, real time") { return "  busy, real time  T" }
      let indent = line.prefix { $0 == " " }
      let cells = line.dropFirst(indent.count).split(separator: /\ {2,}/)
      let isRow = cells.count >= 8 && (cells[0] == "Items" || indent.count >= 4)
      return isRow ? indent + cells.dropLast(2).joined(separator: "  ") : String(line)
    }.joined(separator: "\n")
  }

  @Test(arguments: plans + simulations + checks)
  func `the output of a command is exactly as expected`(row: Row) throws {
    let outcome = try moonloop(row.arguments, in: Self.folder.appendingPathComponent(row.folder))
    let marker = outcome.errors.isEmpty ? "" : "--- standard error\n"
    let text = Self.settled(outcome.output + marker + outcome.errors)
    let file = Self.folder.appendingPathComponent("expected/\(row.name).txt")
    if ProcessInfo.processInfo.environment["MOONLOOP_EXPECTED"] == "write" {
      try Data(text.utf8).write(to: file)
    }
    let expected = String(decoding: try Data(contentsOf: file), as: UTF8.self)
    #expect(text == expected)
    #expect(outcome.status == row.status, "\(outcome)")
    #expect(outcome.isOurs)
  }

  @Test func `every rule has a planted defect, every expected text a command`() throws {
    let list = try moonloop(["check", "--list-rules"]).output
    let rules = list.split(separator: "\n").filter { !$0.hasPrefix(" ") }.map(String.init)
    #expect(rules.count == 25)
    let names = Set((Self.plans + Self.simulations + Self.checks).map { "\($0.name).txt" })
    #expect(Set(rules.map { "check-\($0).txt" }).subtracting(names) == [])
    let files = try FileManager.default.contentsOfDirectory(
      atPath: Self.folder.appendingPathComponent("expected").path)
    #expect(Set(files) == names)
    for rule in rules {
      let text = try String(
        contentsOf: Self.folder.appendingPathComponent("expected/check-\(rule).txt"),
        encoding: .utf8)
      #expect(text.contains(": \(rule): "), "\(rule)")
    }
  }

  @Test func `no rule is alarmed by the examples`() throws {
    let names = try FileManager.default.subpathsOfDirectory(atPath: Program.examples.path)
    let files = names.filter { $0.hasSuffix(".lua") }.sorted()
    #expect(files.count > 8)
    let outcome = try moonloop(["check"] + files, in: Program.examples)
    #expect(outcome.output == "\(files.count) files: no findings\n")
    #expect(outcome.status == 0)
  }

  @Test func `no rule is alarmed by what the pages of docs show`() throws {
    let docs = Program.root.appendingPathComponent("docs")
    let pages = try FileManager.default.contentsOfDirectory(atPath: docs.path)
      .filter { $0.hasSuffix(".md") }.sorted()
    var count = 0
    for page in pages {
      let text = try String(contentsOf: docs.appendingPathComponent(page), encoding: .utf8)
      for block in text.components(separatedBy: "```lua\n").dropFirst() {
        count += 1
        let script = block.components(separatedBy: "\n```")[0]
        let outcome = try withFile(script) { try moonloop(["check", "--json", $0]) }
        // Some examples have handlers in modules that do not exist.
        let alarms = outcome.output.components(separatedBy: "\"rule\":").dropFirst()
          .filter { !$0.hasPrefix("\"mistake\"") }
        #expect(alarms.isEmpty, "\(page)\n\(script)\n\(outcome)")
      }
    }
    #expect(count > 20)
  }

  @Test func `the example of a service runs as its plan says`() throws {
    let folder = Program.examples.appendingPathComponent("service")
    let outcome = try moonloop(["run", "--clock", "virtual", "service.lua"], in: folder)
    #expect(
      outcome.output == """
        wrote 8 samples
        8 written, 1 waiting
        wrote 8 samples
        16 written, 3 waiting
        wrote 8 samples
        24 written, 5 waiting
        wrote 8 samples
        closing
        the phase 'default' ends
        wrote 2 samples
        34 written, 0 waiting
        the phase 'drain' ends

        """)
    #expect(outcome.status == 0, "\(outcome)")
  }

  @Test func `no handler is blamed for a timer that was held back`() throws {
    let text = """
      local ml = require "moonloop"
      local loop = ml.current()
      loop:timer { every = 0.5, name = "spin", modes = "modal", function() end }
      loop:timer { first = 0.2, name = "press", function()
        local mouse <close> = loop:source { modes = "tracking", function() end }
        loop:run { mode = "tracking", timeout = 1 }
      end }
      loop:timer { first = 2, function() loop:stop() end }
      loop:run()
      loop:run { mode = "modal", timeout = 0.25 }
      """
    try withFile(text, name: "app.lua") { script in
      let (trace, recording) = (script + ".json", script + ".mlt")
      let run = try moonloop(
        ["run", "--clock", "virtual", "--metrics", "--trace-out", trace, script])
      #expect(run.errors.contains("timer 'spin' was held back 1.5 s because its mode did not run."))
      #expect(!run.errors.contains(" late, as "), "\(run)")
      let events = try String(contentsOfFile: trace, encoding: .utf8)
      #expect(
        events.contains(
          """
          "late_us":0.000,"missed":0,"held_us":1500000.000,"held_missed":3,\
          "held_by":"because its mode did not run"
          """), "\(events)")
      #expect(
        try moonloop(["run", "--clock", "virtual", "--record", recording, script]).status == 0)
      for file in [trace, recording] {
        let outcome = try moonloop(["check", "--recording", file])
        let found =
          "\(script):3: held-back: timer 'spin' missed 3 fires because its mode did not run\n"
        #expect(outcome.output.hasPrefix(found), "\(outcome)")
        #expect(outcome.output.hasSuffix("\n1 file: 1 finding\n"), "\(outcome)")
      }
      let page = Self.folder.appendingPathComponent("configurations/modal.lua").path
      #expect(try moonloop(["simulate", page, "--for", "15s", "--html", trace]).status == 0)
      let picture = try String(contentsOfFile: trace, encoding: .utf8)
      #expect(picture.contains("<title>spin: held back for "))
    }
  }

  @Test func `what starves others is found in a recording of a real run`() throws {
    let text = """
      local ml = require "moonloop"
      local loop = ml.current()
      loop:timer { every = 0.01, name = "tick", function() end }
      loop:timer { every = 0.2, name = "slow", function(timer)
        local from = ml.now()
        while ml.now() - from < 0.1 do end
        if timer.fires == 2 then loop:stop() end
      end }
      """
    try withFile(text, name: "app.lua") { script in
      let recording = script + ".mlt"
      #expect(try moonloop(["run", "--record", recording, script]).status == 0)
      let outcome = try moonloop(["check", "--recording", recording, script])
      #expect(outcome.status == 1, "\(outcome)")
      #expect(
        outcome.output.hasPrefix("\(script):4: starves-others: a call of timer 'slow' took "),
        "\(outcome)")
      #expect(outcome.errors.contains("a call takes only the time that the script read"))
      try Data(Data(contentsOf: URL(fileURLWithPath: recording)).prefix(200))
        .write(to: URL(fileURLWithPath: recording))
      let cut = try moonloop(["check", "--recording", recording])
      #expect(cut.status == 2 && cut.errors.contains("is truncated after event"), "\(cut)")
    }
  }

  /// The folders in which the commands of docs/planning.md find their files.
  static let shown = ["service.lua", "app.lua", "shared-wake-up.lua"].map { file in
    ["scripts/examples/service", "Tests/Planning/configurations", "Tests/Planning/defects"]
      .map { Program.root.appendingPathComponent($0) }
      .first { FileManager.default.fileExists(atPath: $0.appendingPathComponent(file).path) }
  }

  @Test func `docs shows what the commands say`() throws {
    let page = try String(
      contentsOf: Program.root.appendingPathComponent("docs/planning.md"), encoding: .utf8)
    var count = 0
    for block in page.components(separatedBy: "```console\n$ moonloop ").dropFirst() {
      let text = block.components(separatedBy: "\n```")[0] + "\n"
      let command = text.prefix { $0 != "\n" }
      let arguments = command.split(separator: " ").map(String.init)
      let folder = try #require(
        Self.shown.compactMap(\.self).first {
          FileManager.default.fileExists(atPath: $0.appendingPathComponent(arguments[1]).path)
        })
      let outcome = try moonloop(arguments, in: folder)
      #expect(
        Self.settled(outcome.output) == Self.settled(String(text.dropFirst(command.count + 1))))
      count += 1
    }
    #expect(count == 4)
  }

  @Test(.disabled(if: Program.holdsSignals, "no signal ends a busy script"))
  func `a signal ends a simulation, quietly`() throws {
    let text = """
      return { timers = { busy = { first = 1, handler = function()
        local out = io.open("/dev/stdout", "w")
        out:write("busy\\n")
        out:close()
        while true do end
      end } } }
      """
    try withFile(text) { path in
      let program = try Program(["simulate", path])
      try program.waitFor("busy")
      program.send(SIGINT)
      let outcome = try program.wait()
      #expect(outcome.status == 130)
      #expect(outcome.output + outcome.errors == "busy\n")
    }
  }

  // MARK: Pages

  /// The drawings of a page; each is a complete XML document.
  static func drawings(_ page: String) throws -> [DrawingReader] {
    try page.components(separatedBy: "<svg ").dropFirst().map { part in
      let end = try #require(part.range(of: "</svg>"))
      let reader = DrawingReader()
      let parser = XMLParser(data: Data("<svg \(part[..<end.upperBound])".utf8))
      parser.delegate = reader
      #expect(parser.parse(), "\(String(describing: parser.parserError))")
      return reader
    }
  }

  @Test func `a timeline shows each event of its window, and needs no other file`() throws {
    try withFile("", name: "page.html") { path in
      let outcome = try moonloop(
        ["simulate", "app.lua", "--for", "10m", "--from=1m", "--window=40s", "--html", path],
        in: Self.folder.appendingPathComponent("configurations"))
      #expect(outcome.status == 0, "\(outcome)")
      let page = try String(contentsOfFile: path, encoding: .utf8)
      #expect(page.hasPrefix("<!DOCTYPE html>\n") && page.hasSuffix("</html>\n"))
      for foreign in ["<script", "src=", "href=", "@import", "url("] {
        #expect(!page.contains(foreign))
      }
      for meaning in [
        "mode default", "mode org.example.ask", "asleep", "passes", "timers", "made by handlers",
      ] {
        #expect(page.contains("</i>\(meaning)</span>"), "\(meaning)")
      }
      #expect(page.contains("@media (prefers-color-scheme: dark)"))
      let drawings = try Self.drawings(page)
      try #require(drawings.count == 2)
      let close = drawings[1]
      #expect(close.titles(of: "mode").contains("default, depth 1: 0 s to 10 min"))
      #expect(close.titles(of: "mode").contains("org.example.ask, depth 2: 1 min 3 s to 1 min 5 s"))
      #expect(
        close.titles(of: "item").filter { $0.hasPrefix("inner at") } == [
          "inner at 1 min 3.5 s", "inner at 1 min 4 s", "inner at 1 min 4.5 s",
          "inner at 1 min 5 s",
          "inner at 1 min 33.5 s", "inner at 1 min 34 s", "inner at 1 min 34.5 s",
          "inner at 1 min 35 s",
        ])
      #expect(
        close.titles(of: "item").filter { $0.hasPrefix("ask at") } == [
          "ask at 1 min 3 s, for 2 s, including nested runs",
          "ask at 1 min 33 s, for 2 s, including nested runs",
        ])
      // The far view has a bar for a call that is longer than a column; the key has the colours of
      // the drawing, which the dark makes brighter.
      #expect(
        drawings[0].titles(of: "item busy").contains { $0.hasPrefix("ask: in long calls for ") })
      #expect(page.contains(#"<i class="item" style="background:"#))
      #expect(!close.titles(of: "pass").isEmpty && !close.titles(of: "asleep").isEmpty)
    }
  }

  @Test func `a timeline of an hour of a fast timer stays small`() throws {
    let text = "return { timers = { tick = { every = 0.01, handler = function() end } } }"
    try withFile(text, name: "tick.lua") { config in
      try withFile("", name: "page.html") { path in
        let outcome = try moonloop(["simulate", config, "--html", path, "--json"])
        #expect(outcome.output.contains(#""fires":360000"#), "\(outcome)")
        let page = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(page.count < 400_000)
        let drawings = try Self.drawings(String(decoding: page, as: UTF8.self))
        #expect(drawings.count == 2)
        // Columns of equal counts are one rectangle.
        #expect(drawings[0].titles(of: "item").count < 10)
      }
    }
  }

  @Test func `a plan can be a page too`() throws {
    try withFile("", name: "page.html") { path in
      let outcome = try moonloop(
        ["plan", "app.lua", "--html", path],
        in: Self.folder
          .appendingPathComponent("configurations"))
      #expect(outcome.status == 0, "\(outcome)")
      let page = try String(contentsOfFile: path, encoding: .utf8)
      #expect(try Self.drawings(page).count == 2)
      #expect(page.contains("every 5 s, up to 500 ms late"))
    }
    let outcome = try moonloop(
      ["plan", Self.service, "--html", "/nowhere/page.html"],
      in: Self.folder
        .appendingPathComponent("configurations"))
    #expect(outcome.status == 2, "\(outcome)")
    #expect(outcome.errors.contains("--html: cannot write /nowhere/page.html"))
  }
}

/// Collects the titles of the rectangles of a drawing, by their class.
final class DrawingReader: NSObject, XMLParserDelegate {
  private var rectangle: String?
  private var isTitle = false
  private var found: [String: [String]] = [:]

  func titles(of kind: String) -> [String] { found[kind] ?? [] }

  func parser(
    _ parser: XMLParser, didStartElement element: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String]
  ) {
    if element == "rect" { rectangle = attributes["class"] }
    isTitle = element == "title" && rectangle != nil
    if isTitle, let rectangle { found[rectangle, default: []].append("") }
  }

  func parser(_ parser: XMLParser, foundCharacters text: String) {
    guard isTitle, let rectangle, let last = found[rectangle]?.indices.last else { return }
    found[rectangle]?[last] += text
  }

  func parser(
    _ parser: XMLParser, didEndElement element: String, namespaceURI: String?,
    qualifiedName: String?
  ) {
    if element == "title" { isTitle = false }
    if element == "rect" { rectangle = nil }
  }

  @Test("check --recording names tasks and performs as other reports do")
  func namesInRecordings() throws {
    let trace = """
      [{"ph":"X","cat":"timer","name":"tick","pid":1,"tid":1,"ts":1,"dur":1,"args":{"kind":"timer",\
      "at":"app.lua:4","late_us":500000,"missed":4,"late_by":{"kind":"KIND","name":"NAME",\
      "at":"app.lua:9","took_us":500000,"missed":4}}}]
      """
    try inFolder { folder in
      try "local x = 1\nreturn x\n".write(
        to: folder.appendingPathComponent("app.lua"), atomically: true, encoding: .utf8)
      for (kind, name, label) in [
        ("timer", "task 'bg' (made at app.lua:9)", "task 'bg'"), ("block", "block", "perform"),
      ] {
        let text = trace.replacingOccurrences(of: "KIND", with: kind)
          .replacingOccurrences(of: "NAME", with: name)
        try text.write(
          to: folder.appendingPathComponent("t.json"), atomically: true, encoding: .utf8)
        let outcome = try moonloop(["check", "--recording", "t.json", "app.lua"], in: folder)
        #expect(outcome.output.contains(label), "\(outcome)")
        #expect(!outcome.output.contains("'\(name)'"), "\(outcome)")
      }
    }
  }
}
