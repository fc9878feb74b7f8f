// The watchdog thread costs an idle process nothing, and is there again when it is needed.

import Glibc
import LuaEmbed
import Testing

/// How often the watchdog threads of this process went to sleep of themselves, by thread.
private func sleeps() throws -> [String: Int] {
  let folder = try #require(opendir("/proc/self/task"))
  defer { closedir(folder) }
  var counts: [String: Int] = [:]
  while let entry = readdir(folder) {
    let id = withUnsafeBytes(of: entry.pointee.d_name) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
    // A thread may end between the two looks.
    guard let status = read("/proc/self/task/\(id)/status"), status.contains("Name:\tlua-watchdog")
    else { continue }
    let words = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
    counts[id] = words.flatMap { Int($0.split(separator: "\t")[1]) }
  }
  return counts
}

private func read(_ path: String) -> String? {
  guard let file = fopen(path, "r") else { return nil }
  defer { fclose(file) }
  var bytes = [UInt8](repeating: 0, count: 4096)
  let count = fread(&bytes, 1, bytes.count, file)
  return String(decoding: bytes.prefix(count), as: UTF8.self)
}

/// Waits for an event that does not come.
private func idle(milliseconds: Int32) { poll(nil, 0, milliseconds) }

@Suite("The watchdog", .serialized)
struct WatchdogTests {
  @Test("sleeps without waking up while the host is idle, and is back at the next call")
  func idleness() throws {
    let before = Set(try sleeps().keys)
    let lua = try LuaState(limits: LuaLimits(callout: .milliseconds(40)))
    defer { lua.close() }
    try lua.run("")
    let thread = try #require(Set(try sleeps().keys).subtracting(before).first)
    // It naps an eighth of the limit, three times, before it parks.
    var parked = -1
    for _ in 0..<100 {
      idle(milliseconds: 30)
      let now = try sleeps()[thread] ?? 0
      if now == parked { break }
      parked = now
    }
    idle(milliseconds: 300)
    #expect(try sleeps()[thread] == parked)

    let error = #expect(throws: LuaError.self) { try lua.run("while true do end") }
    #expect(error?.kind == .timeLimit)
    #expect(try sleeps()[thread] ?? 0 > parked)
  }

  @Test("ends with its state, at once")
  func ends() throws {
    let before = try sleeps().count
    let start = ContinuousClock.now
    for _ in 0..<50 { try LuaState(limits: LuaLimits(callout: .seconds(100))).close() }
    #expect(ContinuousClock.now - start < .seconds(2))
    #expect(try sleeps().count <= before)
  }
}
