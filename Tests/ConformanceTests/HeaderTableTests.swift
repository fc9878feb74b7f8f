// The table of `docs/conformance.md` names every function of the toolchain's CFRunLoop.h.

import Foundation
import TestSupport
import Testing

@Suite("The table of counterparts")
struct HeaderTableTests {
  /// The names of the functions in the header that belongs to the Foundation of this process.
  private static func functions() throws -> Set<String> {
    let file = try #require(FileHandle(forReadingAtPath: "/proc/self/maps"))
    let maps = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    let line = maps.split(separator: "\n").first { $0.hasSuffix("/libFoundation.so") }
    let path = try #require(line?.split(separator: " ").last)
    let library = URL(fileURLWithPath: String(path))
    let header = library.deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("CoreFoundation/CFRunLoop.h")
    let text = try String(contentsOf: header, encoding: .utf8)
    return Set(text.matches(of: /CF_EXPORT[^;(]*\b(CFRunLoop\w+)\(/).map { String($0.1) })
  }

  @Test func `names every function of CFRunLoop.h`() throws {
    let functions = try Self.functions()
    #expect(functions.count > 40)
    let page = try String(
      contentsOfFile: RepositoryFile(path: "docs/conformance.md").full, encoding: .utf8)
    let named = Set(page.matches(of: /`(CFRunLoop\w+)`/).map { String($0.1) })
    #expect(functions.subtracting(named) == [])
  }
}
