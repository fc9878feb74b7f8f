// What a guest has used, as a table for scripts, and as its process reports it.

internal import LuaEmbed

/// What a guest has used.
struct GuestUsage {
  private static let names: [StaticString] = [
    "memory", "callouts", "stops", "wakes", "written", "sent", "messages", "log_lines",
  ]
  private static var paths: [WritableKeyPath<GuestUsage, Int>] {
    [
      \.memory, \.callouts, \.stops, \.wakes, \.written, \.sent, \.messages, \.logLines,
    ]
  }
  /// What handles are counted as.
  private static let kindWords = itemWords + ["task", "channel", "file"]

  var memory = 0
  /// How many handles, timers and tasks it has.
  var handles: Int { kinds.values.reduce(0, &+) }
  var kinds: [String: Int] = [:]
  var callouts = 0
  var stops = 0
  var wakes = 0
  var written = 0
  var sent = 0
  var messages = 0
  var logLines = 0
  /// Nanoseconds on the host's clock, and of processor time.
  var busy = 0
  var processor: Int64?
  /// Lua's instructions, if there is a limit on them: they are only counted then.
  var instructions: Int?
  /// Bytes of the process's memory, if it has its own.
  var resident: Int?

  /// Pushes it as a table. [-0, +1]
  func push(on stack: LuaStack) {
    stack.newTable(fields: 14)
    for (name, path) in zip(Self.names, Self.paths) { stack.setField(name, self[keyPath: path]) }
    stack.setField("handles", handles)
    stack.setField("busy", Double(busy) / 1e9)
    if let processor { stack.setField("cpu", Double(processor) / 1e9) }
    if let resident { stack.setField("resident", resident) }
    if let instructions { stack.setField("instructions", instructions) }
    stack.push("kinds" as StaticString)
    stack.newTable(fields: Int32(kinds.count))
    for (kind, count) in kinds where count > 0 {
      stack.push(kind)
      stack.push(count)
      stack.rawSet(-3)
    }
    stack.rawSet(-3)
  }

  /// Reads what a guest's process reports from the table on top of the stack, as far as it exists.
  mutating func read(_ stack: LuaStack) {
    stack.push("usage" as StaticString)
    defer { stack.pop() }
    guard stack.rawGet(-2) == .table else { return }
    for (name, path) in zip(Self.names, Self.paths) {
      if let number = stack.rawInteger(-1, name) { self[keyPath: path] = number }
    }
    busy = stack.rawInteger(-1, "busy") ?? busy
    instructions = stack.rawInteger(-1, "instructions") ?? instructions
    readKinds(stack)
  }

  /// Only the words that there are: the process may be anybody's.
  private mutating func readKinds(_ stack: LuaStack) {
    stack.push("kinds" as StaticString)
    defer { stack.pop() }
    guard stack.rawGet(-2) == .table else { return }
    kinds = [:]
    for word in Self.kindWords {
      stack.push(word)
      defer { stack.pop() }
      guard stack.rawGet(-2) == .number, let count = stack.integer(-1), count > 0 else { continue }
      kinds[word] = count
    }
  }

  /// Adds what another guest has used; what a process reports may be any number.
  mutating func add(_ other: GuestUsage) {
    for path in Self.paths { self[keyPath: path] &+= other[keyPath: path] }
    kinds.merge(other.kinds, uniquingKeysWith: &+)
    busy &+= other.busy
    processor = (processor ?? 0) + (other.processor ?? 0)
    instructions = instructions.map { $0 &+ (other.instructions ?? 0) } ?? other.instructions
    resident = resident.map { $0 + (other.resident ?? 0) } ?? other.resident
  }
}
