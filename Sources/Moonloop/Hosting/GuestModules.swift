// A guest's own modules for `require`, and the list of everything that it can reach.

internal import Glibc
internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

extension HostCall {
  /// Pushes the loader of a guest's own module; nothing if there is none. Its script is none.
  /// - Parameter name: The name passed to `require`; a dot is a folder.
  func pushOwnModule(_ name: String) -> Int32 {
    guard let folder = runtime.granted.guest?.ownFolder,
      name.utf8.allSatisfy({ Self.isOfName($0) }), !name.hasPrefix("."), strstr(name, "..") == nil
    else { return LuaStatus.results(0) }
    var scope = FileScope()
    guard (try? scope.allow(folder, reads: true, writes: false)) != nil else {
      return LuaStatus.results(0)
    }
    let script = runtime.granted.guest?.script.flatMap {
      try? scope.place(of: Array($0.utf8), writes: false)
    }
    let path = folder + "/" + name.split(separator: ".").joined(separator: "/")
    for candidate in [path + ".lua", path + "/init.lua"] {
      guard let place = try? scope.place(of: Array(candidate.utf8), writes: false),
        place != script,
        let text = try? WorkerText.read(String(decoding: place, as: UTF8.self))
      else { continue }
      return load(text, "@" + candidate)
    }
    return LuaStatus.results(0)
  }

  private func load(_ text: [UInt8], _ name: String) -> Int32 {
    WorkerText.withoutMarks(text).withUnsafeBytes { bytes in
      do throws(LuaError) {
        try state.load(bytes: bytes, name: name, on: stack)
        return LuaStatus.results(1)
      } catch {
        stack.push(error.message)
        return LuaStatus.raise
      }
    }
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
      UInt8(ascii: "."):
      true
    default: false
    }
  }
}

extension LuaState {
  /// Everything that the state's scripts can reach by fields and metatables, one line each, in
  /// order.
  /// - Throws: `LuaError` if there is no memory for it.
  package func reach() throws(LuaError) -> String {
    guard let text = sourceText(of: "moonloop.reach") else { return "" }
    return try evaluate(text, name: "=moonloop")
  }
}
