// Paths as the system has them: bytes, which need not be valid text.

internal import CLinuxShims
package import MoonloopCore

/// An absolute path, without empty and "." components.
package struct WatchedPath: Hashable, Comparable, Sendable {
  /// The components, each with a slash before it; empty for the root.
  package let bytes: [UInt8]

  private static let slash = UInt8(ascii: "/")
  static let root = WatchedPath(bytes: [])

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// A path from a script, relative to the current folder.
  /// - Throws: If the current folder is gone.
  package init(_ text: [UInt8]) throws(SystemError) {
    var path = WatchedPath.root
    if text.first != Self.slash {
      for name in Self.names(in: try Self.presentFolder()) { path = path.appending(name) }
    }
    for name in Self.names(in: text) { path = path.appending(name) }
    self = path
  }

  func appending(_ name: [UInt8]) -> WatchedPath {
    WatchedPath(bytes: bytes + [Self.slash] + name)
  }

  /// The parent folder; the root is its own.
  var parent: WatchedPath {
    guard let last = bytes.lastIndex(of: Self.slash) else { return self }
    return WatchedPath(bytes: Array(bytes[..<last]))
  }

  var names: [[UInt8]] { Self.names(in: bytes) }

  /// In the order of their bytes.
  package static func < (one: WatchedPath, other: WatchedPath) -> Bool {
    one.bytes.lexicographicallyPrecedes(other.bytes)
  }

  /// The components after a folder that contains or equals it.
  func names(after folder: WatchedPath) -> [[UInt8]] { Self.names(in: rest(behind: folder)) }

  /// The components of a text, without ".".
  static func names(in text: [UInt8]) -> [[UInt8]] {
    text.split(separator: slash).map(Array.init).filter { $0 != [UInt8(ascii: ".")] }
  }

  /// Whether it is inside a folder, at any depth.
  func isInside(_ folder: WatchedPath) -> Bool {
    bytes.count > folder.bytes.count && bytes[folder.bytes.count] == Self.slash
      && bytes.starts(with: folder.bytes)
  }

  /// The rest of the path after a folder that contains or equals it, with a slash before it.
  package func rest(behind folder: WatchedPath) -> [UInt8] { Array(bytes[folder.bytes.count...]) }

  // MARK: The system

  func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    let text = bytes.isEmpty ? [Self.slash] : bytes
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: text.count + 1) { buffer in
      for (place, byte) in text.enumerated() { buffer[place] = CChar(bitPattern: byte) }
      buffer[text.count] = 0
      return body(UnsafePointer(buffer.baseAddress!))
    }
  }

  /// What is at the path; nil if there is nothing, or if it cannot be seen.
  func look(followsLink: Bool) -> cmx_entry? {
    var entry = cmx_entry()
    return withCString { cmx_look($0, followsLink, &entry) } == 0 ? entry : nil
  }

  /// The names in a folder, sorted; none if it is not a folder, or may not be read.
  func list() throws(SystemError) -> [[UInt8]] {
    final class Names {
      var all: [[UInt8]] = []
    }
    let names = Names()
    let result = withCString { path in
      cmx_list(
        path,
        { context, name in
          guard let context, let name else { return }
          var bytes: [UInt8] = []
          var place = 0
          while name[place] != 0 {
            bytes.append(UInt8(bitPattern: name[place]))
            place += 1
          }
          Unmanaged<Names>.fromOpaque(context).takeUnretainedValue().all.append(bytes)
        }, Unmanaged.passUnretained(names).toOpaque())
    }
    let isHarmless = [Errno.notFound, Errno.notFolder, Errno.denied].contains(-result)
    if result < 0 && !isHarmless { throw SystemError(call: "opendir", code: -result) }
    return names.all.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// The target of a link.
  func readLink() -> [UInt8] {
    withCString { path in Self.read { (try? checked(cmx_read_link(path, $0, $1))) ?? 0 } }
  }

  private static func presentFolder() throws(SystemError) -> [UInt8] {
    var failure: SystemError?
    let found = read { buffer, size in
      do throws(SystemError) { return try checked(cmx_present_folder(buffer, size)) } catch {
        failure = error
        return 0
      }
    }
    if let failure { throw failure }
    return found
  }

  private static func read(_ body: (UnsafeMutablePointer<CChar>, Int) -> Int) -> [UInt8] {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
      let count = body(buffer.baseAddress!, buffer.count)
      return buffer.prefix(count).map { UInt8(bitPattern: $0) }
    }
  }
}

private func checked(_ result: Int) throws(SystemError) -> Int {
  if result < 0 { throw SystemError(call: "getcwd", code: Int32(-result)) }
  return result
}
