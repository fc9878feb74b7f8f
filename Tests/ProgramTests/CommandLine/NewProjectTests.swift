// `moonloop new`: each kind of project runs at once, and its tests pass.

import Foundation
import Testing

@Suite("A new project")
struct NewProjectTests {
  private func withFolder(_ body: (URL) throws -> Void) throws {
    try withFile("", name: "place") { file in
      try body(URL(fileURLWithPath: file).deletingLastPathComponent())
    }
  }

  @Test(
    "runs at once, passes its tests, and has no finding",
    arguments: [
      ("script", ["main.lua"]), ("service", ["main.lua"]), ("config", ["moonloop.lua"]),
      ("tests", []), ("plugin", ["main.lua"]),
    ])
  func runs(kind: String, starts: [String]) throws {
    try withFolder { folder in
      let made = try moonloop(["new", kind, "demo"], in: folder)
      #expect(made.status == 0 && made.errors == "", "\(made)")
      let project = folder.appendingPathComponent("demo")
      for name in [".luarc.json", ".gitignore", "spec/demo_spec.lua"] {
        let path = project.appendingPathComponent(name).path
        #expect(FileManager.default.fileExists(atPath: path), "\(name)")
      }
      let state = ["XDG_STATE_HOME": folder.path]
      let tests = try Program(["test"], environment: state, in: project).wait()
      #expect(tests.status == 0, "\(tests)")
      for file in starts {
        let checked = try moonloop(["check", file], in: project)
        #expect(checked.status == 0, "\(checked)")
        let run = try Program(
          ["run", "--timeout", "1500ms", file], environment: ["PORT": "0"], in: project
        ).wait()
        #expect(run.status == 0 && run.errors == "", "\(run)")
        #expect(kind == "config" || !run.output.isEmpty, "\(run)")
      }
    }
  }

  @Test("has a unit that systemd of Debian 12 takes")
  func unit() throws {
    try withFolder { folder in
      #expect(try moonloop(["new", "service", "demo"], in: folder).status == 0)
      let made = try String(
        contentsOf: folder.appendingPathComponent("demo/demo.service"), encoding: .utf8)
      let example = try String(
        contentsOf: Program.examples.appendingPathComponent("systemd/greeter.service"),
        encoding: .utf8)
      for text in [made, example] {
        #expect(text.contains("\nType=notify\n"))
        #expect(text.contains("\nExecReload=/bin/kill -HUP $MAINPID\n"))
      }
    }
  }

  @Test("is not made over another one, nor of an unknown kind")
  func refuses() throws {
    try withFolder { folder in
      for (arguments, status, words) in [
        (["script", "place"], Int32(1), "'place' exists already"),
        (["scrpt", "x"], 2, "no kind 'scrpt'; did you mean 'script'?"),
        (["script"], 2, "name a kind and a project"),
        (["script", "../x"], 2, "'../x' is not a name for a project"),
        (["script", "main"], 2, "'main' is the name of another file"),
        (["script", "string"], 2, "'string' is the name of a library of Lua; use another"),
        (["tests", "coroutine"], 2, "'coroutine' is the name of a library of Lua; use another"),
      ] {
        let outcome = try moonloop(["new"] + arguments, in: folder)
        #expect(outcome.status == status && outcome.errors.contains(words), "\(outcome)")
      }
    }
    let outcome = try moonloop(["new", "script", "x"], in: URL(fileURLWithPath: "/proc"))
    #expect(
      outcome.errors
        == "moonloop: new: cannot write 'x': No such file or directory (ENOENT)\n")
    #expect(outcome.status == 1)
  }
}
