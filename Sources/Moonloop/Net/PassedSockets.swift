// Listening sockets that systemd has opened and passed: `ml.net.listen { fd = "systemd" }`.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// The name in `fd = "systemd"` or `fd = "systemd:NAME"`; nil without 'fd'.
func passedName(_ options: Options, _ call: HostCall) throws(ScriptMistake) -> String? {
  guard let text = try options.string("fd") else { return nil }
  let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
  guard parts[0] == "systemd" else {
    throw call.mistake("'fd' must be \"systemd\" or \"systemd:NAME\", got \"\(text)\"")
  }
  for other in ["host", "port", "path", "backlog", "reuse_port", "v6_only", "permissions"]
    as [StaticString]
  where options.has(other) {
    throw call.mistake("'fd' is a listening socket; '\(other)' cannot be used with it")
  }
  return parts.count > 1 ? String(parts[1]) : ""
}

/// A socket that systemd has passed. It may be taken again after it was closed.
func takePassed(_ name: String) throws(OperatingFailure) -> (Int32, SocketAddress) {
  let named = name.isEmpty ? "" : " named '\(name)'"
  do throws(SystemError) {
    let socket = try Systemd.passedSocket(name)
    guard let address = Sockets.name(of: socket.number) else {
      throw SystemError(call: "getsockname", code: Errno.notSocket)
    }
    return (socket.release(), address)
  } catch {
    let count = Systemd.passedSockets
    switch error.name {
    case "ENOENT" where count == 0:
      throw OperatingFailure(
        "ml.net.listen: systemd passed no socket\(named); start the program through its "
          + ".socket unit",
        error.name)
    case "ENOENT":
      throw OperatingFailure(
        "ml.net.listen: systemd passed \(count) socket\(count == 1 ? "" : "s"), but none\(named)",
        error.name)
    case "ENOTUNIQ":
      throw OperatingFailure(
        "ml.net.listen: systemd passed \(count) sockets; choose one by its name or number, such as "
          + "fd = \"systemd:1\"", error.name)
    default:
      throw OperatingFailure(
        "ml.net.listen: the socket\(named) of systemd does not listen: \(error)", error.name)
    }
  }
}
