// Questions at the terminal, for a person to answer.

internal import CLinuxShims

/// A question that keeps its thread until it is answered. Any thread, but one at a time.
package enum TerminalQuestion {
  /// Whether there is a terminal to ask at: standard input and standard error.
  package static var isPossible: Bool { cmx_can_ask() }

  /// Writes a question and reads a line. What was typed before is thrown away.
  /// - Parameter isOver: Whether the answer is no longer waited for.
  /// - Returns: The line; nil at the end of the input, and when it is over.
  package static func ask(_ question: String, isOver: () -> Bool) -> String? {
    var question = question
    return question.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { text in
        withoutActuallyEscaping(isOver) { isOver in
          var isOver = isOver
          return withUnsafeMutablePointer(to: &isOver) { context in
            var line = [CChar](repeating: 0, count: 64)
            let length = cmx_ask(
              text.baseAddress!, text.count, &line, 64,
              { $0!.assumingMemoryBound(to: (() -> Bool).self).pointee() }, context)
            if length < 0 { return nil }
            let bytes = line.prefix(Int(length)).map { UInt8(bitPattern: $0) }
            return String(decoding: bytes, as: UTF8.self)
          }
        }
      }
    }
  }
}
