// What scripts see of recordings.

internal import LuaEmbed

/// What the handle of a recording offers.
let recordingEntries: [LuaEntry] = [
  .method("invalidate", recordingInvalidate),
  .method("is_valid") { hostValue($0, $1, "recording:is_valid", recordingIsValid) },
  .metamethod("__close", recordingInvalidate),
  .metamethod("__tostring") {
    hostValue($0, $1, "tostring") { _ in !Intake.isPlain ? "recording" : "recording (ended)" }
  },
]
