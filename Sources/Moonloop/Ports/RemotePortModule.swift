// Ports of other states in Lua: what a port becomes when it is sent through another one.

internal import LuaEmbed
internal import MoonloopCore

/// Where a remote port sends; nil once it was invalidated.
func remoteRight(_ handle: LuaHandle) -> PortRight? { handle.object(as: PortRight.self) }

/// Drops this sender; the port itself goes on.
let remotePortInvalidate: LuaRawFunction = { L, context in
  hostAction(L, context, "port:invalidate") {
    try $0.selfHandle($0.kinds.remotePort).drop()
  }
}

func remotePortIsValid(_ call: HostCall) throws -> some LuaPushable {
  let right = remoteRight(try call.selfHandle(call.kinds.remotePort))
  return right.map { !Intake.seldom(!$0.port.isValid) } ?? false
}

func remotePortToString(_ call: HostCall) throws -> some LuaPushable {
  let right = remoteRight(try call.selfHandle(call.kinds.remotePort))
  let state =
    right.map { Intake.seldom(!$0.port.isValid) ? ": has ended" : "" } ?? ": invalidated"
  let name = right?.port.name ?? ""
  return "remote port\(name.isEmpty ? "" : " '\(name)'")\(state)"
}
