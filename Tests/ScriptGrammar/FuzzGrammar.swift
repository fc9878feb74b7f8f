// Random scripts over the whole interface, made from its documentation: right calls and
// wrong ones, in handlers, tasks, comparators and finalizers. The same seed gives the same script.

internal import LuaEmbed
internal import Moonloop

/// Writes one script.
package struct FuzzGrammar {
  private var random: FuzzRandom
  private var depth = 0
  /// Whether it is a guest's, which has no finalizers, and whose calls reach no one else.
  private let isGuests: Bool

  package init(seed: UInt64) { (random, isGuests) = (FuzzRandom(seed: seed), false) }

  /// For `program`.
  package init(bytes: [UInt8]) { (random, isGuests) = (FuzzRandom(bytes: bytes), true) }

  /// How every script begins. `try` calls a function and keeps its results; `pick` picks something
  /// that was kept; `tick` in each handler makes sure that everything ends.
  private static let prelude = """
    local ml = require "moonloop"
    local loop = ml.current()
    local fuel, kept, count = 400, { loop = { loop }, ml = { ml } }, 0
    local function keep(...)
      for i = 1, select("#", ...) do
        local value = select(i, ...)
        if type(value) == "userdata" then
          local kind = tostring(value):match "^%a+"
          kept[kind] = kept[kind] or {}
          table.insert(kept[kind], value)
          if #kept[kind] > 20 then table.remove(kept[kind], 1) end
        end
      end
      return ...
    end
    local function pick(kind, n)
      local list = kept[kind]
      return list and list[n % #list + 1]
    end
    local function drop(kind) kept[kind] = nil end
    local function tick()
      fuel = fuel - 1
      if fuel <= 0 then loop:stop() error("out of fuel", 0) end
    end
    local function try(f, ...)
      if fuel <= 0 then error("out of fuel", 0) end
      return keep(select(2, pcall(f, ...)))
    end
    local function closing(f) return setmetatable({}, { __close = f }) end
    local function noise(f) return setmetatable({}, { __gc = f, __tostring = f, __index = f }) end
    -- A finalizer that comes again and again, in the middle of whatever allocates.
    local function haunt(f)
      collectgarbage("incremental", 10, 1000, 6)
      local function arm()
        setmetatable({}, { __gc = function() if fuel > 0 then pcall(f) arm() end end })
      end
      for _ = 1, 3 do arm() end
    end
    local cycle = {} cycle.cycle = cycle
    local pipes = {}
    for i = 1, 2 do pipes[2 * i - 1], pipes[2 * i] = pipe() end

    """

  /// The text of a guest, whose function `attack` runs a program.
  package static let guest = """
    local set = setmetatable
    local function setmetatable(value, meta)
      meta.__gc = nil
      return set(value, meta)
    end
    function write() end
    local function pipe() return 0, 1 end
    \(prelude)
    local names = set({
      ml = ml, loop = loop, keep = keep, pick = pick, drop = drop, tick = tick, try = try,
      closing = closing, noise = noise, cycle = cycle, pipes = pipes,
    }, { __index = _G })
    function attack(text)
      fuel = 60
      return assert(load(text, "=attack", "t", names))()
    end
    function ping() return "pong" end
    """

  /// The groups whose functions reach outside the process, where other tests run.
  static let excluded: Set<String> = [
    "signal", "tty", "process", "ml.process", "worker", "guest", "loop.signal", "loop.tty",
    "ml.worker", "ml.guest", "ml.break_here",
  ]

  private static let all = ((try? Reference.entries(areInherited: true)) ?? []).filter(\.isNative)
  private static let outside = all.filter {
    !excluded.contains($0.receiver) && !excluded.contains("\($0.receiver).\($0.name)")
  }
  private var calls: [DocumentedEntry] { isGuests ? Self.all : Self.outside }

  /// A few statements, as many as the bytes ask for.
  package mutating func program() -> String {
    var text = ""
    for _ in 0..<8 where !random.isUsedUp { text += statement() + "\n" }
    return text
  }

  package mutating func script() -> String {
    var text = Self.prelude
    for _ in 0..<(15 + random.below(30)) { text += statement() + "\n" }
    return text
  }

  // MARK: Statements

  private mutating func block() -> String {
    depth += 1
    defer { depth -= 1 }
    var lines = ["tick()"]
    for _ in 0..<random.below(depth > 2 ? 2 : 4) { lines.append(statement()) }
    switch random.below(12) {
    case 0: lines.append("do return \(value()) end")
    case 1: lines.append("error(\(value()))")
    case 2: lines.append("coroutine.yield(\(value()))")
    case 3: lines.append("do return keep(\(call())) end")
    default: break
    }
    return lines.joined(separator: " ")
  }

  private mutating func function() -> String { "function(...) \(block()) end" }

  private mutating func statement() -> String {
    if depth > 3 { return "try(function(...) return \(call()) end)" }
    switch random.below(27) {
    case 0: return "try(function() local x <close> = \(call()) \(block()) end)"
    case 1: return "try(function() local x <close> = closing(\(function())) \(block()) end)"
    case 2: return "try(coroutine.wrap(\(function())))"
    case 3: return "try(table.sort, { 3, 1, 2 }, \(function()))"
    case 4: return "try(string.gsub, 'abc', '.', \(function()))"
    case 5: return "try(tostring, noise(\(function())))"
    case 6: return "noise(\(function()))"
    case 7: return "drop(\"\(kind(of: random.pick(calls)))\")"
    case 8:
      return "try(collectgarbage, \(random.pick(["nil", "'step'", "'generational'", "'count'"])))"
    case 9: return "try(function() loop:run { timeout = \(random.pick(["0", "0.01", "1"])) } end)"
    case 10: return "loop:task(\(function()))"
    case 11: return "write(\(pipeEnd()), 'a line\\nand another')"
    case 13 where !isGuests && random.chance(30): return "haunt(\(function()))"
    case 12: return "if \(value()) then \(block()) end"
    default: return "try(function(...) return \(call()) end)"
    }
  }

  // MARK: Calls

  private mutating func call() -> String {
    let entry = random.pick(calls)
    var receiver = entry.receiver.hasPrefix("ml") ? entry.receiver : pick(kind(of: entry))
    if random.chance(2) { receiver = value() }
    if random.chance(3) { return "tostring(\(receiver))" }
    switch entry.form {
    case .function: return "(\(receiver)).\(entry.name)(\(arguments(entry)))"
    case .method:
      let dot = random.chance(2) ? "." : ":"
      return "(\(receiver))\(dot)\(entry.name)(\(arguments(entry)))"
    case .field:
      if entry.isSettable && random.chance(40) {
        let value = argument(entry.type, name: "")
        return "(function(o) o.\(entry.name) = \(value) end)(\(receiver))"
      }
      return "(\(receiver)).\(entry.name)"
    case .call: return "(\(receiver))(\(arguments(entry)))"
    }
  }

  private mutating func pick(_ kind: String) -> String { "pick(\"\(kind)\", \(random.below(20)))" }

  /// The key under which `keep` files its handles: the first word of their text.
  private func kind(of entry: DocumentedEntry) -> String {
    String(entry.receiver.prefix { $0 != "_" })
  }

  private mutating func arguments(_ entry: DocumentedEntry) -> String {
    var list: [String] = []
    for parameter in entry.parameters {
      if parameter.isOptional && random.chance(50) { continue }
      if random.chance(4) { break }
      if parameter.name == "..." {
        for _ in 0..<random.below(3) { list.append(value()) }
      } else if !parameter.fields.isEmpty {
        list.append(options(parameter.fields))
      } else {
        list.append(argument(parameter.type, name: parameter.name))
      }
    }
    if random.chance(3) { list.append(value()) }
    if random.chance(3) && !list.isEmpty { list.swapAt(0, random.below(list.count)) }
    return list.joined(separator: ", ")
  }

  private mutating func options(_ fields: [DocumentedValue]) -> String {
    if random.chance(3) { return value() }
    var parts: [String] = []
    for field in fields where !field.isOptional || random.chance(35) {
      let value =
        field.fields.isEmpty
        ? argument(field.type, name: field.name) : options(field.fields)
      parts.append(field.name == "[1]" ? value : "\(field.name) = \(value)")
    }
    if random.chance(3) { parts.append("unknown = 1") }
    return "{ \(parts.joined(separator: ", ")) }"
  }

  /// A value of a type named in the documentation; sometimes a wrong one.
  private mutating func argument(_ type: String, name: String) -> String {
    // A number that is not one of our descriptors might be another test's.
    if name == "fd" { return pipeEnd() }
    if random.chance(6) { return value() }
    let quoted = type.split(separator: "\"", omittingEmptySubsequences: false)
    if quoted.count > 2 {
      return "\"\(quoted[1 + 2 * random.below((quoted.count - 1) / 2)])\""
    }
    if type.contains("fun(") || type.contains("Handler") {
      return depth > 3 ? "function() tick() end" : function()
    }
    if type.contains("Modes") || name.contains("mode") { return mode() }
    if type.contains("integer") || type.contains("Bytes") {
      return random.pick(["0", "1", "2", "3", "16", "1000"])
    }
    if type.contains("number") || type.contains("Seconds") {
      return random.pick(["0", "0.001", "0.1", "1", "2.5", "-1", "60"])
    }
    if type.contains("moonloop.") {
      let entries = calls.filter { type.contains($0.classType) && $0.classType != "moonloop" }
      return entries.isEmpty ? anything() : pick(kind(of: random.pick(entries)))
    }
    if type.contains("boolean") { return random.pick(["true", "false"]) }
    if type.contains("string") { return random.pick(["'name'", "'default'", "''", "'a\\0b'"]) }
    return value()
  }

  private mutating func mode() -> String {
    random.pick(["\"default\"", "\"common\"", "\"side\"", "{ \"default\", \"side\" }", "loop.mode"])
  }

  private mutating func pipeEnd() -> String {
    random.pick(["pipes[1]", "pipes[2]", "pipes[3]", "pipes[4]", "-1", "2^40", "1.5"])
  }

  private mutating func anything() -> String { pick(kind(of: random.pick(calls))) }

  private mutating func value() -> String {
    if random.chance(30) { return anything() }
    return random.pick([
      "nil", "true", "false", "-1", "0", "1", "0.5", "1e300", "0/0", "1/0", "-1/0", "2^53",
      "math.mininteger", "math.maxinteger", "''", "'default'", "'common'", "('x'):rep(5000)", "{}",
      "{ 1, 2, 3 }", "cycle", "print", "ml.sleep", "loop", "ml",
      "coroutine.create(print)", "coroutine.running()", "host and host.echo",
      "function() tick() end",
    ])
  }
}
