// This process's own folder for the names of ports: other runs of the tests have theirs.

import Glibc

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
