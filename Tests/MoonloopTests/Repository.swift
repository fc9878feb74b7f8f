// The files of the repository that tests read and write.

import Glibc

/// A folder of this process's own for the names of ports: other runs of the tests have theirs.
enum RuntimeFolder {
  /// Read before the first script runs.
  static let path: String = {
    var template = Array("/tmp/moonloop-tests-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { return "" }
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    setenv("XDG_RUNTIME_DIR", path, 1)
    atexit {
      rmdir(RuntimeFolder.path + "/moonloop")
      rmdir(RuntimeFolder.path)
    }
    return path
  }()
}

/// A file of the repository, by its path from the top.
struct RepositoryFile {
  let path: String

  private var full: String {
    // Two folders above the one of this file.
    let folders = #filePath.split(separator: "/").dropLast(3)
    return "/" + folders.joined(separator: "/") + "/" + path
  }

  /// The text; nil if it cannot be read.
  var text: String? {
    guard let file = fopen(full, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  func write(_ text: String) -> Bool {
    guard let file = fopen(full, "w") else { return false }
    let bytes = Array(text.utf8)
    let count = fwrite(bytes, 1, bytes.count, file)
    return fclose(file) == 0 && count == bytes.count
  }

  /// The pages for people: README.md and those of docs/.
  static let pages: [RepositoryFile] = {
    var paths = ["README.md"]
    if let folder = opendir(RepositoryFile(path: "docs").full) {
      defer { closedir(folder) }
      while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) {
          String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name.hasSuffix(".md") { paths.append("docs/\(name)") }
      }
    }
    return paths.sorted().map { RepositoryFile(path: $0) }
  }()
}

/// A fenced block of a page.
struct PageBlock {
  let page: String
  let line: Int
  /// What stands behind the fence, such as "lua norun".
  let words: [String]
  let text: String

  var place: String { "\(page):\(line)" }

  /// The blocks of a page, in order.
  static func all(in page: RepositoryFile) -> [PageBlock] {
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
