// Ports of other states in Lua: what a port becomes when it is sent through another one.

internal import LuaEmbed
internal import MoonloopCore

/// Where a remote port sends; nil once it was invalidated.
func remoteRight(_ handle: LuaHandle) -> PortRight? {
  handle.pointer.map { Unmanaged<PortRight>.fromOpaque($0).takeUnretainedValue() }
}

/// The handle was collected.
func releaseRemotePort(_ handle: LuaHandle) {
  guard let pointer = handle.pointer else { return }
  handle.pointer = nil
  Unmanaged<PortRight>.fromOpaque(pointer).release()
}

/// Drops this sender; the port itself goes on.
let remotePortInvalidate: LuaRawFunction = { L, context in
  host(L, context, "port:invalidate") { call in
    releaseRemotePort(try call.selfHandle(call.kinds.remotePort))
    return 0
  }
}

let remotePortIsValid: LuaRawFunction = { L, context in
  host(L, context, "port:is_valid") { call in
    let right = remoteRight(try call.selfHandle(call.kinds.remotePort))
    call.stack.push(right.map { !Intake.seldom(!$0.port.isValid) } ?? false)
    return 1
  }
}

let remotePortName: LuaRawFunction = { L, context in
  host(L, context, "port.name") { call in
    let right = remoteRight(try call.selfHandle(call.kinds.remotePort))
    call.stack.push(right?.port.name ?? "")
    return 1
  }
}

let remotePortToString: LuaRawFunction = { L, context in
  host(L, context, "tostring") { call in
    let right = remoteRight(try call.selfHandle(call.kinds.remotePort))
    let state =
      right.map { Intake.seldom(!$0.port.isValid) ? ": has ended" : "" } ?? ": invalidated"
    let name = right?.port.name ?? ""
    call.stack.push("remote port\(name.isEmpty ? "" : " '\(name)'")\(state)")
    return 1
  }
}
