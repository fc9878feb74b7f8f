// The folder of this process for the names of ports and for consoles: other runs have theirs.

internal import Foundation

package enum RuntimeFolder {
  /// Read before the first script runs and the first program starts: from then on the environment
  /// is the same for all tests.
  package static let path: String = {
    var template = Array((NSTemporaryDirectory() + "/moonloop-tests-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else { return "" }
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    setenv("XDG_RUNTIME_DIR", path, 1)
    // A process that was killed has left the file of its port.
    atexit { try? FileManager.default.removeItem(atPath: RuntimeFolder.path) }
    return path
  }()
}
