// Everything that scripts can use is documented, its example runs, and the generated pages match
// those in the repository.

import Foundation
import LuaEmbed
import Moonloop
import ScriptGrammar
import TestSupport
import Testing

@Suite("Docs: entries of the Lua interface")
struct DocsEntryTests {
  @Test("are whole")
  func gaps() throws {
    let gaps: [String] = try Reference.evaluate("return pages.gaps()")
    #expect(gaps == [])
    #expect(Reference.entries.count > 200)
  }

  @Test(
    "have an example that prints what it says",
    arguments: Reference.entries.filter { !$0.isSpec })
  func examples(_ entry: DocumentedEntry) {
    let run = ExampleRun(entry.example, name: entry.signature)
    #expect(run.errors == [])
    let promised = ExampleRun.promised(by: entry.example)
    if !promised.isEmpty { #expect(run.output == promised) }
  }

  @Test("of tests have an example that passes")
  func specs() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("moonloop-examples-\(getpid())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let entries = Reference.entries.filter(\.isSpec)
    #expect(entries.count > 40)
    let specs = LuaSpecs(directory: folder.path)
    for (place, entry) in entries.enumerated() {
      let path = folder.appendingPathComponent("\(place)_spec.lua")
      try Data(entry.example.utf8).write(to: path)
      let outcomes = try specs.run(LuaSpecs.File(path: path.path))
      #expect(!outcomes.isEmpty, "\(entry.signature)")
      #expect(outcomes.filter(\.isFailure).map(\.description) == [], "\(entry.signature)")
    }
  }

  @Test("are those that a state has: none without documentation, none that is not there")
  func names() throws {
    let registered: [String] = try Reference.evaluate(Self.registered)
    let documented = try Reference.entries(areInherited: true).flatMap { entry in
      entry.isSettable ? [entry.path, "\(entry.path) ="] : [entry.path]
    }
    // Every item is of some kind; only a worker has a parent; the other names of uv are luv's.
    let there = documented.filter {
      !$0.hasPrefix("item") && $0 != "ml.parent" && $0 != "uv.install"
    }
    #expect(Set(registered).subtracting(there) == [])
    #expect(Set(there).subtracting(registered) == [])
    #expect(there.count == Set(there).count)
  }

  /// Looks at the metatables of all kinds of handles, and at the tables of the module.
  private static let registered = """
    local ml, names = require "moonloop", {}
    local function add(owner, sign, name) names[#names + 1] = owner .. sign .. name end
    local function add_table(owner, value)
      if (getmetatable(value) or {}).__call then add(owner, "", "") end
      for name, field in pairs(value) do
        if type(field) == "table" and getmetatable(field) ~= false then  -- else it is a value
          add_table(owner .. "." .. name, field)
        else
          add(owner, ".", name)
        end
      end
    end
    -- What is read by a function of its own has no members.
    local function members_of(access)
      local _, members = debug.getupvalue(access, 1)
      return type(members) == "table" and members or {}
    end
    local function add_kind(kind)
      local owner = kind.__name:gsub(" ", "_")
      local members = kind.__index
      if type(members) == "function" then members = members_of(members) end
      for name, member in pairs(members) do
        add(owner, type(member) == "function" and ":" or ".", name)
      end
      for name in pairs(members_of(kind.__newindex)) do
        add(owner, ".", name .. " =")
      end
      if kind.__call and owner ~= "lines" then add(owner, "", "") end
    end
    local seen = {}
    for _, value in pairs(debug.getregistry()) do
      local name = type(value) == "table" and rawget(value, "__name")
      if name and rawget(value, "__metatable") == name and not seen[name] then
        seen[name] = true
        add_kind(value)
      end
    end
    -- Loaded when first asked for.
    local http, _ = ml.http, { ml.fs, ml.inspect, ml.json, ml.log, ml.workers }
    add_table("ml", ml)

    -- What is written in Lua, without what its own files alone call.
    local inner = {}
    for name in ("finish new tell tail await_more"):gmatch "%S+" do
      inner[name] = true
    end
    local function add_methods(owner, methods)
      for name in pairs(methods) do
        if not name:find "^__" and not inner[name] then add(owner, ":", name) end
      end
    end
    local function upvalue(fn, wanted)
      for place = 1, 255 do
        local name, value = debug.getupvalue(fn, place)
        if name == wanted then return value end
      end
    end
    local function index_of(handle) return debug.getmetatable(handle).__index end
    local loop = ml.current()
    local server = http.serve { host = "127.0.0.1", port = 0, function(request, responder)
      add_methods("responder", upvalue(index_of(responder), "Response"))
      add_methods("http_request", upvalue(index_of(request), "Request"))
    end }
    loop:task(function()
      local response = http.get("http://127.0.0.1:" .. server.port .. "/")
      add_methods("http_response", upvalue(index_of(response), "methods"))
      add_methods("response", upvalue(index_of(response), "methods"))
      server:invalidate()
    end)
    loop:run()
    add_methods("http_client", upvalue(index_of(http.client()), "methods"))
    add_methods("file", index_of(require "moonloop.fs.file".wrap(nil, "")))
    local broker_port = ml.port { name = "x", over = "redis://127.0.0.1:1" }
    local broker_index = index_of(broker_port)
    add_methods("broker_port", upvalue(broker_index, "methods"))
    for _, name in ipairs(upvalue(broker_index, "FIELDS")) do add("broker_port", ".", name) end
    add("broker_port", ".", "on_error =")
    local log_index = index_of(ml.log {})
    add_methods("log", upvalue(log_index, "methods"))
    for name in pairs(upvalue(log_index, "fields")) do add("log", ".", name) end
    add("log", ".", "level =")
    local workers <close> = ml.workers(1, { source = "" })
    add_methods("workers", upvalue(index_of(workers), "methods"))
    add_methods("running", upvalue(index_of(ml.configure {}), "methods"))
    for name in pairs(require "moonloop.testing.words".all()) do add("", "", name) end
    add("", "", "expect")
    add("", "", "finally")
    add_methods("clock", require "moonloop.testing.clock".methods)
    add_methods("t", upvalue(require "moonloop.testing.tools".__index, "methods"))
    add_methods("program", upvalue(require "moonloop.testing.programs".spawn, "program"))
    add_methods("screen", require "moonloop.testing.screen".methods)
    add_methods("output", require "moonloop.testing.output")
    add_methods("response", upvalue(require "moonloop.testing.requests".send, "response"))
    return names
    """

  @Test("of configurations are the fields that are checked")
  func configurations() throws {
    let problems: [String] = try Reference.evaluate(
      """
      local schema = require "moonloop.configuration.schema"
      local none, problems = { zzzzzzzzzz = 1 }, {}
      local function source(kind, value)
        return { sources = { x = { [kind] = value, handler = kind ~= "perform" and print or nil,
          read = kind == "fd" and print or nil, zzzzzzzzzz = 1 } } }
      end
      for class, value in pairs {
        [""] = none, Modes = { modes = none }, Limits = { limits = none },
        Timer = { timers = { x = none } }, Observer = { observers = { x = none } },
        Signal = { signals = { term = none } }, Phase = { run = { none } },
        Perform = source("perform", print), Descriptor = source("fd", 0),
        Listener = source("listen", "tcp:1"), Signals = source("signal", "term"),
        Watch = source("watch", "x"), Process = source("process", { "true" }),
        Port = source("port", "x"),
      } do
        local name = class == "" and "moonloop.Configuration" or "moonloop.Configured" .. class
        local fields = {}
        for _, field in ipairs(reference.fields_of(all, all.classes[name])) do
          fields[#fields + 1] = field.name
        end
        table.sort(fields)
        local documented, checked = table.concat(fields, ", "), nil
        schema.check(function(_, problem)
          checked = checked or problem:match "the fields are ([%w_, ]+)"
        end, {}, value)
        if documented ~= checked then
          problems[#problems + 1] = ("%s: %s; checked: %s"):format(name, documented, checked)
        end
      end
      return problems
      """)
    #expect(problems == [])
  }

  @Test("have the options that the code knows", arguments: Reference.entries)
  func options(_ entry: DocumentedEntry) throws {
    guard !entry.isSpec,
      let place = entry.parameters.firstIndex(where: { !$0.fields.isEmpty })
    else { return }
    // These pass their options on, to be checked together with others.
    if entry.page == "http" && entry.name != "request" || entry.name == "workers" { return }
    let makers = [
      "port": "loop:port {}", "task": "loop:task(function() end)", "channel": "ml.channel(1)",
      "semaphore": "ml.semaphore(1)", "notifications": "loop:notifications { print }",
      "socket_source": "loop:socket_source { fd = 0, read = print }",
      "stream": "loop:stream { fd = 0 }", "process": "ml.process.spawn { \"true\" }",
      "worker": "ml.worker { source = '' }", "http_client": "ml.http.client()",
      "remote_port": "loop:port {}",
      "server": "ml.net.listen { path = '@options' }",
      "socket": "ml.net.udp { host = '127.0.0.1' }",
      "file": "require 'moonloop.fs.file'.wrap(nil, '')",
      "log": "ml.log {}", "broker_port": "ml.port { name = 'a', over = 'redis://127.0.0.1:1' }",
    ]
    let receiver = makers[entry.receiver] ?? entry.receiver
    let separator = entry.form == .method ? ":" : "."
    let access = entry.form == .call ? "" : "\(separator)\(entry.name)"
    let arguments = String(repeating: "'a', ", count: place) + "{ zzzzzzzzzz = 1 }"
    let run = ExampleRun(
      """
      local handle = \(receiver)
      local _, message = pcall(function() return handle\(access)(\(arguments)) end)
      print((message:match "the options are ([%w_, ]+)"
        or message:match "the only option is ([%w_]+)"))
      loop:stop_when_next_looking()
      """, name: entry.signature)
    var known = Set(run.output.joined().split(separator: ", ").map(String.init))
    let told = Set(entry.parameters[place].fields.map(\.name).filter { !$0.hasPrefix("[") })
    // Functions of the module that add nothing know 'modes' only to say where it belongs.
    let isMadeHereOnly = [
      "channel", "semaphore", "stream", "limit", "worker", "guest", "break_here", "inspect", "log",
    ].contains(entry.name)
    if entry.receiver == "ml" || entry.form == .call, !isMadeHereOnly {
      #expect(known.remove("modes") != nil)
    }
    #expect(known == told)
  }

  @Test("tell every field of the tables that scripts get")
  func records() throws {
    let names = { (type: String) -> String in
      let names: [String] = try Reference.evaluate(
        """
        local names = {}
        for _, field in ipairs(all.classes["\(type)"].fields) do names[#names + 1] = field.name end
        table.sort(names)
        return names
        """)
      return names.joined(separator: " ")
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
    #expect(errors.output == [try names("moonloop.Error")])
    let modes = ExampleRun(
      sorted + "loop:after(0, function() end) names(loop:modes().default)", name: "modes")
    #expect(modes.output == [try names("moonloop.ModeContents")])
  }
}

@Suite("Docs: generated pages")
struct DocsGeneratedTests {
  static let pages: [String: String] = {
    let introduction = RepositoryFile(path: "docs/lua-api.intro.md").text ?? ""
    return (try? Reference.evaluate("return pages.all([==[\(introduction)]==])")) ?? [:]
  }()

  /// The first line that differs.
  private func difference(_ found: String, _ wanted: String) -> String? {
    let lines = { (text: String) in
      text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) + ["(end)"]
    }
    let pair = zip(lines(found), lines(wanted)).first { $0 != $1 }
    return pair.map { "is: \($0)\nmust be: \($1)" }
  }

  @Test("are those of the repository; `scripts/docs` writes them", arguments: pages.keys.sorted())
  func current(_ path: String) throws {
    let file = RepositoryFile(path: path)
    let content = try #require(Self.pages[path])
    if getenv("MOONLOOP_DOCS").map({ String(cString: $0) }) == "write" {
      #expect(file.write(content))
    }
    #expect(difference(file.text ?? "", content) == nil, "run scripts/docs")
  }

  @Test("are made of files that Lua can load, whose types are all declared")
  func types() throws {
    let problems: [String] = try Reference.evaluate(
      """
      local problems, declared, used = {}, {}, {}
      for _, file in ipairs(require "moonloop.console.host".reference()) do
        local _, problem = load("local ml, loop = {}, {} " .. file.text, "@" .. file.file)
        problems[#problems + 1] = problem
        for name in file.text:gmatch "%-%-%-@%a+ (moonloop[%w_.]*)" do declared[name] = true end
        for line in file.text:gmatch "%-%-%-@[^\\n]*" do
          for name in line:gmatch "moonloop%.[%w_.]*%w" do used[name] = file.file end
          if select(2, line:gsub("[(%[{]", "")) ~= select(2, line:gsub("[)%]}]", "")) then
            problems[#problems + 1] = file.file .. ": brackets: " .. line
          end
        end
      end
      for name, file in pairs(used) do
        if not declared[name] then problems[#problems + 1] = file .. ": no type " .. name end
      end
      return problems
      """)
    #expect(problems == [])
  }
}
