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

    /// Approximate bytes of one, with its entries in the hub.
    static let footprint = 1200

    unowned let watch: FileWatch  // its `end` removes this from the hub
    let role: Role
    /// Where the folder was found.
    private let found: WatchedPath
    /// Its place among the folders of its watch, if it is one of those.
    var node: PathTree<Interest>.Node?
    fileprivate(set) var number: Int32 = -1
    /// Those that came earlier get an event first.
    fileprivate(set) var place: UInt64 = 0

    init(_ watch: FileWatch, _ role: Role, _ path: WatchedPath) {
      self.watch = watch
      self.role = role
      found = path
    }

    /// Where the folder is now, as far as its watch has heard.
    var path: WatchedPath { node?.path(from: watch.root) ?? found }
  }

  /// What is wanted to know of one folder.
  private struct Interests {
    private var all: [UInt64: Interest] = [:]
    /// Those that entries of the folder concern: one of them, or all.
    private var named: [[UInt8]: [UInt64: Interest]] = [:]
    private var everyEntry: [UInt64: Interest] = [:]

    var isEmpty: Bool { all.isEmpty }

    mutating func add(_ interest: Interest) {
      all[interest.place] = interest
      switch interest.role {
      case .passed: break
      case .step(let name, _): named[name, default: [:]][interest.place] = interest
      case .folder: everyEntry[interest.place] = interest
      }
    }

    mutating func remove(_ interest: Interest) {
      all[interest.place] = nil
      switch interest.role {
      case .passed: break
      case .step(let name, _):
        named[name]?[interest.place] = nil
        if named[name]?.isEmpty ?? false { named[name] = nil }
      case .folder: everyEntry[interest.place] = nil
      }
    }

    /// Those that an event concerns.
    func concerned(by event: Event) -> [Interest] {
      guard let name = event.name else { return Self.inOrder(all) }
      return Self.inOrder(everyEntry.merging(named[name] ?? [:]) { $1 })
    }

    private static func inOrder(_ interests: [UInt64: Interest]) -> [Interest] {
      interests.sorted { $0.key < $1.key }.map(\.value)
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
  private var folders: [Int32: Interests] = [:]
  private var watches: [ObjectIdentifier: FileWatch] = [:]
  private var lastPlace: UInt64 = 0
  /// The watches with news that were not notified yet.
  private var heard: [ObjectIdentifier: FileWatch] = [:]
  private let buffer: UnsafeMutableRawBufferPointer

  package init() throws(SystemError) {
    fd = try SystemCall.inotifyInit.descriptor(cmx_watch_open())
    // Not earlier: if the system refuses, nothing would free it.
    buffer = .allocate(byteCount: 1 << 16, alignment: 8)
  }

  deinit { buffer.deallocate() }

  /// The descriptor that is readable when something has changed.
  package var descriptor: Int32 { fd.number }

  func add(_ watch: FileWatch) {
    lastPlace += 1
    watch.place = lastPlace
    watches[ObjectIdentifier(watch)] = watch
  }

  func remove(_ watch: FileWatch) { watches[ObjectIdentifier(watch)] = nil }

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
    lastPlace += 1
    interest.place = lastPlace
    folders[number, default: Interests()].add(interest)
  }

  func remove(_ interest: Interest) {
    guard folders[interest.number] != nil else { return }
    folders[interest.number]!.remove(interest)
    if folders[interest.number]!.isEmpty {
      folders[interest.number] = nil
      cmx_watch_remove(fd.number, interest.number)
    }
    interest.number = -1
  }

  // MARK: Events

  /// Reads all events, passes each watch those it wants, and then notifies each of these once.
  package func collect() {
    read()
    let news = heard.values.sorted { $0.place < $1.place }
    heard = [:]
    for watch in news where watch.hasNews { watch.onNews?() }
  }

  private func read() {
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
      for watch in watches.values { watch.noteOverflow() }
      heard = watches
      return
    }
    guard let interests = folders[raw.folder] else { return }
    let event = Event(events: raw.events, cookie: raw.cookie, name: raw.name.map(Self.bytes))
    if event.has(cmx_watch_ended) { folders[raw.folder] = nil }
    for interest in interests.concerned(by: event) {
      if event.has(cmx_watch_ended) { interest.number = -1 }
      interest.watch.hear(event, interest)
      heard[ObjectIdentifier(interest.watch)] = interest.watch
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
