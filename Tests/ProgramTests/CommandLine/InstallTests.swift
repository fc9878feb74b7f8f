// What scripts/install puts under a prefix, and removes again.

import Foundation
import Testing

@Suite("scripts/install")
struct InstallTests {
  private let prefix = FileManager.default.temporaryDirectory
    .appendingPathComponent("moonloop-\(UUID().uuidString)")

  private func install(_ arguments: String...) throws {
    let outcome = try Program(
      arguments + [prefix.path],
      environment: ["MOONLOOP_PROGRAM": Program.executable.path],
      of: Program.root.appendingPathComponent("scripts/install").path
    ).wait()
    try #require(outcome.status == 0, "\(outcome)")
  }

  private func files() throws -> [String] {
    FileManager.default.enumerator(atPath: prefix.path)?.compactMap { $0 as? String } ?? []
  }

  @Test("leaves no dead link on a page, and all pages of man")
  func hasLiveLinks() throws {
    try install()
    defer { try? FileManager.default.removeItem(at: prefix) }
    let files = try files()
    let pages = files.filter { $0.hasSuffix(".md") }
    #expect(pages.contains("share/doc/moonloop/README.md"))
    #expect(pages.contains("share/doc/moonloop/docs/README.md"))
    for page in pages {
      let file = prefix.appendingPathComponent(page)
      for link in try String(contentsOf: file, encoding: .utf8).matches(of: /\]\(([^)#\s]+)/)
      where !link.output.1.contains("://") {
        let target = file.deletingLastPathComponent().appendingPathComponent(String(link.output.1))
        #expect(FileManager.default.fileExists(atPath: target.path), "\(page): \(link.output.1)")
      }
    }
    #expect(files.contains("share/man/man1/moonloop.1"))
    #expect(files.contains("share/man/man1/moonloop-replay.1"))
    #expect(files.contains("share/doc/moonloop/scripts/examples/heartbeat.lua"))
  }

  @Test("may have the reference packed, which is the same when it is unpacked")
  func packs() throws {
    try FileManager.default.copyItem(
      at: Program.root.appendingPathComponent("docs/types"), to: prefix)
    defer { try? FileManager.default.removeItem(at: prefix) }
    let script = Program.root.appendingPathComponent("packaging/static/packed.lua").path
    let outcome = try moonloop([script, prefix.path])
    try #require(outcome.status == 0, "\(outcome)")
    let sizes = outcome.output.matches(of: /\d+/).compactMap { Int($0.output) }
    #expect(sizes.count == 2 && sizes[0] * 2 < sizes[1], "\(outcome)")
  }

  @Test("removes exactly what it installed")
  func removes() throws {
    let other = prefix.appendingPathComponent("share/doc/other")
    try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: prefix) }
    try install()
    try install("--uninstall")
    #expect(try files().sorted() == ["share", "share/doc", "share/doc/other"])
  }
}
