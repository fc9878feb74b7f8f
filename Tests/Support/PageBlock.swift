// The fenced blocks of the pages in docs/, which tests run.

/// A fenced block of a page.
package struct PageBlock: Sendable, CustomStringConvertible {
  package let page: String
  package let line: Int
  /// The text after the fence, such as "lua norun".
  package let words: [String]
  package let text: String

  package var place: String { "\(page):\(line)" }
  package var description: String { place }

  /// The blocks of a page, in order.
  package static func all(in page: RepositoryFile) -> [PageBlock] {
    var blocks: [PageBlock] = []
    var open: (line: Int, words: [String], text: [Substring])?
    let lines = (page.text ?? "").split(separator: "\n", omittingEmptySubsequences: false)
    for (number, line) in lines.enumerated() {
      if line.hasPrefix("```"), let block = open {
        blocks.append(
          PageBlock(
            page: page.path, line: block.line, words: block.words,
            text: block.text.joined(separator: "\n")))
        open = nil
      } else if line.hasPrefix("```") {
        open = (number + 2, line.dropFirst(3).split(separator: " ").map(String.init), [])
      } else {
        open?.text.append(line)
      }
    }
    return blocks
  }
}
