// One inotify for all file watches of a loop: which folders are watched, and for which watch.

internal import CLinuxShims
package import MoonloopCore

/// The folders watched on one loop. Loop thread only.
package final class WatchHub {
  /// What a watch wants to know of a folder.
  final class Interest {
    enum Role {
      /// The folder is on the way to the path: it must not vanish.
      case passed
      /// An entry of the folder is on the way to the path, or is the path.
      case step(name: [UInt8], isLast: Bool)
      /// The folder's entries are watched.
      case folder
    }

    unowned let watch: FileWatch
    let role: Role
    /// Where the folder is now.
    var path: WatchedPath
    fileprivate(set) var number: Int32 = -1

    init(_ watch: FileWatch, _ role: Role, _ path: WatchedPath) {
      self.watch = watch
      self.role = role
      self.path = path
    }
  }

  /// One event, as passed to a watch.
  struct Event {
    let events: UInt32
    let cookie: UInt32
    /// nil: the folder itself.
    let name: [UInt8]?

    func has(_ kind: cmx_watch_events) -> Bool { events & kind.rawValue != 0 }
  }

  private let fd: Descriptor
  private var folders: [Int32: [Interest]] = [:]
  private var watches: [FileWatch] = []
  private let buffer: UnsafeMutableRawBufferPointer

  package init() throws(SystemError) {
    fd = try SystemCall.inotifyInit.descriptor(cmx_watch_open())
    // Not earlier: if the system refuses, nothing would free it.
    buffer = .allocate(byteCount: 1 << 16, alignment: 8)
  }

  deinit { buffer.deallocate() }

  /// The descriptor that is readable when something has changed.
  package var descriptor: Int32 { fd.number }
  package var isEmpty: Bool { watches.isEmpty }

  func add(_ watch: FileWatch) { watches.append(watch) }
  func remove(_ watch: FileWatch) { watches.removeAll { $0 === watch } }

  // MARK: Folders

  /// Watches a folder for a watch.
  func add(_ interest: Interest) throws(SystemError) {
    let events: UInt32 =
      switch interest.role {
      case .passed: cmx_watch_deleted_self.rawValue | cmx_watch_moved_self.rawValue
      case .step, .folder: CMX_WATCH_ENTRIES
      }
    let result = interest.path.withCString { cmx_watch_add(fd.number, $0, events) }
    let number = try SystemCall.inotifyAdd.check(result)
    interest.number = number
    folders[number, default: []].append(interest)
  }

  func remove(_ interest: Interest) {
    guard var others = folders[interest.number] else { return }
    others.removeAll { $0 === interest }
    if others.isEmpty {
      folders[interest.number] = nil
      cmx_watch_remove(fd.number, interest.number)
    } else {
      folders[interest.number] = others
    }
    interest.number = -1
  }

  // MARK: Events

  /// Reads all events, and passes each watch those it wants.
  package func collect() {
    while true {
      let size = cmx_watch_read(fd.number, buffer.baseAddress, buffer.count)
      if size <= 0 { return }
      var offset = 0
      var event = cmx_watch_event()
      while cmx_watch_next(buffer.baseAddress, size, &offset, &event) { hand(event) }
    }
  }

  private func hand(_ raw: cmx_watch_event) {
    if raw.events & cmx_watch_overflow.rawValue != 0 {
      for watch in watches { watch.noteOverflow() }
      return
    }
    guard let interests = folders[raw.folder] else { return }
    let event = Event(events: raw.events, cookie: raw.cookie, name: raw.name.map(Self.bytes))
    if event.has(cmx_watch_ended) { folders[raw.folder] = nil }
    for interest in interests {
      if event.has(cmx_watch_ended) { interest.number = -1 }
      interest.watch.hear(event, interest)
    }
  }

  private static func bytes(_ text: UnsafePointer<CChar>) -> [UInt8] {
    var found: [UInt8] = []
    var place = 0
    while text[place] != 0 {
      found.append(UInt8(bitPattern: text[place]))
      place += 1
    }
    return found
  }

  /// Limit for a user's watched folders, for messages.
  package static var limit: Int { Int(cmx_watch_limit()) }
}
