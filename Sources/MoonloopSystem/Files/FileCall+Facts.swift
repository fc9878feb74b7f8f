// Calls about files that give facts: a status, the names in a folder, where a link leads.

internal import CLinuxShims
internal import Glibc
internal import MoonloopCore

extension FileCall {
  static let others: [String: @Sendable (FileCall) throws(SystemError) -> FileValue] = [
    "stat": { call throws(SystemError) in try call.status(path: call.path()) },
    "lstat": { call throws(SystemError) in
      try call.status(path: call.path(), followsLink: false)
    },
    "fstat": { call throws(SystemError) in try call.status(fd: call.descriptor()) },
    "statfs": { call throws(SystemError) in try call.space() },
    "scandir": { call throws(SystemError) in try call.list() },
    "readlink": { call throws(SystemError) in try call.target() },
    "realpath": { call throws(SystemError) in try call.realPath() },
    "mkdtemp": { call throws(SystemError) in try call.temporary(isFolder: true) },
    "mkstemp": { call throws(SystemError) in try call.temporary(isFolder: false) },
    "read": { call throws(SystemError) in try call.read() },
    "write": { call throws(SystemError) in try call.write() },
    "load": { call throws(SystemError) in try call.load() },
    "store": { call throws(SystemError) in try call.store() },
    "replace": { call throws(SystemError) in try call.replace() },
    "mkdirs": { call throws(SystemError) in try call.makeFolders() },
  ]

  private func status(
    path: [CChar]? = nil, fd: Int32 = -1, followsLink: Bool = true
  ) throws(SystemError) -> FileValue {
    var found = cmx_file_status()
    try check(
      path?.withUnsafeBufferPointer { cmx_file_status($0.baseAddress, -1, followsLink, &found) }
        ?? cmx_file_status(nil, fd, true, &found))
    let times = [found.times.0, found.times.1, found.times.2, found.times.3]
    let names = ["atime", "mtime", "ctime", "birthtime"]
    let numbers: [(String, Int64)] = [
      ("dev", found.dev), ("mode", found.mode), ("nlink", found.nlink), ("uid", found.uid),
      ("gid", found.gid), ("rdev", found.rdev), ("ino", found.ino), ("size", found.size),
      ("blksize", found.blksize), ("blocks", found.blocks), ("flags", 0), ("gen", 0),
    ]
    var fields = numbers.map { (name: $0.0, value: FileValue.number(Int($0.1))) }
    fields += zip(names, times).map { name, time in
      let both = [("sec", time.0), ("nsec", time.1)]
      return (name, .record(both.map { (name: $0.0, value: .number(Int($0.1))) }))
    }
    fields.append(("type", .text(Self.kind(Int32(found.mode >> 12)))))
    return .record(fields)
  }

  /// The kind of a file, by the four bits of its mode that are also the types of `readdir`.
  private static func kind(_ bits: Int32) -> String {
    switch bits {
    case 1: "fifo"
    case 2: "char"
    case 4: "directory"
    case 6: "block"
    case 8: "file"
    case 10: "link"
    case 12: "socket"
    default: "unknown"
    }
  }

  private func space() throws(SystemError) -> FileValue {
    let path = try path()
    var found = cmx_file_space()
    try check(cmx_file_space(path, &found))
    let numbers: [(String, Int64)] = [
      ("type", found.type), ("bsize", found.bsize), ("blocks", found.blocks),
      ("bfree", found.bfree), ("bavail", found.bavail), ("files", found.files),
      ("ffree", found.ffree),
    ]
    return .record(numbers.map { (name: $0.0, value: .number(Int($0.1))) })
  }

  private final class Names {
    var list: [(name: [UInt8], kind: String)] = []
  }

  /// The names in a folder in byte order, each with its kind.
  private func list() throws(SystemError) -> FileValue {
    let names = Names()
    let context = Unmanaged.passUnretained(names).toOpaque()
    let path = try path()
    try check(
      cmx_file_list(path, context) { context, name, type in
        let names = Unmanaged<Names>.fromOpaque(context!).takeUnretainedValue()
        let bytes = UnsafeBufferPointer(start: name!, count: strlen(name!))
        names.list.append((bytes.map { UInt8(bitPattern: $0) }, FileCall.kind(type)))
      })
    let sorted = names.list.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    return .list(
      sorted.map { .record([("name", .bytes($0.name)), ("type", .text($0.kind))]) })
  }

  private func target() throws(SystemError) -> FileValue {
    let path = try path()
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = try check(cmx_file_target(path, &target, target.count))
    return .bytes(target[..<count].map { UInt8(bitPattern: $0) })
  }

  private func realPath() throws(SystemError) -> FileValue {
    let path = try path()
    var real = [CChar](repeating: 0, count: Int(PATH_MAX))
    try check(cmx_file_real_path(path, &real))
    return .bytes(Self.text(real))
  }

  /// A folder's path, or the descriptor and the path of a file.
  private func temporary(isFolder: Bool) throws(SystemError) -> FileValue {
    var template = try path()
    let fd = try check(cmx_file_temporary(&template, isFolder))
    let path = FileValue.bytes(Self.text(template))
    return isFolder ? path : .list([.number(fd), path])
  }

  static func text(_ chars: [CChar]) -> [UInt8] {
    chars.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
  }
}
