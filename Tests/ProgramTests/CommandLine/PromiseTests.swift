// Promises that take many calls to show. MOONLOOP_STRESS runs them in full size, best with the
// release build as MOONLOOP_PROGRAM (`scripts/stress`).

import Foundation
import Testing

@Suite("Promises", .serialized)
struct PromiseTests {
  /// The counts are divided by this, because a debug build is slow.
  private static let factor =
    ProcessInfo.processInfo.environment["MOONLOOP_STRESS"] != nil
    ? 1 : Program.isSanitized ? 500 : 100

  @Test("hold", arguments: Promise.all)
  func hold(_ promise: Promise) throws {
    try withFile(Promise.prelude + promise.script, name: "script.lua") { path in
      let began = Date()
      let outcome = try moonloop(["run"] + promise.options + [path, "\(Self.factor)"])
      let time = Date().timeIntervalSince(began)
      #expect(outcome.status == promise.status, "\(outcome)")
      #expect(outcome.isOurs)
      let words = outcome.output.split { $0.isWhitespace }
      try #require(words.first == "ok", "\(outcome)")
      let peak = try #require(Int(words[1]))
      if promise.megabytes > 0, !Program.isSanitized { #expect(peak < promise.megabytes) }
      if promise.errorBytes > 0 {
        #expect(outcome.errors.utf8.count < promise.errorBytes)
        #expect(outcome.errors.utf8.allSatisfy { $0 >= 0x20 || $0 == 0x0A || $0 == 0x09 })
      }
      if Self.factor == 1 {
        print("\(promise): \(String(format: "%.1f", time)) s, \(peak) MB at most")
      }
    }
  }
}
