// `moonloop run --guest --ask`: the questions, at the terminal of the program.

internal import Moonloop
internal import MoonloopCore
internal import MoonloopSystem

/// Asks the person at the terminal.
enum GuestPrompt {
  static func asker(script: String) -> GuestAsker {
    let canAsk = TerminalQuestion.isPossible
    // The only thing that changes; used while the asker holds its lock.
    nonisolated(unsafe) var hasSaidSo = false
    return GuestAsker(script: script, cleansOutput: canAsk && Terminal.isTerminal(1)) {
      question, isNarrow, isOver in
      if canAsk { return answer(to: question, isNarrow, isOver) }
      if !hasSaidSo {
        writeToStandardError(
          "moonloop: --ask: standard input and standard error are not a terminal: what was not "
            + "granted is refused")
      }
      hasSaidSo = true
      return nil
    }
  }

  /// Asks until the answer is one. Scripts cannot write in bold: what they print is cleaned.
  private static func answer(
    to question: String, _ isNarrow: Bool, _ isOver: () -> Bool
  ) -> GuestAnswer? {
    let words =
      "  y: yes, for this run   n: no"
      + (isNarrow ? "   A: yes, to all of that name   N: no, to all of that name" : "")
    let text = "\u{1b}[1m\(question)\u{1b}[0m\(words)\n  [\(isNarrow ? "y/n/A/N" : "y/n")] "
    while true {
      _ = try? StandardStreams.flushOutput()
      var isEnding = false
      let line = TerminalQuestion.ask(text) {
        isEnding = Ending.isAskedFor || isOver()
        return isEnding
      }
      switch line?.split(separator: " ").first {
      case "y", "Y", "yes": return .yes
      case "n", "no": return .no
      case "A" where isNarrow: return .everything
      case "N": return isNarrow ? .nothing : .no
      case nil where line == nil: return isEnding ? nil : .no
      default: continue
      }
    }
  }
}
