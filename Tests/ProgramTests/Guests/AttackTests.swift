// Attacks of guests, in their host's process and in their own: all are contained.

import Foundation
import TestSupport
import Testing

@Suite(.serialized) struct AttackTests {
  private static let folder = RepositoryFile.top + "/Tests/"

  @Test(
    "of every family are held",
    arguments: [
      "reach", "runaways", "memory", "copies", "crashes", "errors", "floods", "tricks", "escapes",
      "items", "libraries", "workers", "grants", "programs", "names",
    ],
    ["here", "isolated"])
  func held(family: String, place: String) throws {
    if Program.isSanitized && family == "runaways" { return }  // too slow for time limits
    let script = Self.folder + "Data/Attacks/attacks.lua"
    let outcome = try moonloop(["run", script, place, family, Self.folder])
    let last = outcome.output.split(separator: "\n").last ?? ""
    #expect(last.hasPrefix("held"), "\(outcome)")
    #expect(outcome.isOurs, "\(outcome)")
  }

  @Test("by functions and handlers of the host itself are held", arguments: ["here", "isolated"])
  func hosts(place: String) throws {
    let outcome = try moonloop(["run", Self.folder + "Data/Attacks/hosts.lua", place])
    #expect(outcome.output.hasPrefix("held "), "\(outcome)")
    #expect(outcome.isOurs, "\(outcome)")
  }

  @Test(
    "against a program that runs a guest alone are held",
    arguments: [["--guest"], ["--guest", "--isolate"]])
  func alone(options: [String]) throws {
    let runs = [
      ("while true do pcall(function() while true do end end) end", Int32(3)),
      ("local t = {} while true do t[#t + 1] = {} end", 3), ("error {}", 1),
      ("print(io, os.getenv)", 0),
      ("require 'moonloop'.fs.read '/etc/passwd'", 1),
    ]
    for (script, status) in runs {
      let outcome = try moonloop(["run"] + options + ["--callout", "50ms", "-e", script])
      #expect(outcome.status == status && outcome.isOurs, "\(script): \(outcome)")
    }
  }
}
