// What shells complete: each script is parsed by its shell, and bash is asked for completions.

import Foundation
import Testing

@Suite("Completions")
struct CompletionTests {
  private static let check = [
    "bash": "bash -n", "zsh": "zsh -n", "fish": "fish --no-execute",
  ]

  @Test("are read without an error by their shell", arguments: check.keys.sorted())
  func areRead(_ shell: String) throws {
    let script = try moonloop(["--generate-completion-script", shell])
    #expect(script.status == 0 && script.errors == "")
    #expect(!script.output.contains("\\\n\n"), "a command that goes on in an empty line")
    try withFile(script.output, name: "completions") { path in
      // Skipped where a shell is not installed.
      let command = try #require(Self.check[shell])
      let text =
        try shell == "bash" || has(shell) ? ask("\(command) '\(path)' 2>&1; echo $?") : "0\n"
      #expect(text == "0\n")
    }
  }

  @Test(
    "of bash are the commands, options and values that begin so",
    arguments: [
      ("", "r", "run replay repl"), ("run", "--cl", "--clock"), ("run --clock", "v", "virtual"),
      ("run --clock", "", "real virtual skip_idle"), ("ps", "--", "--json --names --help"),
      ("top --sort", "l", "late"), ("test", "--wa", "--watch"), ("help", "che", "check"),
      ("", "LICEN", "LICENSE"), ("", "--me", "--metrics --memory"),
      ("--generate-completion-script", "f", "fish"), ("run --mode", "x", ""),
      ("new", "s", "script service"), ("new", "--h", "--help"), ("run --clock =", "v", "virtual"),
      ("run --clock", "=", "real virtual skip_idle"), ("test --output", "j", "junit json"),
      ("test -o", "j", "junit json"), ("test -t", "LICEN", ""),
      ("test --log-success", "LICEN", "LICENSE"), ("help loop :", "tim", "timer"),
      ("help", "ml.sle", "ml.sleep"),
    ])
  func areThese(_ before: String, _ word: String, _ expected: String) throws {
    let script = try moonloop(["--generate-completion-script", "bash"])
    try withFile(script.output, name: "completions") { path in
      let folder = Program.executable.deletingLastPathComponent().path
      let text = try ask(
        """
        PATH=\(folder):$PATH bash -c 'source "\(path)"
        COMP_WORDS=(moonloop \(before) "\(word)"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _moonloop; echo "${COMPREPLY[*]}"' 2>&1
        """)
      #expect(text == expected + "\n")
    }
  }

  @Test("of attach and top are the names of the programs that run", arguments: ["attach", "top"])
  func areNames(_ command: String) throws {
    let name = "completed-\(UUID().uuidString)"
    let program = try Program(
      ["run", "--name", name, "-e", "print 'up'; require('moonloop').sleep(600)"])
    try program.waitFor("up")
    defer { program.send(SIGKILL) }
    let script = try moonloop(["--generate-completion-script", "bash"])
    try withFile(script.output, name: "completions") { path in
      let folder = Program.executable.deletingLastPathComponent().path
      let text = try ask(
        """
        PATH=\(folder):$PATH bash -c 'source "\(path)"
        COMP_WORDS=(moonloop \(command) "\(name.dropLast(4))"); COMP_CWORD=2
        _moonloop; echo "${COMPREPLY[*]}"' 2>&1
        """)
      #expect(text == name + "\n")
    }
  }

  private func has(_ shell: String) throws -> Bool { try ask("command -v \(shell)") != "" }

  private func ask(_ command: String) throws -> String {
    let text = try moonloop([
      "run", "-e", "io.write(require('moonloop').process.run { 'sh', '-c', ... }.stdout)", command,
    ])
    #expect(text.status == 0, "\(text)")
    return text.output
  }
}
