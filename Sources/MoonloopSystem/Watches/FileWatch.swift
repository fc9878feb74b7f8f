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
  /// What is known to exist, where it was at the last look.
  var known: PathTree<Stamp>
  /// The folders whose entries are watched, where they are by now: each move is followed at once.
  var folders: PathTree<WatchHub.Interest>
  /// The folders and links that lead to the path.
  private var way: [WatchHub.Interest] = []

  /// An entry of a watched folder, wherever that goes; without one, the watched path.
  struct Entry: Hashable {
    let folder: WatchHub.Interest?
    let name: [UInt8]

    static func == (one: Entry, other: Entry) -> Bool {
      one.folder === other.folder && one.name == other.name
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(folder.map { ObjectIdentifier($0) })
      hasher.combine(name)
    }
  }

  // What events have reported since the last look.
  var heard: [(entry: Entry, events: UInt32)] = []
  private var places: [Entry: Int] = [:]
  private var moves: [UInt32: Entry] = [:]
  var origins: [Entry: Entry] = [:]
  /// The folders that could not be listed: the next look lists them.
  var unlisted: [WatchedPath] = []
  var hasOverflown = false
  var mustFindWay = false

  /// Starts to watch; what already exists is not a change.
  /// - Parameter limit: It may take this many bytes at first.
  /// - Throws: If the system refuses, or that is not enough; nothing is left behind.
  package init(
    _ root: WatchedPath, isRecursive: Bool, in hub: WatchHub, limit: Int
  ) throws(SystemError) {
    self.root = root
    known = PathTree(root)
    folders = PathTree(root)
    self.isRecursive = isRecursive
    self.hub = hub
    do throws(SystemError) {
      try findWay()
      if let entry = root.look(followsLink: true) {
        known.set(root, Stamp(entry))
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
    for interest in way { hub.remove(interest) }
    way = []
    leave(root)
    known.remove(root)
    forget()
  }

  /// Whether events have come since the last look.
  var hasNews: Bool { hasOverflown || mustFindWay || !heard.isEmpty }

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
    for name in try folder.list() {
      let path = folder.appending(name)
      guard let entry = path.look(followsLink: false) else { continue }
      known.set(path, Stamp(entry))
      if footprint > limit { throw SystemError(call: "inotify_add_watch", code: Errno.noMemory) }
      if entry.is_folder && isRecursive { try learn(path, limit) }
    }
  }

  /// Watches a folder, unless it is watched there already.
  func watch(_ folder: WatchedPath) throws(SystemError) {
    let interest = WatchHub.Interest(self, .folder, folder)
    do throws(SystemError) { try hub.add(interest) } catch {
      // It has gone, or is not accessible: only its name is known.
      let isHarmless = error.code == Errno.notFound || error.code == Errno.notFolder
      if isHarmless || (error.code == Errno.denied && folder != root) { return }
      throw error
    }
    if let old = folders[folder] {
      if old.number == interest.number { return hub.remove(interest) }
      leave(folder)
    }
    interest.node = folders.set(folder, interest)
  }

  /// Watches a folder and those in it no more.
  func leave(_ folder: WatchedPath) {
    for (_, interest) in folders.remove(folder) { hub.remove(interest) }
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
      note(theRoot, 0)
    case .step(let name, let isLast):
      if event.name == nil {
        if event.events & Self.selfEvents != 0 { mustFindWay = true }
      } else if event.name != name {
        return
      } else if !isLast || !event.has(cmx_watch_changed) {
        mustFindWay = true
      }
      note(theRoot, event.name == nil ? 0 : event.events)
    case .folder: hear(event, inFolder: interest)
    }
  }

  private let theRoot = Entry(folder: nil, name: [])
  private static let selfEvents =
    cmx_watch_deleted_self.rawValue | cmx_watch_moved_self.rawValue | cmx_watch_ended.rawValue

  private func hear(_ event: WatchHub.Event, inFolder interest: WatchHub.Interest) {
    guard let name = event.name else {
      if event.has(cmx_watch_ended), let node = interest.node, node.value === interest {
        folders.clear(node)
      }
      // The folder above reports these events too; for the path itself nothing else does.
      if interest.path == root { note(theRoot, event.events & cmx_watch_attributes.rawValue) }
      return
    }
    let entry = Entry(folder: interest, name: name)
    if event.has(cmx_watch_moved_from) { moves[event.cookie] = entry }
    if event.has(cmx_watch_moved_to), let old = moves.removeValue(forKey: event.cookie) {
      origins[entry] = origins.removeValue(forKey: old) ?? old
      follow(old, to: entry)
    }
    note(entry, event.events)
  }

  /// A folder has moved, with those in it: later events of these are about the new place.
  private func follow(_ old: Entry, to new: Entry) {
    guard let from = old.folder?.node, let folder = new.folder?.node else { return }
    for interest in folders.move(old.name, in: from, to: new.name, in: folder) {
      hub.remove(interest)
    }
  }

  /// Keeps an entry to be looked at.
  private func note(_ entry: Entry, _ events: UInt32) {
    if let place = places[entry] {
      heard[place].events |= events
    } else {
      places[entry] = heard.count
      heard.append((entry, events))
    }
  }

  func forget() {
    heard = []
    places = [:]
    moves = [:]
    origins = [:]
    hasOverflown = false
    mustFindWay = false
  }
}
