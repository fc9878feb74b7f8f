// What has changed since the last look: the outcome, not the steps to it.

internal import CLinuxShims
internal import MoonloopCore

extension FileWatch {
  /// Looks at everything events pointed to, and reports changes in the order of the events.
  ///
  /// What appeared and vanished in between is not a change. A replaced file has changed. A file
  /// that was renamed within the watched folder is reported once, with both paths.
  package func takeChanges() -> [FileChange] {
    var changes: [FileChange] = []
    if mustFindWay { attempt(root) { () throws(SystemError) in try findWay() } }
    if hasOverflown {
      changes.append(FileChange(kind: .overflow, path: root))
      touchAll()
    }
    let sources = Set(origins.values)
    var away: [WatchedPath] = []
    var place = 0
    while place < touched.count {  // The list grows while new folders are searched.
      let (path, events) = touched[place]
      place += 1
      // The old path of a rename is reported with the new one, whose event came later.
      if sources.contains(path), known[path] != nil, isRenamedAway(path) {
        away.append(path)
      } else {
        compare(path, events, &changes)
      }
    }
    for path in away where known[path] != nil { compare(path, 0, &changes) }
    forget()
    return changes
  }

  private func isRenamedAway(_ path: WatchedPath) -> Bool {
    origins.contains { target, origin in
      origin == path && known[target].map { _ in false } ?? true
        && target.look(followsLink: false) != nil
    } && path.look(followsLink: false) == nil
  }

  /// After an overflow anything may have changed.
  private func touchAll() {
    for path in known.keys.sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
      touch(path, 0)
    }
    for folder in folders.keys { look(into: folder) }
    touch(root, 0)
  }

  /// Marks the entries of a folder that are not known yet.
  private func look(into folder: WatchedPath) {
    for name in folder.list() {
      let path = folder.appending(name)
      if known[path] == nil { touch(path, 0) }
    }
  }

  private func compare(_ path: WatchedPath, _ events: UInt32, _ changes: inout [FileChange]) {
    let old = known[path]
    guard let entry = path.look(followsLink: path == root) else {
      if old != nil { remove(path, &changes) }
      return
    }
    let new = Stamp(entry)
    guard let old else {
      let before = origins[path].flatMap { known[$0] == nil ? nil : $0 }
      if let before, before.look(followsLink: false) == nil {
        move(before, to: path, new, &changes)
      } else {
        add(path, new, &changes)
      }
      return
    }
    if old.isFolder || new.isFolder, !old.isSame(as: new) {
      remove(path, &changes)
      add(path, new, &changes)
      return
    }
    known[path] = new
    if new.isFolder {
      if folders[path] == nil { enter(path) }
      if events & cmx_watch_attributes.rawValue != 0 && old.attributes != new.attributes
        && old.changed == new.changed
      {
        changes.append(FileChange(kind: .attributes, path: path))
      }
    } else if events & cmx_watch_changed.rawValue != 0 || !old.isSame(as: new)
      || old.size != new.size || old.changed != new.changed
    {
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

  // MARK: Steps

  private func add(_ path: WatchedPath, _ stamp: Stamp, _ changes: inout [FileChange]) {
    known[path] = stamp
    changes.append(FileChange(kind: .created, path: path))
    if stamp.isFolder { enter(path) }
  }

  /// Watches a new folder, then looks for what was made in it before.
  private func enter(_ folder: WatchedPath) {
    guard isRecursive || folder == root else { return }
    attempt(folder) { () throws(SystemError) in try watch(folder) }
    look(into: folder)
  }

  /// Handles what is gone, with everything in it.
  private func remove(_ path: WatchedPath, _ changes: inout [FileChange]) {
    if known[path]?.isFolder == true {
      let inside = known.keys.filter { $0.isInside(path) }
        .sorted { $1.bytes.lexicographicallyPrecedes($0.bytes) }
      for one in inside {
        known[one] = nil
        changes.append(FileChange(kind: .deleted, path: one))
      }
      for (folder, interest) in folders where folder == path || folder.isInside(path) {
        hub.remove(interest)
        folders[folder] = nil
      }
    }
    known[path] = nil
    changes.append(FileChange(kind: .deleted, path: path))
  }

  /// A rename takes everything inside along.
  private func move(
    _ old: WatchedPath, to new: WatchedPath, _ stamp: Stamp, _ changes: inout [FileChange]
  ) {
    let wasFolder = known[old]?.isFolder == true
    known[old] = nil
    known[new] = stamp
    changes.append(FileChange(kind: .renamed, path: new, before: old))
    guard wasFolder, stamp.isFolder else { return }
    for one in known.keys.filter({ $0.isInside(old) }) {
      known[one.moved(from: old, to: new)] = known.removeValue(forKey: one)
    }
    for (folder, interest) in folders where folder == old || folder.isInside(old) {
      let path = folder.moved(from: old, to: new)
      folders[folder] = nil
      interest.path = path
      folders[path] = interest
    }
    enter(new)
  }

  /// Tries what the system may refuse; a failure is reported, and the rest continues.
  private func attempt(_ path: WatchedPath, _ body: () throws(SystemError) -> Void) {
    do throws(SystemError) { try body() } catch { onFailure?(error, path) }
  }
}
