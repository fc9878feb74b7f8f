// What has changed since the last look: the outcome, not the steps to it.

internal import CLinuxShims
internal import MoonloopCore

extension FileWatch {
  /// Looks at everything events pointed to, and reports changes in the order of the events; the
  /// rename of a folder before what is in it.
  ///
  /// What appeared and vanished in between is not a change. A replaced file has changed. A file
  /// that was renamed within the watched folder is reported once, with both paths.
  package func takeChanges() -> [FileChange] {
    if mustFindWay { attempt(root) { () throws(SystemError) in try findWay() } }
    var look = Look(self)
    if hasOverflown {
      look.changes.append(FileChange(kind: .overflow, path: root))
      look.touchAll()
    }
    look.settleAll()
    forget()
    return look.changes
  }

  /// Tries what the system may refuse; a failure is reported, and the rest continues.
  func attempt(_ path: WatchedPath, _ body: () throws(SystemError) -> Void) {
    do throws(SystemError) { try body() } catch { onFailure?(error, path) }
  }
}

/// One look at all that events have pointed to. Paths are those of now.
private struct Look {
  private struct Touched {
    let path: WatchedPath
    var events: UInt32
    var isSettled = false
  }

  /// How many folders that moved, each into another, are settled before what is in them.
  private static let depthLimit = 64

  let watch: FileWatch
  private var root: WatchedPath { watch.root }
  private var known: PathTree<FileWatch.Stamp> { watch.known }
  private var touched: [Touched] = []
  private var places: [WatchedPath: Int] = [:]
  /// From where a path was moved, and to where.
  private var origins: [WatchedPath: WatchedPath] = [:]
  private var targets: [WatchedPath: [WatchedPath]] = [:]
  private var away: [WatchedPath] = []
  var changes: [FileChange] = []

  init(_ watch: FileWatch) {
    self.watch = watch
    for (entry, events) in watch.heard { touch(path(of: entry), events) }
    for (target, origin) in watch.origins { origins[path(of: target)] = path(of: origin) }
    let unlisted = watch.unlisted
    watch.unlisted = []
    for folder in unlisted { look(into: folder) }
    for target in origins.keys.sorted() { targets[origins[target]!, default: []].append(target) }
  }

  private func path(of entry: FileWatch.Entry) -> WatchedPath {
    entry.folder?.path.appending(entry.name) ?? root
  }

  private mutating func touch(_ path: WatchedPath, _ events: UInt32) {
    if let place = places[path], !touched[place].isSettled {
      touched[place].events |= events
    } else {
      places[path] = touched.count
      touched.append(Touched(path: path, events: events))
    }
  }

  /// After an overflow anything may have changed.
  mutating func touchAll() {
    for path in known.all.map(\.path).sorted() { touch(path, 0) }
    for folder in watch.folders.all.map(\.path).sorted() { look(into: folder) }
    touch(root, 0)
  }

  /// Marks the entries of a folder that are not known yet, and its folders that are not watched.
  private mutating func look(into folder: WatchedPath) {
    var names: [[UInt8]] = []
    do throws(SystemError) { names = try folder.list() } catch {
      watch.unlisted.append(folder)
      watch.onFailure?(error, folder)
    }
    for name in names {
      let path = folder.appending(name)
      let old = known[path]
      if old == nil || old!.isFolder && watch.isRecursive && watch.folders[path] == nil {
        touch(path, 0)
      }
    }
  }

  // MARK: Order

  mutating func settleAll() {
    settleTouched()
    // The old path of a rename is reported with the new one, whose event came later.
    targets = [:]
    for path in away where known[path] != nil { touch(path, 0) }
    settleTouched()
  }

  private mutating func settleTouched() {
    var place = 0
    while place < touched.count {  // The list grows while new folders are searched.
      settle(place, 0)
      place += 1
    }
  }

  private mutating func settle(_ place: Int, _ depth: Int) {
    if touched[place].isSettled { return }
    touched[place].isSettled = true
    let path = touched[place].path
    if !origins.isEmpty && depth < Self.depthLimit {
      settleMoves(above: path, depth)
      if let origin = origins[path] { settleMoves(above: origin, depth) }
    }
    if isRenamedAway(path) {
      away.append(path)
    } else {
      compare(path, touched[place].events)
    }
  }

  /// What is in a folder that was moved is known by its new path once that is settled.
  private mutating func settleMoves(above path: WatchedPath, _ depth: Int) {
    var folder = path.parent
    while folder.isInside(root) {
      if origins[folder] != nil, let place = places[folder] { settle(place, depth + 1) }
      folder = folder.parent
    }
  }

  private func isRenamedAway(_ path: WatchedPath) -> Bool {
    guard let targets = targets[path], let old = known[path] else { return false }
    let isThere = targets.contains { target in
      guard known[target] == nil, let entry = target.look(followsLink: false) else { return false }
      return old.isSame(as: FileWatch.Stamp(entry))
    }
    return isThere && path.look(followsLink: false) == nil
  }

  // MARK: Steps

  private mutating func compare(_ path: WatchedPath, _ events: UInt32) {
    let old = known[path]
    guard let entry = path.look(followsLink: path == root) else {
      if old != nil { remove(path) }
      return
    }
    let new = FileWatch.Stamp(entry)
    guard let old else {
      if let before = origins[path], known[before]?.isSame(as: new) ?? false,
        before.look(followsLink: false) == nil, !path.isInside(before)
      {
        move(before, to: path, new, events)
      } else {
        add(path, new)
      }
      return
    }
    if old.isFolder || new.isFolder, !old.isSame(as: new) {
      remove(path)
      add(path, new)
      return
    }
    known.set(path, new)
    if new.isFolder {
      if watch.folders[path] == nil { enter(path) }
      if events & cmx_watch_attributes.rawValue != 0 && old.attributes != new.attributes
        && old.changed == new.changed
      {
        changes.append(FileChange(kind: .attributes, path: path))
      }
    } else if new.isChanged(from: old, events) {
      var change = FileChange(kind: .changed, path: path)
      change.isReplaced = !old.isSame(as: new)
      changes.append(change)
    } else if events & cmx_watch_attributes.rawValue != 0 || old.attributes != new.attributes {
      // A rename changes the times of the entry; if it came back, that is not a change.
      let isMove = events & (cmx_watch_moved_to.rawValue | cmx_watch_moved_from.rawValue) != 0
      if !isMove || events & cmx_watch_attributes.rawValue != 0 {
        changes.append(FileChange(kind: .attributes, path: path))
      }
    }
  }

  private mutating func add(_ path: WatchedPath, _ stamp: FileWatch.Stamp) {
    known.set(path, stamp)
    changes.append(FileChange(kind: .created, path: path))
    if stamp.isFolder { enter(path) }
  }

  /// Watches a new folder, then looks for what was made in it before.
  private mutating func enter(_ folder: WatchedPath) {
    guard watch.isRecursive || folder == root else { return }
    watch.attempt(folder) { () throws(SystemError) in try watch.watch(folder) }
    look(into: folder)
  }

  /// Handles what is gone, with everything in it.
  private mutating func remove(_ path: WatchedPath) {
    for one in known.remove(path).map(\.path).sorted(by: >) {
      changes.append(FileChange(kind: .deleted, path: one))
    }
    watch.leave(path)
  }

  /// A rename takes everything inside along; what has changed there is heard of by the new path.
  private mutating func move(
    _ old: WatchedPath, to new: WatchedPath, _ stamp: FileWatch.Stamp, _ events: UInt32
  ) {
    guard let before = known[old] else { return }
    known.move(old, to: new)
    known.set(new, stamp)
    changes.append(FileChange(kind: .renamed, path: new, before: old))
    if stamp.isFolder { return enter(new) }
    let all = events | (places[old].map { touched[$0].events } ?? 0)
    if stamp.isChanged(from: before, all) { changes.append(FileChange(kind: .changed, path: new)) }
  }
}

extension FileWatch.Stamp {
  /// Whether a file has other contents.
  fileprivate func isChanged(from old: FileWatch.Stamp, _ events: UInt32) -> Bool {
    events & cmx_watch_changed.rawValue != 0 || !old.isSame(as: self) || old.size != size
      || old.changed != changed
  }
}
