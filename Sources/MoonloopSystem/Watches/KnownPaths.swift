// What a watch has found, by path, and what that takes.

/// The paths that a watch knows to exist.
struct KnownPaths {
  /// Approximate bytes of a path, besides its text.
  private static let perPath = 160

  private var stamps: [WatchedPath: FileWatch.Stamp] = [:]
  /// Approximate bytes of all of them.
  private(set) var footprint = 0

  var count: Int { stamps.count }
  var keys: Dictionary<WatchedPath, FileWatch.Stamp>.Keys { stamps.keys }

  subscript(path: WatchedPath) -> FileWatch.Stamp? {
    get { stamps[path] }
    set {
      let before = stamps.count
      stamps[path] = newValue
      footprint += (stamps.count - before) * (Self.perPath + path.bytes.count)
    }
  }

  mutating func removeValue(forKey path: WatchedPath) -> FileWatch.Stamp? {
    defer { self[path] = nil }
    return self[path]
  }
}
