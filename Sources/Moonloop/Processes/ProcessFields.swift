// The fields of a process handle.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

func pushProcessStream(_ call: HostCall, _ number: Int32) throws -> Int32 {
  _ = try call.selfProcess()
  call.stack.pushSlot(ProcessSlot.streams + number, of: 1)
  return 1
}

/// `process.status`: nil until its end is reported.
func processStatus(_ call: HostCall) throws -> Int32 {
  if let status = try call.selfProcess().status {
    call.stack.push(status)
  } else {
    call.stack.pushNil()
  }
  return 1
}

func processKeepAlive(_ call: HostCall) throws -> Int32 {
  let process = try call.selfProcess()
  let holds = try call.boolean(2)
  process.keepsAlive = holds
  call.stack.setCount(1)
  return 1
}

func processToString(_ call: HostCall) throws -> some LuaPushable {
  let process = try call.selfProcess()
  var text = process.label
  if let status = process.status {
    text += status.code.map { ", ended with code \($0)" } ?? ""
    text += status.signal.map { ", killed by \(SignalNumber.name(of: $0))" } ?? ""
    if status == .unknown { text += ", ended" }
  }
  return text
}
