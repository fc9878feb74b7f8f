// What has changed since the last look: the effect, not the steps that led to it.

internal import CLinuxShims
internal import MoonloopCore

extension FileWatch {
  /// Looks at all that was heard of, and tells what has changed, in the order of hearing.
  ///
  /// What came and went meanwhile is no change. A file that was replaced has changed; one that was
  /// renamed within what is watched is told once, with both paths.
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
    while place < touched.count {  // It grows: new folders are looked into.
      let (path, events) = touched[place]
      place += 1
      // The old place of what was renamed is told with the new one, which was heard of later.
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

  /// Has the entries of a folder looked at that are not known yet.
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
      // A rename changes the times of the entry, and is none of these if it came back.
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

  /// Watches a folder that has come, and then looks what was made in it before.
  private func enter(_ folder: WatchedPath) {
    guard isRecursive || folder == root else { return }
    attempt(folder) { () throws(SystemError) in try watch(folder) }
    look(into: folder)
  }

  /// What is gone, and all that was in it.
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

  /// What was renamed takes along all that is in it.
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

  /// Does what the system may refuse; somebody is told, and the rest goes on.
  private func attempt(_ path: WatchedPath, _ body: () throws(SystemError) -> Void) {
    do throws(SystemError) { try body() } catch { onFailure?(error, path) }
  }
}
