// What `--version --verbose` prints: all that a bug report needs to say about the program and what
// it runs on.

internal import Glibc
internal import Moonloop

/// The lines of the report.
enum VersionReport {
  static var text: String {
    let rows = [
      ("moonloop", "\(Program.version), \(build)"),
      ("Lua", "\(LuaState.luaVersion), \(LuaState.libraryPath ?? "linked in")"),
      ("C library", library),
      ("kernel", kernel),
      ("system", distribution ?? "unknown"),
      ("processors", "\(sysconf(Int32(_SC_NPROCESSORS_ONLN)))"),
      ("open files", "at most \(sysconf(Int32(_SC_OPEN_MAX)))"),
      ("/proc", access("/proc/self/stat", R_OK) == 0 ? "mounted" : "not mounted"),
    ]
    return (rows + environment).map { "\($0.0): \($0.1)" }.joined(separator: "\n")
  }

  private static var build: String {
    #if DEBUG
      let kind = "debug"
    #else
      let kind = "release"
    #endif
    #if arch(x86_64)
      return kind + " build for x86_64"
    #elseif arch(arm64)
      return kind + " build for aarch64"
    #else
      return kind + " build"
    #endif
  }

  private static var library: String {
    var name = [UInt8](repeating: 0, count: 256)
    let length = name.withUnsafeMutableBytes {
      confstr(Int32(_CS_GNU_LIBC_VERSION), $0.baseAddress, $0.count)
    }
    return String(decoding: name.prefix(max(length, 1) - 1), as: UTF8.self)
  }

  private static var kernel: String {
    var names = utsname()
    guard uname(&names) == 0 else { return "unknown" }
    return withUnsafeBytes(of: names.release) { text($0) } + " "
      + withUnsafeBytes(of: names.machine) { text($0) }
  }

  private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// The system's name, from /etc/os-release.
  private static var distribution: String? {
    guard let file = fopen("/etc/os-release", "re") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 1024)
    while fgets(&line, Int32(line.count), file) != nil {
      let row = line.withUnsafeBytes { text($0) }
      guard row.hasPrefix("PRETTY_NAME=") else { continue }
      return row.dropFirst("PRETTY_NAME=".count).filter { $0 != "\"" && $0 != "\n" }
    }
    return nil
  }

  /// The variables that change how scripts run, as far as they are set.
  private static var environment: [(String, String)] {
    let names = [
      "LUA_PATH_5_4", "LUA_PATH", "LUA_CPATH_5_4", "LUA_CPATH", "LUA_INIT_5_4", "LUA_INIT",
      "NOTIFY_SOCKET", "LISTEN_FDS", "TERM", "NO_COLOR",
    ]
    return names.compactMap { name in getenv(name).map { (name, String(cString: $0)) } }
  }
}
