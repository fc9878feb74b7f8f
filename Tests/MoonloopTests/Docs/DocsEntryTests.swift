// Every entry of the Lua interface is documented, its example runs, and the generated files are
// those of the repository.

import Glibc
import LuaEmbed
import Moonloop
import TestSupport
import Testing

/// An entry and where it stands, for messages.
struct DocumentedEntry: Sendable, CustomTestStringConvertible {
  let group: EntryGroup
  let entry: LuaEntry

  var testDescription: String { "\(group.receiver) \(entry.name)" }

  static let all = entryGroups.flatMap { group in
    group.ownEntries.map { DocumentedEntry(group: group, entry: $0) }
  }
}

@Suite("Docs: entries of the Lua interface")
struct DocsEntryTests {
  @Test("are whole", arguments: DocumentedEntry.all)
  func gaps(_ documented: DocumentedEntry) {
    #expect(documented.entry.gaps == [])
  }

  @Test("have an example that shows them, and prints what it says", arguments: DocumentedEntry.all)
  func examples(_ documented: DocumentedEntry) {
    guard let docs = documented.entry.docs else { return }
    let name = "\(documented.entry.name)"
    #expect(name == "__call" || docs.example.contains(name))
    let run = ExampleRun(docs.example, name: documented.testDescription)
    #expect(run.errors == [])
    let promised = ExampleRun.promised(by: docs.example)
    if !promised.isEmpty { #expect(run.output == promised) }
  }

  @Test("name no entry twice")
  func names() {
    for group in entryGroups {
      let names = group.entries.map { "\($0.name)" }
      #expect(Set(names).count == names.count, "\(group.title)")
    }
  }

  @Test("have the options that the code knows", arguments: DocumentedEntry.all)
  func options(_ documented: DocumentedEntry) throws {
    let (group, entry) = (documented.group, documented.entry)
    guard let docs = entry.docs,
      let place = docs.parameters.firstIndex(where: { !$0.fields.isEmpty })
    else { return }
    let makers = [
      "port": "loop:port {}", "task": "loop:task(function() end)", "channel": "ml.channel(1)",
      "semaphore": "ml.semaphore(1)",
      "stream": "loop:stream { fd = 0 }", "process": "ml.process.spawn { \"true\" }",
      "worker": "ml.worker { source = '' }",
      "server": "ml.net.listen { path = '@options' }",
      "socket": "ml.net.udp { host = '127.0.0.1' }",
    ]
    let receiver = makers[group.receiver] ?? group.receiver
    let separator = entry.form == .method ? ":" : "."
    let access = entry.form == .metamethod ? "" : "\(separator)\(entry.name)"
    let arguments = String(repeating: "'a', ", count: place) + "{ zzzzzzzzzz = 1 }"
    let run = ExampleRun(
      """
      local handle = \(receiver)
      local _, message = pcall(function() return handle\(access)(\(arguments)) end)
      print((message:match "the options are ([%w_, ]+)"))
      loop:stop_when_next_looking()
      """, name: documented.testDescription)
    var known = Set(run.output.joined().split(separator: ", ").map(String.init))
    let told = Set(docs.parameters[place].fields.map(\.name).filter { !$0.hasPrefix("[") })
    // Functions of the module that add nothing know 'modes' to say that it belongs elsewhere.
    let isMadeHereOnly = [
      "channel", "semaphore", "stream", "limit", "worker", "break_here",
    ].contains("\(entry.name)")
    let isMaker = group.type == "moonloop" || access.isEmpty
    if isMaker && !isMadeHereOnly { #expect(known.remove("modes") != nil) }
    #expect(known == told)
  }

  @Test("tell every field of the tables that scripts get")
  func records() {
    let names = { (type: String) in
      entryRecords.first { $0.name == type }?.fields.map(\.name).sorted().joined(separator: " ")
    }
    let sorted = """
      local function names(t)
        local list = {}
        for name in pairs(t) do list[#list + 1] = name end
        table.sort(list)
        print(table.concat(list, " "))
      end

      """
    let errors = ExampleRun(
      sorted + "loop.on_error = names loop:after(0, function() error { code = \"E\" } end)",
      name: "error")
    #expect(errors.output == [names("moonloop.Error") ?? ""])
    let modes = ExampleRun(
      sorted + "loop:after(0, function() end) names(loop:modes().default)", name: "modes")
    #expect(modes.output == [names("moonloop.ModeContents") ?? ""])
  }
}

@Suite("Docs: generated files")
struct DocsGeneratedTests {
  static let files: [String] = ["docs/lua-api.md", "docs/types/moonloop.lua"]

  /// What a generated file must contain.
  private func content(of path: String) -> String {
    if path.hasSuffix(".lua") { return EditorTypes.text }
    let introduction = RepositoryFile(path: "docs/lua-api.intro.md").text ?? ""
    return ReferencePage(introduction: introduction.trimmedEnd).text
  }

  /// The first line that differs.
  private func difference(_ found: String, _ wanted: String) -> String? {
    let lines = { (text: String) in
      text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) + ["(end)"]
    }
    let pair = zip(lines(found), lines(wanted)).first { $0 != $1 }
    return pair.map { "is: \($0)\nmust be: \($1)" }
  }

  @Test("are those of the repository; `scripts/docs` writes them", arguments: files)
  func current(_ path: String) {
    let file = RepositoryFile(path: path)
    let content = content(of: path)
    if getenv("MOONLOOP_DOCS").map({ String(cString: $0) }) == "write" {
      #expect(file.write(content))
    }
    #expect(difference(file.text ?? "", content) == nil, "run scripts/docs")
  }

  @Test("have editor types that Lua can load, with a place for every entry")
  func types() throws {
    let text = EditorTypes.text
    let lua = try LuaState()
    try lua.run("local ml = (function(...) \(text) end)() types = ml")
    for group in entryGroups {
      #expect(text.contains("---@class \(group.type)\n") || group.parent != nil)
      for entry in group.ownEntries where entry.docs != nil && entry.form != .metamethod {
        let isThere =
          text.contains("---@field \(entry.name) ")
          || text.contains(":\(entry.name)(") || text.contains(".\(entry.name)(")
        #expect(isThere, "\(group.title): \(entry.name)")
      }
    }
  }

  @Test("close every bracket and every quote in an annotation")
  func balanced() {
    for line in EditorTypes.text.split(separator: "\n") where line.hasPrefix("---@") {
      var open: [Character] = []
      for character in line {
        switch character {
        case "(", "[", "{": open.append(character)
        case ")": #expect(open.popLast() == "(", "\(line)")
        case "]": #expect(open.popLast() == "[", "\(line)")
        case "}": #expect(open.popLast() == "{", "\(line)")
        default: break
        }
      }
      let quotes = line.count { $0 == "\"" }
      #expect(open.isEmpty && quotes.isMultiple(of: 2), "\(line)")
    }
  }

  @Test("name no type that is not declared")
  func declared() {
    let words = EditorTypes.text.split { !($0.isLetter || $0 == "." || $0 == "@" || $0 == "-") }
    var declared: Set<Substring> = []
    for (mark, name) in zip(words, words.dropFirst())
    where mark == "---@class" || mark == "---@alias" { declared.insert(name) }
    let used = Set(words.filter { $0.hasPrefix("moonloop.") && !$0.hasSuffix(".lua") })
    #expect(used.subtracting(declared) == [])
  }
}

extension String {
  fileprivate var trimmedEnd: String {
    var text = self
    while text.last?.isNewline ?? false { text.removeLast() }
    return text
  }
}
