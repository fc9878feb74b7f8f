// One call about files: its name, its arguments, and what it does on whichever thread runs it.

internal import CLinuxShims
internal import Glibc
package import MoonloopCore

/// A call that may block. Its arguments come from our modules in Lua, which check those of scripts:
/// what does not fit fails with EINVAL.
package struct FileCall: Sendable {
  package typealias Answer = Result<FileValue, SystemError>

  let name: String
  private(set) var arguments: [FileValue]
  /// Where it may reach; nil: anywhere.
  package var scope: FileScope?
  /// What its answer may take.
  package var room: FileRoom?
  /// What takes its answer, if another thread does: a long call stops when that is over.
  var request: FileRequest?

  /// - Parameter name: Such as "open".
  package init(_ name: String, _ arguments: [FileValue]) {
    self.name = name
    self.arguments = arguments
  }

  /// The bytes of its arguments.
  package var size: Int {
    arguments.reduce(0) { if case .bytes(let bytes) = $1 { $0 + bytes.count } else { $0 } }
  }

  /// How many bytes an argument has.
  package func size(of index: Int) -> Int {
    if case .bytes(let bytes) = arguments[index] { bytes.count } else { 0 }
  }

  /// Copies a part of a text to the end of an argument, which gets so many bytes in all.
  package mutating func append(_ part: Slice<UnsafeRawBufferPointer>, to index: Int, of total: Int)
  {
    guard case .bytes(var bytes) = arguments[index] else { return }
    arguments[index] = .none  // so that nothing is copied twice
    if bytes.isEmpty { bytes.reserveCapacity(total) }
    bytes.append(contentsOf: part)
    arguments[index] = .bytes(bytes)
  }

  /// Does it, and blocks meanwhile.
  package func run() -> Answer {
    do throws(SystemError) {
      if removesByDots { throw failure(EINVAL) }
      if let scope { return try held(to: scope).run() }
      if let plain = Self.plain[name] { return .success(try run(plain)) }
      guard let body = Self.others[name] else { throw failure(ENOSYS) }
      return .success(try body(self))
    } catch { return .failure(error) }
  }

  /// Whether it would remove a folder by a path that ends in `.` or `..`, or the root: as with
  /// `rm -r`, nobody means that.
  private var removesByDots: Bool {
    guard name == "remove_all" || name == "rmdir" else { return false }
    guard let path = try? bytes(0), !path.isEmpty else { return false }
    return FileScope.parts(path[...]).name == nil
  }

  /// Gives up what an unclaimed answer holds: a descriptor.
  func discard(_ answer: Answer) {
    guard case .success(let value) = answer else { return }
    switch (name, value) {
    case ("open", .number(let fd)): cmx_close(Int32(fd))
    case ("mkstemp", .list(let both)):
      if case .number(let fd)? = both.first { cmx_close(Int32(fd)) }
    default: break
    }
  }

  func failure(_ code: Int32) -> SystemError { SystemError(call: name, code: code) }

  @discardableResult
  func check(_ result: some SignedInteger) throws(SystemError) -> Int {
    if result < 0 { throw failure(Int32(-result)) }
    return Int(result)
  }
}

// MARK: Arguments

extension FileCall {
  func number(_ index: Int) throws(SystemError) -> Int {
    switch index < arguments.count ? arguments[index] : .none {
    case .number(let number): return number
    case .real(let real):
      if let number = Int(exactly: real) { return number }
    default: break
    }
    throw failure(EINVAL)
  }

  func descriptor(_ index: Int = 0) throws(SystemError) -> Int32 {
    guard let fd = Int32(exactly: try number(index)) else { throw failure(EBADF) }
    return fd
  }

  func bytes(_ index: Int) throws(SystemError) -> [UInt8] {
    guard index < arguments.count, case .bytes(let bytes) = arguments[index] else {
      throw failure(EINVAL)
    }
    return bytes
  }

  /// A path for C, with its zero. One with a zero inside names no file.
  func path(_ index: Int = 0) throws(SystemError) -> [CChar] {
    let bytes = try bytes(index)
    if bytes.contains(0) { throw failure(EINVAL) }
    return bytes.map { CChar(bitPattern: $0) } + [0]
  }

  private func real(_ index: Int) throws(SystemError) -> Double {
    if index < arguments.count, case .real(let real) = arguments[index] { return real }
    return Double(try number(index))
  }
}

// MARK: Calls that return nothing, or a number

extension FileCall {
  struct Plain: Sendable {
    let call: cmx_file_call
    /// How many paths are first, numbers then, and times last.
    let paths: Int
    let numbers: Int
    var times = 0
    var givesNumber = false
  }

  private static let plain: [String: Plain] = [
    "open": Plain(call: cmx_file_open, paths: 1, numbers: 2, givesNumber: true),
    "mkdir": Plain(call: cmx_file_make_folder, paths: 1, numbers: 1),
    "rmdir": Plain(call: cmx_file_remove_folder, paths: 1, numbers: 0),
    "unlink": Plain(call: cmx_file_unlink, paths: 1, numbers: 0),
    "remove_all": Plain(call: cmx_file_remove_all, paths: 1, numbers: 0),
    "rename": Plain(call: cmx_file_rename, paths: 2, numbers: 0),
    "link": Plain(call: cmx_file_link, paths: 2, numbers: 0),
    "symlink": Plain(call: cmx_file_symlink, paths: 2, numbers: 0),
    "access": Plain(call: cmx_file_access, paths: 1, numbers: 1),
    "chmod": Plain(call: cmx_file_chmod, paths: 1, numbers: 1),
    "chown": Plain(call: cmx_file_chown, paths: 1, numbers: 2),
    "lchown": Plain(call: cmx_file_lchown, paths: 1, numbers: 2),
    "utime": Plain(call: cmx_file_utime, paths: 1, numbers: 0, times: 2),
    "lutime": Plain(call: cmx_file_lutime, paths: 1, numbers: 0, times: 2),
    "copyfile": Plain(call: cmx_file_copy, paths: 2, numbers: 1),
    "close": Plain(call: cmx_file_close, paths: 0, numbers: 1),
    "ftruncate": Plain(call: cmx_file_truncate, paths: 0, numbers: 2),
    "lseek": Plain(call: cmx_file_seek, paths: 0, numbers: 2),
    "fsync": Plain(call: cmx_file_sync, paths: 0, numbers: 1),
    "fdatasync": Plain(call: cmx_file_sync_data, paths: 0, numbers: 1),
    "fchmod": Plain(call: cmx_file_fchmod, paths: 0, numbers: 2),
    "fchown": Plain(call: cmx_file_fchown, paths: 0, numbers: 3),
    "futime": Plain(call: cmx_file_futime, paths: 0, numbers: 1, times: 2),
    "sendfile": Plain(call: cmx_file_send, paths: 0, numbers: 4, givesNumber: true),
    "await_log": Plain(call: cmx_file_await_log, paths: 0, numbers: 1),
    "lock": Plain(call: cmx_file_lock, paths: 0, numbers: 2),
  ]

  private func run(_ plain: Plain) throws(SystemError) -> FileValue {
    let path = plain.paths > 0 ? try path(0) : []
    let other = plain.paths > 1 ? try self.path(1) : []
    var numbers: [Int64] = [0, 0, 0, 0]
    for place in 0..<plain.numbers { numbers[place] = Int64(try number(plain.paths + place)) }
    var times = [0.0, 0.0]
    for place in 0..<plain.times { times[place] = try real(plain.paths + plain.numbers + place) }
    let result = path.withUnsafeBufferPointer { path in
      other.withUnsafeBufferPointer { other in
        var given = cmx_file_arguments()
        given.path = path.baseAddress
        given.other = other.baseAddress
        given.numbers = (numbers[0], numbers[1], numbers[2], numbers[3])
        given.times = (times[0], times[1])
        return withExtendedLifetime(request) {
          given.context = request.map { Unmanaged.passUnretained($0).toOpaque() }
          given.is_over = { context in
            context.map { Unmanaged<FileRequest>.fromOpaque($0).takeUnretainedValue().isOver }
              ?? false
          }
          return cmx_file(plain.call, &given)
        }
      }
    }
    let number = try check(result)
    return plain.givesNumber ? .number(number) : .flag(true)
  }
}
