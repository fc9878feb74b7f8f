// The folder of a user's sockets: those of consoles, and of named ports.
//
// Where there is no folder of the session it lies in /tmp, where anybody may take its name before
// us. Then it has another name, which nobody can foresee; the user's programs find it because it is
// theirs.

internal import Glibc
internal import MoonloopCore

/// Finds and makes the folder of a user. Any thread.
package enum PrivateFolder {
  /// That of this user, made if need be.
  /// - Parameter tightens: Whether a folder of ours that others may enter is closed to them.
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
      var status = stat()
      if lstat(plain, &status) == 0, status.st_uid == geteuid() { throw error }
    }
    // Several programs may come here at once: all go on with the same one.
    if let path = found(of: geteuid()) { return path }
    return try makeAnother(plain)
  }

  /// That of the user of a process, who may be another one; nil if there is none.
  package static func of(process: Int) -> String? {
    var status = stat()
    guard stat("/proc/\(process)", &status) == 0 else { return nil }
    if let session = session(ofProcess: process) {
      let path = path(in: session)
      return openPrivate(path, status.st_uid) == nil ? nil : path
    }
    return found(of: status.st_uid)
  }

  /// Removes files out of the own folder.
  /// - Parameter isStale: Whether the file of a name is to go.
  package static func sweep(where isStale: (String) -> Bool) {
    let own = session.map { path(in: $0) } ?? found(of: geteuid())
    guard let own, let folder = openPrivate(own, geteuid()) else { return }
    for name in names(in: own) where isStale(name) { unlinkat(folder.number, name, 0) }
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
    if openPrivate(plain, user) != nil { return plain }
    let prefix = "moonloop-\(user)."
    return names(in: temporary).filter { $0.hasPrefix(prefix) }.sorted().map {
      "\(temporary)/\($0)"
    }
    .first { openPrivate($0, user) != nil }
  }

  // MARK: Folders

  private static func make(_ path: String, _ tightens: Bool) throws(Refusal) {
    do throws(PrivateFiles.Flaw) { try PrivateFiles.makeFolder(path) } catch {
      if tightens, case .openToOthers = error, tighten(path) { return }
      throw Refusal(path: path, flaw: error)
    }
  }

  private static func tighten(_ path: String) -> Bool {
    guard let folder = openFolder(path, geteuid()) else { return false }
    return fchmod(folder.number, 0o700) == 0
  }

  private static func makeAnother(_ plain: String) throws(Refusal) -> String {
    var template = Array("\(plain).XXXXXX".utf8CString)
    if mkdtemp(&template) == nil {
      let error = SystemError(call: "mkdtemp", code: errno)
      throw Refusal(path: plain, flaw: .failed(error))
    }
    return found(of: geteuid()) ?? plain
  }

  /// A folder itself, not one that a link leads to, if it belongs to a user.
  private static func openFolder(_ path: String, _ user: uid_t) -> Descriptor? {
    let number = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    if number < 0 { return nil }
    var status = stat()
    if fstat(number, &status) == 0, status.st_uid == user { return Descriptor(owning: number) }
    close(number)
    return nil
  }

  /// The same, if nobody else may enter it.
  private static func openPrivate(_ path: String, _ user: uid_t) -> Descriptor? {
    guard let folder = openFolder(path, user) else { return nil }
    var status = stat()
    guard fstat(folder.number, &status) == 0, status.st_mode & 0o077 == 0 else { return nil }
    return folder
  }

  // MARK: Reading

  /// What a folder holds; nothing if it cannot be read.
  package static func names(in path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var found: [String] = []
    while let entry = readdir(directory) {
      found.append(
        withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        })
    }
    return found
  }

  /// What stands in a file; nothing if it cannot be read.
  package static func contents(_ path: String) -> [UInt8] {
    let fd = open(path, O_RDONLY | O_CLOEXEC)
    if fd < 0 { return [] }
    defer { close(fd) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(fd, &part, part.count)
      if count < 0 && errno == EINTR { continue }
      if count <= 0 { return bytes }
      bytes += part[0..<count]
    }
  }
}
