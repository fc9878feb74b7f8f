// The files of the repository that tests read and write.

import Glibc

/// A file of the repository, by its path from the top.
package struct RepositoryFile: Sendable {
  package let path: String

  package init(path: String) { self.path = path }

  /// The folder of the package, without a slash at the end.
  package static let top = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    .dropLast(3).joined(separator: "/")

  /// Where the file is, from the root of the file system.
  package var full: String { "\(Self.top)/\(path)" }

  /// The text; nil if it cannot be read.
  package var text: String? {
    guard let file = fopen(full, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The text of a file that has to be there.
  package func read() throws -> String {
    guard let text else { throw Unreadable(path: full) }
    return text
  }

  package struct Unreadable: Error { package let path: String }

  package func write(_ text: String) -> Bool {
    guard let file = fopen(full, "w") else { return false }
    let bytes = Array(text.utf8)
    let count = fwrite(bytes, 1, bytes.count, file)
    return fclose(file) == 0 && count == bytes.count
  }

  /// The files of this folder whose names end so, sorted; none if there is no such folder.
  package func files(ending: String) -> [RepositoryFile] {
    guard let folder = opendir(full) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.hasSuffix(ending) { names.append(name) }
    }
    return names.sorted().map { RepositoryFile(path: "\(path)/\($0)") }
  }

  /// The pages for people: README.md and those of docs/.
  package static let pages =
    [RepositoryFile(path: "README.md")] + RepositoryFile(path: "docs").files(ending: ".md")
}
