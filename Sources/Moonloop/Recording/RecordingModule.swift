// `loop:record`: a script records its own run. See docs/recording.md.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopRecording

/// What the handle of a recording offers.
let recordingEntries: [LuaEntry] = [
  .method("invalidate", recordingInvalidate),
  .method("is_valid") { hostValue($0, $1, "recording:is_valid", recordingIsValid) },
  .metamethod("__close", recordingInvalidate),
  .metamethod("__tostring") {
    hostValue($0, $1, "tostring") { _ in !Intake.isPlain ? "recording" : "recording (ended)" }
  },
]

/// What the Lua part of recordings asks.
let tapeModule = LuaModule("moonloop.tape", [.function("plays", tapePlays)])

/// `plays()`: whether the script runs as it was recorded.
private let tapePlays: LuaRawFunction = { L, _ in
  LuaStack(L: L!).push(Intake.isReplayed)
  return 1
}

/// `loop:record(path)`: a recording; or nil, message, code.
func loopRecord(_ call: HostCall) throws -> Int32 {
  if call.runtime.granted.guest != nil { throw call.mistake("a guest cannot be recorded") }
  try call.requireGrant(of: .files)
  let path = try call.systemText(2, "the file")
  if Intake.isReplayed {
    switch Int32(Tape.take(.began).first ?? 0) {
    case 0: throw isRecordedAlready
    case 1: break
    case let code: throw refusal(path, SystemError(call: "write", code: code - 2))
    }
  } else if Intake.isKept && !Tape.isHeld {
    tell(0)
    throw isRecordedAlready
  } else {
    try begin(path)
  }
  _ = call.runtime.kinds.recording.push(call.stack.L)
  return 1
}

private let isRecordedAlready = OperatingFailure(
  "loop:record: the program is already being recorded", "EALREADY")

/// For a replay: 0 for a program that is recorded already, 1 for a recording, errno + 2.
private func tell(_ outcome: UInt8) { withUnsafeBytes(of: outcome) { Tape.put(.began, $0) } }

private func begin(_ path: String) throws {
  guard Tape.isHeld else {
    throw OperatingFailure(
      "loop:record: the beginning of the program is lost: call it early in the main script, or use "
        + "'moonloop run --record'", "ENOTSUP")
  }
  do { try Tape.commit(to: path) } catch {
    tell(UInt8(clamping: error.code + 2))
    throw refusal(path, error)
  }
  tell(1)
}

private func refusal(_ path: String, _ error: SystemError) -> OperatingFailure {
  OperatingFailure("loop:record: cannot write '\(path)': \(error.message)", error.name)
}

/// `recording:invalidate()`, and `<close>`.
let recordingInvalidate: LuaRawFunction = { L, context in
  hostAction(L, context, "recording:invalidate") { call in
    guard call.runtime.kinds.recording.handle(call.stack.L, 1) != nil else {
      throw call.notSelf("recording")
    }
    try Tape.endHere()
  }
}

/// `recording:is_valid()`
func recordingIsValid(_ call: HostCall) throws -> some LuaPushable {
  guard call.runtime.kinds.recording.handle(call.stack.L, 1) != nil else {
    throw call.notSelf("recording")
  }
  return !Intake.isPlain
}
