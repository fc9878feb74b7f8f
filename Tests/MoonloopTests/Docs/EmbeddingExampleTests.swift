// The examples of docs/swift.md, compiled and run; a test compares the page with this file.

import Foundation
import Moonloop
import Synchronization
import TestSupport
import Testing

// MARK: A command-line tool

final class Counter: LuaObject {
  private(set) var value = 0
  func increment(by n: Int) { value += n }
  func reset() { value = 0 }
}

private let settings = ["theme": "dark"]

struct Celsius: LuaConvertible {
  var degrees: Double
  static var luaTypeName: String { "temperature" }
  static func read(_ slot: borrowing LuaSlot) -> Celsius? { Double.read(slot).map(Celsius.init) }
  func push(to seat: inout LuaSeat) { degrees.push(to: &seat) }
}

struct Vector: LuaStruct {
  var x: Double
  var y: Double
  mutating func scale(by k: Double) { self = scaled(by: k) }
  func scaled(by k: Double) -> Vector { Vector(x: x * k, y: y * k) }
}

private func registerVector(with lua: LuaState) {
  lua.register(
    Vector.self, as: "Vector",
    .constructor { (x: Double, y: Double) in Vector(x: x, y: y) },
    .property("x", \.x), .property("y", \.y),
    .computed("length") { ($0.x * $0.x + $0.y * $0.y).squareRoot() },
    .mutating("scale") { (v: inout Vector, by: Double) in v.scale(by: by) },
    .operator(.multiply) { (v: Vector, k: Double) in v.scaled(by: k) },
    .operator(.multiply) { (k: Double, v: Vector) in v.scaled(by: k) })
}

private func makeState(_ loop: Loop) throws -> LuaState {
  let limits = LuaLimits(memory: 64 << 20, callout: .seconds(2))
  let lua = try LuaState(on: loop, limits: limits)
  lua.register("add") { (a: Int, b: Int) in a + b }
  lua.register("warmer") { (one: Celsius) in Celsius(degrees: one.degrees + 1) }
  lua.register("setting") { (key: String) throws -> String in
    guard let value = settings[key] else { throw LuaFailure("no setting '\(key)'", code: "ENOENT") }
    return value
  }
  lua.register(
    Counter.self, as: "Counter",
    .method("increment") { (counter: Counter, by: Int?) in counter.increment(by: by ?? 1) },
    .property("value", \.value),
    .tostring { "Counter(\($0.value))" },
    .close { $0.reset() })
  lua.set("counter", Counter())
  return lua
}

private func tool(_ script: String, on loop: Loop) throws -> RunResult {
  let lua = try makeState(loop)
  defer { lua.shutDown() }
  try lua.run(script, name: "=script")
  let greeting: String = try lua.evaluate("return 'moon' .. 'loop'")
  let onTick = lua.globals[function: "on_tick"]
  loop.schedule(after: .seconds(1), every: .seconds(1), modes: [.common]) { timer in
    do { try onTick?(greeting) } catch { timer.invalidate() }
  }
  return loop.run(mode: .default, for: .seconds(60))
}

// MARK: Data

struct Config: LuaDefaultFields, LuaExactFields {
  struct Route: Codable {
    var path: String
    var port: Int
  }
  var name = "server"
  var routes: [Route] = []
}

private func readConfig(_ path: String, _ lua: LuaState) throws -> Config {
  let config = try lua.decode(Config.self, file: path)
  lua.register("total") { (routes: [Config.Route], factor: Int) in
    routes.reduce(0) { $0 + $1.port } * factor
  }
  return config
}

// MARK: Sources, observers, other threads

private func drain(_ jobs: [String], on loop: Loop) throws -> [String] {
  var done: [String] = []
  let source = loop.makeSource(order: 0, name: "jobs") { source in
    done += jobs
    source.invalidate()
  }
  let last = loop.makeSource(order: 1, name: "last") { source in
    done.append("done")
    source.invalidate()
  }
  try loop.add(source, modes: [.default, "tracking"])
  try loop.add(last)
  loop.observe(.beforeWaiting, repeats: false, name: "first sleep") { _, _ in
    source.signal()  // any thread may signal a source,
    loop.wakeUp()  // wake its loop, stop it, or give it work:
    loop.perform { last.signal() }
  }
  loop.run()
  return done
}

private func keepSaving(on loop: Loop, _ save: @escaping () -> Void) throws -> LoopTime? {
  let timer = loop.makeTimer(after: .seconds(60), every: .seconds(60), name: "save") { _ in save() }
  try loop.add(timer)
  timer.tolerance = .seconds(6)  // from the next sleep on; at most half the interval
  timer.fire()  // calls the handler now; its dates stay as they are
  return loop.limitDate(mode: .default)  // polls once, and says when the next timer is due
}

private func watch(_ paths: [String], on loop: Loop) throws -> [Loop.Source] {
  var sources: [Loop.Source] = []
  for path in paths {
    let source = loop.makeSource(
      identity: path, describe: { _ in "reads \(path) again" }, perform: { $0.invalidate() })
    try loop.add(source)  // a mode has one of those with equal identities: the first
    sources.append(source)
  }
  return sources
}

private func ask(_ question: Int, on loop: Loop) throws -> Int? {
  let port = loop.makePort(name: "doubles", answering: { _, message in (message as? Int ?? 0) * 2 })
  try loop.add(port)
  defer { port.invalidate() }
  guard case .reply(let value) = loop.request(port, question, timeout: .seconds(1)) else {
    return nil
  }
  return value as? Int
}

private func readBytes(of fd: Int32, on loop: Loop) throws -> [UInt8] {
  var bytes: [UInt8] = []
  let source = loop.makeDescriptorSource(fd, name: "sensor") { source, _ in
    var byte: UInt8 = 0
    if read(source.fd, &byte, 1) == 1 { bytes.append(byte) } else { source.invalidate() }
  }
  try loop.add(source, modes: [.common])
  loop.run()
  return bytes
}

private func readText(of fd: Int32, on loop: Loop) throws -> String {
  var text = ""
  let socket = SocketSource(fd, on: loop, reading: .data, name: "peer") { socket, event in
    guard case .data(let bytes) = event, !bytes.isEmpty else { return socket.source.invalidate() }
    text += String(decoding: bytes, as: UTF8.self)
  }
  try loop.add(socket.source)
  loop.run()
  return text
}

private final class Page: Sendable {
  let steps = Mutex<[String]>([])
  func note(_ step: String) { steps.withLock { $0.append(step) } }
}

private func show(_ page: Page, on loop: Loop) {
  loop.perform(for: page, order: 2) { page.note("draw") }
  loop.perform(for: page, order: 1) { page.note("lay out") }  // first, by its order
  loop.perform(for: page, order: 3) { page.note("print") }.cancel()
  loop.run()
}

// MARK: A host

private actor Pages {
  func find(_ path: String) -> String? { path == "/index" ? "welcome" : nil }
}

private func serve(_ script: String, _ pages: Pages) async throws -> String {
  let host = try await LuaHost(name: "scripts", limits: LuaLimits(callout: .seconds(1)))
  try await host.withState { loop, lua in
    lua.registerAsync("fetch") { (path: String) async throws -> String in
      guard let page = await pages.find(path) else { throw LuaFailure("not found", code: "ENOENT") }
      return page
    }
  }
  try await host.run(script, name: "=handlers")
  let reply: String = try await host.call("handle", "/index")
  await host.shutDown()
  return reply
}

// MARK: Items of the program in scripts

private func share(_ lua: LuaState, on loop: Loop) throws -> [String] {
  var done: [String] = []
  let jobs = loop.makeSource(name: "jobs") { _ in done.append("jobs") }
  lua.set("jobs", jobs)
  try lua.run("require('moonloop').current():add(jobs) jobs:signal()")
  loop.run(for: .zero)
  return done
}

// MARK: Errors

private func describe(_ script: String, _ lua: LuaState) -> String {
  do throws(LuaError) {
    try lua.run(script, name: "=script")
    return "no error"
  } catch {
    switch error.kind {
    case .memoryLimit, .timeLimit, .interrupted: return "a limit: \(error.message)"
    case .syntax, .file, .closed: return "not run: \(error.message)"
    case .runtime, .nesting:
      let place = error.traceback.first { $0.line > 0 }
      return "line \(place?.line ?? 0): \(error.message)"
    }
  }
}

// MARK: Tests

@Suite("Docs: embedding in Swift")
struct EmbeddingExampleDocsTests {
  @Test("an hour passes at once")
  func hour() {
    Loop.isolated(clock: .virtual) { loop in
      var fired = 0
      loop.schedule(after: .seconds(3600)) { _ in fired += 1 }
      #expect(loop.run() == .finished && fired == 1)
    }
  }

  @Test("the tool runs its script")
  func runsTool() throws {
    let script = """
      local ml = require "moonloop"
      local ticks = 0
      function on_tick(greeting)
        ticks = ticks + 1
        assert(greeting == "moonloop" and setting "theme" == "dark" and add(1, 2) == 3)
        assert(warmer(20) == 21)
        counter:increment()
        assert(tostring(counter) == "Counter(" .. ticks .. ")")
        local value, message, code = setting "colour"
        assert(value == nil and code == "ENOENT", message)
        if ticks == 3 then ml.current():stop() end
      end
      """
    try Loop.isolated(clock: .virtual) { loop in
      let result = try tool(script, on: loop)
      #expect(result == .stopped)
    }
  }

  @Test("a script schedules a source of the program")
  func sharesSource() throws {
    try Loop.isolated { loop in
      let lua = try LuaState(on: loop)
      defer { lua.shutDown() }
      let done = try share(lua, on: loop)
      #expect(done == ["jobs"])
    }
  }

  @Test("a host answers by what the program fetches")
  func hosts() async throws {
    let script = """
      function handle(path)
        local page = fetch(path)
        local _, message = fetch "/nowhere"
        return page .. ", " .. message
      end
      """
    #expect(try await serve(script, Pages()) == "welcome, not found")
  }

  @Test("a file is read as a configuration")
  func configuration() throws {
    let path = FileManager.default.temporaryDirectory.path + "/config-\(UUID().uuidString).lua"
    defer { unlink(path) }
    try "return {\n  routes = { { path = '/', port = 80 } },\n}".write(
      toFile: path, atomically: true, encoding: .utf8)
    try Loop.isolated { loop in
      let lua = try LuaState(on: loop)
      let config = try readConfig(path, lua)
      #expect(config.name == "server" && config.routes.map(\.port) == [80])
      #expect(try lua.evaluate("return total({ { path = '', port = 3 } }, 2)") == 6)
    }
  }

  @Test("sources are performed in order")
  func performs() throws {
    try Loop.isolated(clock: .virtual) { loop in
      let done = try drain(["a", "b"], on: loop)
      #expect(done == ["a", "b", "done"])
    }
  }

  @Test("a timer fires by hand, and its dates stay")
  func firesByHand() throws {
    try Loop.isolated(clock: .virtual) { loop in
      var saved = 0
      let next = try keepSaving(on: loop) { saved += 1 }
      #expect(saved == 1)
      #expect(next.map { loop.now.duration(to: $0) } == .seconds(60))
    }
  }

  @Test("sources of one identity are one in a mode, and say what they are for")
  func identities() throws {
    try Loop.isolated { loop in
      let sources = try watch(["a", "b", "a"], on: loop)
      #expect(sources.map { loop.contains($0, mode: .default) } == [true, true, true])
      #expect("\(sources[1])".contains("reads b again"), "\(sources[1])")
      for source in sources { source.invalidate() }
    }
  }

  @Test("a port answers")
  func answers() throws {
    try Loop.isolated { loop in
      let answer = try ask(21, on: loop)
      #expect(answer == 42)
    }
  }

  @Test("descriptors and sockets are read to their end")
  func reads() throws {
    for read in [{ String(decoding: try readBytes(of: $0, on: $1), as: UTF8.self) }, readText] {
      var ends: [Int32] = [0, 0]
      #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
      defer { close(ends[0]) }
      #expect(write(ends[1], "moon", 4) == 4)
      close(ends[1])
      #expect(try Loop.isolated { try read(ends[0], $0) } == "moon")
    }
  }

  @Test("performs have an order")
  func order() {
    Loop.isolated { loop in
      let page = Page()
      show(page, on: loop)
      #expect(page.steps.withLock { $0 } == ["lay out", "draw"])
    }
  }

  @Test("a structure of the program is one in Lua")
  func vector() throws {
    let lua = try LuaState()
    registerVector(with: lua)
    #expect(try lua.evaluate("local v = 2 * Vector(3, 4) v:scale(0.5) return v.length") == 5.0)
  }

  @Test("errors say what and where")
  func errors() throws {
    let lua = try LuaState(limits: LuaLimits(memory: 8 << 20))
    #expect(describe("x = 1", lua) == "no error")
    #expect(describe("x = = 1", lua).hasPrefix("not run: script:1: unexpected symbol"))
    #expect(describe("\nerror 'no'", lua) == "line 2: script:2: no")
    #expect(describe("local t = 'x' while true do t = t .. t end", lua).hasPrefix("a limit: "))
  }

  @Test("the page shows this file")
  func page() {
    let lines = { (text: String) in
      text.split(separator: "\n").map { line in String(line.drop { $0 == " " }) }
    }
    let sources = [
      "MoonloopTests/Docs/EmbeddingExampleTests", "MoonloopTests/Testing/LuaSpecsTests",
      "Macros/Tests/ScriptTests",
    ].map { lines(RepositoryFile(path: "Tests/\($0).swift").text ?? "") }
    let blocks = PageBlock.all(in: RepositoryFile(path: "docs/swift.md")).filter {
      $0.words.first == "swift"
    }
    #expect(!blocks.isEmpty)
    // What a macro writes is compared by its own tests.
    for block in blocks where Set(block.words).isDisjoint(with: ["manifest", "expansion"]) {
      let shown = lines(block.text)
      let isThere = sources.contains { source in
        source.indices.contains { source[$0...].starts(with: shown) }
      }
      #expect(isThere, "\(block.place) is not in the tests")
    }
  }
}
