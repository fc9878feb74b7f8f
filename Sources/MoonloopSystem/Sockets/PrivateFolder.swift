// The folder of a user's sockets: those of consoles, and of named ports.
//
// Where there is no folder of the session it lies in /tmp, where any user may take its name before
// us. Then it has another name, which cannot be guessed; the user's programs find it because it is
// theirs.

internal import CLinuxShims
internal import Glibc
internal import MoonloopCore

/// Finds and makes the folder of a user. Any thread.
package enum PrivateFolder {
  /// That of this user, made if need be.
  /// - Parameter tightens: Whether to close one of our folders to others if they may enter it.
  package static func own(tightens: Bool = false) throws(Refusal) -> String {
    if let session {
      let path = path(in: session)
      try make(path, tightens)
      return path
    }
    if let path = found(of: geteuid()) { return path }
    let plain = plainPath(of: geteuid())
    do throws(Refusal) {
      try make(plain, tightens)
      return plain
    } catch {
      if cmx_owner(plain, false) == Int64(geteuid()) { throw error }
    }
    // Several programs may come here at once: all go on with the same one.
    if let path = found(of: geteuid()) { return path }
    return try makeAnother(plain)
  }

  /// The folder of a process, whose session and user may be others; nil if there is none, or if its
  /// environment is out of reach.
  package static func of(process: Int) -> String? {
    var byte: UInt8 = 0
    guard let user = uid_t(exactly: cmx_owner("/proc/\(process)", true)),
      cmx_read_file("/proc/\(process)/environ", &byte, 1, 0) >= 0
    else { return nil }
    if let session = session(ofProcess: process) {
      let path = path(in: session)
      return cmx_folder_is_of(path, user, true) ? path : nil
    }
    return found(of: user)
  }

  /// Removes files from our own folder.
  /// - Parameter isStale: Whether to remove the file with a name.
  package static func sweep(where isStale: (String) -> Bool) {
    let own = session.map { path(in: $0) } ?? found(of: geteuid())
    guard let own else { return }
    for name in names(in: own) where isStale(name) { cmx_remove_private_file(own, name) }
  }

  /// Why there is no folder.
  package struct Refusal: Error {
    package let path: String
    package let flaw: PrivateFiles.Flaw
  }

  // MARK: Names

  private static var session: String? {
    getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  private static func path(in session: String) -> String { "\(session)/moonloop" }
  private static func plainPath(of user: uid_t) -> String { "\(temporary)/moonloop-\(user)" }
  private static let temporary = "/tmp"

  private static func session(ofProcess process: Int) -> String? {
    let prefix = "XDG_RUNTIME_DIR=/"
    return contents("/proc/\(process)/environ").split(separator: 0)
      .first { $0.starts(with: prefix.utf8) }
      .map { String(decoding: $0.dropFirst(prefix.utf8.count - 1), as: UTF8.self) }
  }

  /// The folder in /tmp that is a user's: the one of the plain name, or the first of another.
  private static func found(of user: uid_t) -> String? {
    let plain = plainPath(of: user)
    if cmx_folder_is_of(plain, user, true) { return plain }
    let prefix = "moonloop-\(user)."
    return names(in: temporary).filter { $0.hasPrefix(prefix) }.sorted().map {
      "\(temporary)/\($0)"
    }
    .first { cmx_folder_is_of($0, user, true) }
  }

  // MARK: Folders

  private static func make(_ path: String, _ tightens: Bool) throws(Refusal) {
    do throws(PrivateFiles.Flaw) { try PrivateFiles.makeFolder(path) } catch {
      if tightens, case .openToOthers = error, cmx_close_to_others(path) { return }
      throw Refusal(path: path, flaw: error)
    }
  }

  private static func makeAnother(_ plain: String) throws(Refusal) -> String {
    var template = Array("\(plain).XXXXXX".utf8CString)
    let result = cmx_make_unique_folder(&template)
    if result < 0 {
      let error = SystemError(call: "mkdtemp", code: -result)
      throw Refusal(path: plain, flaw: .failed(error))
    }
    return found(of: geteuid()) ?? plain
  }

  // MARK: Reading

  /// The contents of a folder; empty if it cannot be read.
  package static func names(in path: String) -> [String] {
    var found: [String] = []
    withUnsafeMutablePointer(to: &found) { found in
      _ = cmx_each_name(
        path,
        { context, name in
          guard let context, let name else { return }
          context.assumingMemoryBound(to: [String].self).pointee.append(String(cString: name))
        }, found)
    }
    return found
  }

  /// The contents of a file; empty if it cannot be read.
  package static func contents(_ path: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = cmx_read_file(path, &part, part.count, Int64(bytes.count))
      if count <= 0 { return bytes }
      bytes += part[0..<count]
    }
  }
}
