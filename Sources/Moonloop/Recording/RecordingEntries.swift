// What scripts see of recordings, with its documentation.

internal import LuaEmbed

let loopRecordEntries: [LuaEntry] = [
  .method("record", loopRecord) {
    LuaDocs(
      "Records all that enters from outside, from the beginning of the program on.",
      details: "`moonloop replay FILE` then runs the script again, offline and at once, with the "
        + "same output. Of a program of `moonloop run`; call it early in the main script, so that "
        + "what came before is still in memory. The recording ends with the program.",
      parameters: [LuaParameter("path", "string", "The file; readable for its user alone.")],
      returns: [
        LuaParameter("recording", "moonloop.Recording", "Ends it before the program does.")
      ],
      errors: [
        "Returns `nil, message, code`: of the system when the file cannot be made; \"EALREADY\" "
          + "when the program is recorded already; \"ENOTSUP\" when the beginning is lost: in a "
          + "module, after more than a megabyte, with workers, in a program that embeds us."
      ],
      example: """
        local recording, why, code = loop:record "/nowhere/run.mlt"
        if not recording then print "not recorded" end   --> not recorded
        """)
  }
]

let recordingEntries: [LuaEntry] = [
  .method("invalidate", recordingInvalidate) {
    LuaDocs(
      "Ends the recording here; a replay ends at the same place. `<close>` does the same.",
      errors: ["Returns `nil, message, code` if it could not be written whole."],
      example: """
        local recording = loop:record "/nowhere/run.mlt"
        if recording then recording:invalidate() end
        """)
  },
  .method("is_valid", recordingIsValid) {
    LuaDocs(
      "Whether it goes on.",
      returns: [LuaParameter("valid", "boolean", "False once it has ended.")],
      example: """
        local recording = loop:record "/nowhere/run.mlt"
        if recording then print(recording:is_valid()) end
        """)
  },
  .metamethod("__close", recordingInvalidate),
  .metamethod("__tostring", recordingToString),
]
