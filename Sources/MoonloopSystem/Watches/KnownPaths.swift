// What a watch has found, by path, and what that takes.

/// The paths that a watch knows to exist.
struct KnownPaths {
  /// What a path takes besides its bytes, about.
  private static let perPath = 160

  private var stamps: [WatchedPath: FileWatch.Stamp] = [:]
  /// What all of them take, about.
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
