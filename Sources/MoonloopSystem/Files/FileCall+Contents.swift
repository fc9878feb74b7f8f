// Calls that read and write what files hold.

internal import CLinuxShims
internal import Glibc
internal import MoonloopCore

extension FileCall {
  /// Whether a part of a file can be read without waiting for a disk.
  package static func isCached(_ fd: Int32, at offset: Int, _ count: Int) -> Bool {
    cmx_file_is_cached(fd, Int64(offset), Int64(count))
  }

  /// How many bytes one read may ask for.
  private static let readLimit = 1 << 30
  /// Reads of so many bytes and fewer are made without asking how many there are.
  private static let smallRead = 1 << 16
  /// How much is read at once from what has no size, such as a pipe.
  private static let portion = 1 << 20

  /// `read(fd, count, offset)`
  func read() throws(SystemError) -> FileValue {
    let (fd, count) = (try descriptor(), try number(1))
    guard (0...Self.readLimit).contains(count) else { throw failure(EINVAL) }
    let offset = try number(2)
    return .bytes(try read(fd, try readable(fd, count, at: offset), at: offset))
  }

  /// How many of this many bytes there may be.
  private func readable(_ fd: Int32, _ count: Int, at offset: Int) throws(SystemError) -> Int {
    if count <= Self.smallRead { return count }
    var status = cmx_file_status()
    try check(cmx_file_status(nil, fd, true, &status))
    let isPlain = status.mode >> 12 == 8
    // The files of /proc have no size either.
    if !isPlain || status.size == 0 { return min(count, Self.portion) }
    return min(count, max(0, Int(status.size) - max(0, offset)))
  }

  private func read(_ fd: Int32, _ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
    if count > Self.smallRead {
      if let room, !room.take(count) { throw failure(ENOMEM) }
      // An array ends the program where the system has no memory for it.
      guard let memory = malloc(count) else { throw failure(ENOMEM) }
      free(memory)
    }
    var result = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      result = Int(cmx_file_read(fd, buffer.baseAddress, count, Int64(offset)))
      filled = max(0, result)
    }
    try check(result)
    return bytes
  }

  /// `write(fd, bytes, offset)`: how many were written.
  func write() throws(SystemError) -> FileValue {
    let (fd, bytes, offset) = (try descriptor(), try bytes(1), try number(2))
    return .number(try check(cmx_file_write(fd, bytes, bytes.count, Int64(offset))))
  }

  /// `load(path, limit)`: all that a file holds; EFBIG if that is more.
  func load() throws(SystemError) -> FileValue {
    let limit = try number(1)
    // A pipe without a writer is empty, and keeps no thread.
    let fd = try open(path(), O_RDONLY | O_NONBLOCK)
    defer { cmx_close(fd) }
    var status = cmx_file_status()
    try check(cmx_file_status(nil, fd, true, &status))
    var all: [UInt8] = []
    var step = max(4096, min(Int(status.size), limit) + 1)
    // What is larger than its size says, or has none, is counted as it grows.
    var counted = max(step, Self.smallRead)
    while true {
      let part = try read(fd, step, at: -1)
      if part.isEmpty { return .bytes(all) }
      if all.count + part.count > counted {
        if let room, !room.take(counted) { throw failure(ENOMEM) }
        counted *= 2
      }
      if all.isEmpty { all = part } else { all += part }
      if all.count > limit { throw failure(EFBIG) }
      if request?.isOver == true { throw failure(ECANCELED) }
      step = 1 << 16
    }
  }

  /// `store(path, bytes, flags, permissions, syncs)`
  func store() throws(SystemError) -> FileValue {
    let fd = try open(path(), Int32(try number(2)) | O_WRONLY | O_CREAT, try number(3))
    defer { cmx_close(fd) }
    try writeAll(fd, try bytes(1))
    if try number(4) != 0 { try plain(cmx_file_sync, fd) }
    return .flag(true)
  }

  /// `replace(path, bytes, permissions or -1)`: a new file takes the place of the old one once all
  /// of it is on the disk; a reader sees the one or the other.
  func replace() throws(SystemError) -> FileValue {
    let path = try path()
    var new = Array(path.dropLast()) + ".XXXXXX".utf8CString
    let fd = Int32(try check(cmx_file_temporary(&new, false)))
    do throws(SystemError) {
      defer { cmx_close(fd) }
      try plain(cmx_file_fchmod, fd, try permissions(path, try number(2)))
      try writeAll(fd, try bytes(1))
      try plain(cmx_file_sync, fd)
      try plain(cmx_file_rename, new, path)
    } catch {
      _ = try? plain(cmx_file_unlink, new)
      throw error
    }
    try syncFolder(of: path)
    return .flag(true)
  }

  /// Those that are asked for, else those of the file that is replaced, else those of a new file.
  private func permissions(_ path: [CChar], _ wanted: Int) throws(SystemError) -> Int {
    if wanted >= 0 { return wanted }
    var status = cmx_file_status()
    return cmx_file_status(path, -1, true, &status) == 0 ? Int(status.mode & 0o7777) : 0o644
  }

  private func syncFolder(of path: [CChar]) throws(SystemError) {
    let slash = path.lastIndex(of: CChar(UInt8(ascii: "/")))
    let folder = slash.map { Array(path[...$0]) } ?? [CChar(UInt8(ascii: "."))]
    let fd = try open(folder + [0], O_RDONLY | O_DIRECTORY)
    defer { cmx_close(fd) }
    try plain(cmx_file_sync, fd)
  }

  /// `mkdirs(path, permissions)`: a folder and those that it is in; it may be there already.
  func makeFolders() throws(SystemError) -> FileValue {
    let path = try bytes(0)
    var made: [[CChar]] = []
    for end in path.indices.dropFirst() where path[end] == UInt8(ascii: "/") {
      made.append(path[..<end].map { CChar(bitPattern: $0) } + [0])
    }
    for folder in made { try makeFolder(folder) }
    try makeFolder(try self.path())
    return .flag(true)
  }

  private func makeFolder(_ path: [CChar]) throws(SystemError) {
    do throws(SystemError) { try plain(cmx_file_make_folder, path, number: try number(1)) } catch {
      var status = cmx_file_status()
      let isThere = cmx_file_status(path, -1, true, &status) == 0
      if !isThere { throw error }
      if status.mode >> 12 != 4 { throw failure(error.code == EEXIST ? ENOTDIR : error.code) }
    }
  }

  // MARK: Steps

  private func open(
    _ path: [CChar], _ flags: Int32, _ permissions: Int = 0
  ) throws(SystemError) -> Int32 {
    Int32(try plain(cmx_file_open, path, number: Int(flags), permissions))
  }

  private func writeAll(_ fd: Int32, _ bytes: [UInt8]) throws(SystemError) {
    var from = 0
    while from < bytes.count {
      let result = bytes.withUnsafeBytes {
        cmx_file_write(fd, $0.baseAddress! + from, bytes.count - from, -1)
      }
      from += try check(result)
    }
  }

  @discardableResult
  private func plain(
    _ call: cmx_file_call, _ path: [CChar], _ other: [CChar] = [0], number: Int = 0,
    _ second: Int = 0
  ) throws(SystemError) -> Int {
    let result = path.withUnsafeBufferPointer { path in
      other.withUnsafeBufferPointer { other in
        var given = cmx_file_arguments()
        (given.path, given.other) = (path.baseAddress, other.baseAddress)
        given.numbers = (Int64(number), Int64(second), 0, 0)
        return cmx_file(call, &given)
      }
    }
    return try check(result)
  }

  private func plain(
    _ call: cmx_file_call, _ fd: Int32, _ number: Int = 0
  ) throws(SystemError) {
    var given = cmx_file_arguments()
    given.numbers = (Int64(fd), Int64(number), 0, 0)
    try check(cmx_file(call, &given))
  }
}
