// Watches one path: a file, a folder, or something that does not exist yet. Events say where to
// look; changes are found by comparing what is there with what was there.

internal import CLinuxShims
package import MoonloopCore

/// What has changed at a path.
package struct FileChange: Equatable, Sendable {
  package enum Kind: String, Sendable {
    case created, changed, deleted, renamed, attributes, overflow
  }

  package let kind: Kind
  package let path: WatchedPath
  /// The previous path of what was renamed.
  package var before: WatchedPath?
  /// The path is a different file now.
  package var isReplaced = false

  package init(kind: Kind, path: WatchedPath, before: WatchedPath? = nil) {
    self.kind = kind
    self.path = path
    self.before = before
  }
}

/// A watch of a path and, if it is a folder, of its contents. Loop thread only.
package final class FileWatch {
  /// What was found at a path at the last look.
  struct Stamp: Equatable {
    let device, inode: UInt64
    let size, changed, attributes: Int64
    let isFolder: Bool

    init(_ entry: cmx_entry) {
      device = entry.device
      inode = entry.inode
      size = entry.size
      changed = entry.changed_ns
      attributes = entry.attributes_ns
      isFolder = entry.is_folder
    }

    func isSame(as other: Stamp) -> Bool {
      device == other.device && inode == other.inode && isFolder == other.isFolder
    }
  }

  package let root: WatchedPath
  package let isRecursive: Bool
  let hub: WatchHub
  /// Called when the system refuses to watch a folder that appeared later.
  package var onFailure: ((SystemError, WatchedPath) -> Void)?
  /// Called when something has come that must be looked at.
  package var onNews: (() -> Void)?
  /// Its place in the order of making.
  var place: UInt64 = 0
  /// What is known to exist.
  var known = KnownPaths()
  /// The folders whose entries are watched.
  var folders: [WatchedPath: WatchHub.Interest] = [:]
  /// The folders and links that lead to the path.
  private var way: [WatchHub.Interest] = []

  // Reported by events, but not looked at yet.
  var touched: [(path: WatchedPath, events: UInt32)] = []
  var places: [WatchedPath: Int] = [:]
  var moves: [UInt32: WatchedPath] = [:]
  var origins: [WatchedPath: WatchedPath] = [:]
  var hasOverflown = false
  var mustFindWay = false

  /// Starts to watch; what already exists is not a change.
  /// - Parameter limit: It may take this many bytes at first.
  /// - Throws: If the system refuses, or that is not enough; nothing is left behind.
  package init(
    _ root: WatchedPath, isRecursive: Bool, in hub: WatchHub, limit: Int
  ) throws(SystemError) {
    self.root = root
    self.isRecursive = isRecursive
    self.hub = hub
    do throws(SystemError) {
      try findWay()
      if let entry = root.look(followsLink: true) {
        known[root] = Stamp(entry)
        if entry.is_folder { try learn(root, limit) }
      }
    } catch {
      end()
      throw error
    }
    hub.add(self)
  }

  /// Stops watching all folders.
  package func end() {
    hub.remove(self)
    for interest in way + Array(folders.values) { hub.remove(interest) }
    way = []
    folders = [:]
    known = KnownPaths()
    forget()
  }

  /// Whether events have come since the last look.
  var hasNews: Bool { hasOverflown || mustFindWay || !touched.isEmpty }

  /// The number of known paths, for reports.
  package var knownCount: Int { known.count }

  /// Its approximate bytes.
  package var footprint: Int {
    known.footprint + (way.count + folders.count) * WatchHub.Interest.footprint
  }

  // MARK: What is there at first

  /// Watches a folder and records its contents.
  private func learn(_ folder: WatchedPath, _ limit: Int) throws(SystemError) {
    try watch(folder)
    for name in folder.list() {
      let path = folder.appending(name)
      guard let entry = path.look(followsLink: false) else { continue }
      known[path] = Stamp(entry)
      if footprint > limit { throw SystemError(call: "inotify_add_watch", code: Errno.noMemory) }
      if entry.is_folder && isRecursive { try learn(path, limit) }
    }
  }

  func watch(_ folder: WatchedPath) throws(SystemError) {
    if folders[folder] != nil { return }
    let interest = WatchHub.Interest(self, .folder, folder)
    do throws(SystemError) { try hub.add(interest) } catch {
      // It has gone, or is not accessible: only its name is known.
      let isHarmless = error.code == Errno.notFound || error.code == Errno.notFolder
      if isHarmless || (error.code == Errno.denied && folder != root) { return }
      throw error
    }
    folders[folder] = interest
  }

  // MARK: The way to the path

  /// Watches every folder on the way to the path, each link, and the path itself; or the first that
  /// does not exist.
  func findWay() throws(SystemError) {
    mustFindWay = false
    for _ in 0..<8 {
      let old = way
      let steps = way(to: root)
      way = []
      defer { for interest in old { hub.remove(interest) } }
      for step in steps {
        do throws(SystemError) {
          try hub.add(step)
          way.append(step)
        } catch {
          if case .passed = step.role { continue }
          if error.code == Errno.notFound || error.code == Errno.notFolder { break }
          throw error
        }
      }
      // Something may have appeared between the look and the watch.
      let again = way(to: root)
      if again.count == steps.count && zip(again, steps).allSatisfy({ $0.path == $1.path }) {
        return
      }
    }
  }

  private func way(to goal: WatchedPath) -> [WatchHub.Interest] {
    var rest = goal.names[...]
    var folder = WatchedPath.root
    var steps: [WatchHub.Interest] = []
    var links = 0
    while let name = rest.popFirst() {
      if name == [UInt8(ascii: "."), UInt8(ascii: ".")] {
        folder = folder.parent
        continue
      }
      let path = folder.appending(name)
      let entry = path.look(followsLink: false)
      if let entry, entry.is_link, links < 40 {
        links += 1
        steps.append(WatchHub.Interest(self, .step(name: name, isLast: false), folder))
        let target = path.readLink()
        if target.first == UInt8(ascii: "/") { folder = .root }
        rest = (WatchedPath.names(in: target) + rest)[...]
      } else if rest.isEmpty || entry == nil {
        let isLast = rest.isEmpty
        steps.append(WatchHub.Interest(self, .step(name: name, isLast: isLast), folder))
        return steps
      } else {
        steps.append(WatchHub.Interest(self, .passed, path))
        folder = path
      }
    }
    return steps
  }

  // MARK: Hearing

  func noteOverflow() { hasOverflown = true }

  func hear(_ event: WatchHub.Event, _ interest: WatchHub.Interest) {
    switch interest.role {
    case .passed:
      mustFindWay = true
      touch(root, 0)
    case .step(let name, let isLast):
      if event.name == nil {
        if event.events & Self.selfEvents != 0 { mustFindWay = true }
      } else if event.name != name {
        return
      } else if !isLast || !event.has(cmx_watch_changed) {
        mustFindWay = true
      }
      touch(root, event.name == nil ? 0 : event.events)
    case .folder: hear(event, inFolder: interest)
    }
  }

  private static let selfEvents =
    cmx_watch_deleted_self.rawValue | cmx_watch_moved_self.rawValue | cmx_watch_ended.rawValue

  private func hear(_ event: WatchHub.Event, inFolder interest: WatchHub.Interest) {
    guard let name = event.name else {
      if event.has(cmx_watch_ended) && folders[interest.path] === interest {
        folders[interest.path] = nil
      }
      // The folder above reports these events too; for the path itself nothing else does.
      if interest.path == root { touch(root, event.events & cmx_watch_attributes.rawValue) }
      return
    }
    let path = interest.path.appending(name)
    if event.has(cmx_watch_moved_from) { moves[event.cookie] = path }
    if event.has(cmx_watch_moved_to), let old = moves.removeValue(forKey: event.cookie) {
      origins[path] = origins.removeValue(forKey: old) ?? old
    }
    touch(path, event.events)
  }

  /// Marks a path to be looked at.
  func touch(_ path: WatchedPath, _ events: UInt32) {
    if let place = places[path] {
      touched[place].events |= events
    } else {
      places[path] = touched.count
      touched.append((path, events))
    }
  }

  func forget() {
    touched = []
    places = [:]
    moves = [:]
    origins = [:]
    hasOverflown = false
    mustFindWay = false
  }
}
