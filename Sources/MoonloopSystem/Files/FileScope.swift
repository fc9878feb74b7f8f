// Where calls about files may reach: folders and files that were named beforehand.

internal import CLinuxShims
internal import Glibc
package import MoonloopCore

/// The files that a script may read or write, and what is in the folders among them.
///
/// A call is held to it right before it is made: its paths are resolved, so that neither `..` nor a
/// symbolic link leads out. A script that is held to a scope cannot make a symbolic link, nor move
/// one or a folder: so what was resolved stays so.
package struct FileScope: Sendable {
  private struct Rule {
    let root: [UInt8]
    let reads: Bool
    let writes: Bool
  }
  private var rules: [Rule] = []

  package init() {}

  /// What was added, resolved.
  package var places: [(path: String, reads: Bool, writes: Bool)] {
    rules.map { (String(decoding: $0.root, as: UTF8.self), $0.reads, $0.writes) }
  }

  /// Adds a file or folder, which need not exist.
  /// - Throws: `SystemError` if its place cannot be found.
  package mutating func allow(_ path: String, reads: Bool, writes: Bool) throws(SystemError) {
    let root = try Self.resolve(Array(path.utf8), follows: true)
    rules.append(Rule(root: root, reads: reads, writes: writes))
  }

  /// The resolved path, if it may be read, or written.
  package func place(
    of path: [UInt8], writes: Bool, follows: Bool = true
  ) throws(SystemError) -> [UInt8] {
    if path.count >= PATH_MAX { throw SystemError(call: "realpath", code: ENAMETOOLONG) }
    let refusal = SystemError(call: Self.refused, code: EACCES)
    let place: [UInt8]
    do throws(SystemError) { place = try Self.resolve(path, follows: follows) } catch {
      if error.code != ENOENT { throw refusal }  // Else it would tell what there is outside.
      throw error
    }
    for rule in rules where writes ? rule.writes : rule.reads {
      if place == rule.root || rule.root == [0x2F] { return place }
      if place.starts(with: rule.root + [0x2F]) { return place }
    }
    throw refusal
  }

  /// What is missing for reading or writing a file; nil: nothing, or there is no such place.
  package func need(of path: [UInt8], writes: Bool, follows: Bool = true) -> FileNeed? {
    do throws(SystemError) {
      _ = try place(of: path, writes: writes, follows: follows)
      return nil
    } catch {
      if error.call != Self.refused { return nil }
    }
    guard let place = try? Self.resolve(path, follows: follows) else { return nil }
    return FileNeed(
      path: path, place: place, writes: writes,
      isPlainFile: Self.kind(of: place) == Self.plainFile)
  }

  /// The link in a path, which the scope allows to read, that leads out of it; and where it leads.
  /// One behind many folders is not looked for: each look resolves all before it.
  package func leavingLink(in path: [UInt8]) -> (link: String, target: String)? {
    if path.count >= PATH_MAX { return nil }
    var ends = path.indices.dropFirst().filter { path[$0] == 0x2F }
    ends.append(path.count)
    for end in ends.prefix(64) {
      let part = Array(path[..<end])
      guard (try? place(of: part, writes: false, follows: false)) != nil else { continue }
      if (try? place(of: part, writes: false)) != nil { continue }
      guard case .success(.bytes(let target)) = FileCall("readlink", [.bytes(part)]).run() else {
        return nil
      }
      return (String(decoding: part, as: UTF8.self), String(decoding: target, as: UTF8.self))
    }
    return nil
  }

  /// Adds what was missing: the place that was found then.
  package mutating func allow(_ need: FileNeed) {
    rules.append(Rule(root: need.place, reads: !need.writes, writes: need.writes))
  }

  package static func exists(_ path: String) -> Bool { kind(of: Array(path.utf8)) != nil }

  /// What takes the place of a call's name in an error that says that a scope refuses it.
  package static let refused = "scope"

  // MARK: Resolving

  /// The path without links, `.` and `..`; what does not exist yet is at its end, and is found in
  /// few steps.
  private static func resolve(_ path: [UInt8], follows: Bool) throws(SystemError) -> [UInt8] {
    if path.isEmpty || path.contains(0) { throw SystemError(call: "realpath", code: ENOENT) }
    // The path with ever fewer of the names at its end, and these.
    var (rests, names) = ([path[...]], [ArraySlice<UInt8>]())
    while case (let folder, let name?) = parts(rests[names.count]) {
      rests.append(folder)
      names.append(name)
    }
    var missing = follows || names.isEmpty ? 0 : 1
    var (count, found) = (missing, [UInt8]())
    do throws(SystemError) { found = try real(rests[missing]) } catch {
      if missing == names.count || error.code != ENOENT { throw error }
      (count, found) = (names.count, try real(rests[names.count]))
      while count - missing > 1 {
        let middle = (count + missing) / 2
        do throws(SystemError) { (count, found) = (middle, try real(rests[middle])) } catch {
          if error.code != ENOENT { throw error }
          missing = middle
        }
      }
      // A link that leads nowhere would be followed later.
      if kind(of: Array(rests[missing])) != nil { throw error }
    }
    for name in names[..<count].reversed() { found += (found == [0x2F] ? [] : [0x2F]) + name }
    return found
  }

  /// The folder, and the name in it; no name for `/`, `.`, `..` and what ends with these.
  static func parts(
    _ path: ArraySlice<UInt8>
  ) -> (folder: ArraySlice<UInt8>, name: ArraySlice<UInt8>?) {
    var path = path
    while path.count > 1 && path.last == 0x2F { path = path.dropLast() }
    let name = path[((path.lastIndex(of: 0x2F) ?? path.startIndex - 1) + 1)...]
    if name.isEmpty || name == [0x2E] || name == [0x2E, 0x2E] { return ([], nil) }
    let folder = path.dropLast(name.count)
    return (folder.isEmpty ? [0x2E] : folder, name)
  }

  private static func real(_ path: ArraySlice<UInt8>) throws(SystemError) -> [UInt8] {
    let answer = FileCall("realpath", [.bytes(Array(path))]).run()
    guard case .bytes(let real) = try answer.get() else { return Array(path) }
    return real
  }

  fileprivate static let plainFile = Array("file".utf8)

  /// The kind of what is at a path, links not followed.
  fileprivate static func kind(of path: [UInt8]) -> [UInt8]? {
    guard case .success(.record(let fields)) = FileCall("lstat", [.bytes(path)]).run(),
      case .bytes(let kind)? = fields.first(where: { $0.name == "type" })?.value
    else { return nil }
    return kind
  }
}

/// What a scope would have to allow.
package struct FileNeed: Sendable {
  /// As the script wrote it, and without links.
  package let path: [UInt8]
  package let place: [UInt8]
  package let writes: Bool
  package let isPlainFile: Bool

  /// Whether both can be shown as they are.
  package var isText: Bool {
    [path, place].allSatisfy { Array(String(decoding: $0, as: UTF8.self).utf8) == $0 }
  }
}

// MARK: - Calls

extension FileCall {
  /// What a call does with one of its paths.
  private struct Use {
    var path = 0
    var writes = false
    var follows = true
  }

  /// By call. Those of two paths have one for each.
  private static let uses: [String: [Use]] = {
    let read = Use()
    let write = Use(writes: true)
    let readLink = Use(follows: false)
    let writeLink = Use(writes: true, follows: false)
    let writeLinks = [writeLink, Use(path: 1, writes: true, follows: false)]
    return [
      "load": [read], "access": [read], "stat": [read], "scandir": [read], "statfs": [read],
      "realpath": [read], "lstat": [readLink], "readlink": [readLink],
      "store": [write], "replace": [write], "chmod": [write], "chown": [write], "utime": [write],
      "mkdirs": [write], "mkdir": [writeLink], "rmdir": [writeLink], "unlink": [writeLink],
      "remove_all": [writeLink], "lchown": [writeLink], "lutime": [writeLink],
      "mkdtemp": [writeLink], "mkstemp": [writeLink], "rename": writeLinks, "link": writeLinks,
      "copyfile": [read, Use(path: 1, writes: true)],
    ]
  }()

  /// Descriptors come from calls that were held to the scope themselves.
  private static let withoutPaths: Set = [
    "read", "write", "close", "fstat", "ftruncate", "fsync", "fdatasync", "lock",
    "lseek",
  ]

  /// What this call does with its paths; nil: no scope allows it.
  private func ownUses() throws(SystemError) -> [Use]? {
    if Self.withoutPaths.contains(name) { return [] }
    guard name == "open" else { return Self.uses[name] }
    let flags = Int32(truncatingIfNeeded: try number(1))
    let writes = flags & (O_ACCMODE | O_CREAT | O_TRUNC) != O_RDONLY
    let reads = flags & O_ACCMODE != O_WRONLY
    return (reads ? [Use()] : []) + (writes ? [Use(writes: true)] : [])
  }

  /// The same call with resolved paths.
  /// - Throws: `SystemError` of the call `FileScope.refused` if the scope refuses it.
  func held(to scope: FileScope) throws(SystemError) -> FileCall {
    let refusal = SystemError(call: FileScope.refused, code: EACCES)
    guard let uses = try ownUses() else { throw refusal }
    var arguments = arguments
    for use in uses {
      let place = try scope.place(
        of: bytes(use.path), writes: use.writes, follows: use.follows)
      arguments[use.path] = .bytes(place)
    }
    if name == "rename", case .bytes(let from) = arguments[0],
      FileScope.kind(of: from) ?? FileScope.plainFile != FileScope.plainFile
    {
      throw refusal
    }
    var call = FileCall(name, arguments)
    call.room = room
    call.request = request
    return call
  }

  /// The first thing that a scope must allow for this call; nil: it allows it, or never would.
  package func need(in scope: FileScope) -> FileNeed? {
    for use in (try? ownUses()) ?? [] {
      guard let path = try? bytes(use.path) else { return nil }
      if let need = scope.need(of: path, writes: use.writes, follows: use.follows) { return need }
    }
    return nil
  }

  /// What a scope must allow for this call, such as "read:notes.txt", and for which path; nil: it
  /// allows it, or never would.
  package func neededGrant(_ scope: FileScope) -> (grant: String, path: [UInt8])? {
    for use in (try? ownUses()) ?? [] {
      guard let path = try? bytes(use.path) else { return nil }
      do throws(SystemError) {
        _ = try scope.place(of: path, writes: use.writes, follows: use.follows)
      } catch {
        let grant = "\(use.writes ? "write" : "read"):\(String(decoding: path, as: UTF8.self))"
        return (grant, path)
      }
    }
    return nil
  }
}
