// What scripts see of signals, with its documentation.

internal import LuaEmbed

/// What a signal handle offers.
let signalEntries: [LuaEntry] =
  [
    .field("signals", signalNames) {
      LuaDocs(
        "The names of the signals that it hears of.",
        returns: [LuaParameter("names", "string[]", "In lower case; empty once it has ended.")],
        example: """
          local signal <close> = loop:signal({ "usr1", "SIGUSR2" }, print)
          print(table.concat(signal.signals, " "))   --> usr1 usr2
          """)
    }
  ] + itemEntries

/// The methods of the loop and the functions of the module that make one.
let loopSignalEntry = LuaEntry.method("signal", loopSignal) {
  LuaDocs(
    "Calls a function for each signal of a kind that the process gets, and adds it to the loop.",
    details: signalDetails
      + " Other ways to call it: with one table, as `ml.signal`, that may name "
      + "'modes' too.",
    parameters: [
      LuaParameter(
        "signals", "string|integer|(string|integer)[]|moonloop.LoopSignalOptions",
        "A name such as \"term\", \"SIGTERM\" or \"rtmin+1\", a number, or a list of these.",
        fields: signalOptionDocs(isAdded: true)),
      LuaParameter("handler", signalHandler, "The function.", optional: true),
    ],
    returns: [LuaParameter("signal", "moonloop.Signal", "The handle.")],
    errors: [signalErrors],
    example: """
      loop:signal("usr1", function(signal, name, info)
        print(name, info.pid == ml.process.id())   --> usr1 true
        signal:invalidate()
      end)
      ml.process.kill(ml.process.id(), "usr1")
      """)
}

let moduleSignalEntry = LuaEntry.function("signal", moduleSignal) {
  LuaDocs(
    "Makes a handle of signals without adding it to the loop; they are taken from now on.",
    details: madeOnly,
    parameters: [
      LuaParameter(
        "options", "moonloop.SignalOptions", "The signals and the handler.",
        fields: signalOptionDocs(isAdded: false))
    ],
    returns: [LuaParameter("signal", "moonloop.Signal", "The handle.")],
    errors: [signalErrors],
    example: """
      local signal <close> = ml.signal { { "usr2", "hup" }, name = "reload", print }
      loop:add(signal, "common")
      """)
}

private let signalHandler = "fun(signal: moonloop.Signal, name: string, info: moonloop.SignalInfo)"

private let signalDetails =
  "Signals of one number that come before the handler could be called are one call, with a count. "
  + "Every handle of a signal hears of it, on whatever loop. As long as there is one the signal "
  + "has no other effect; after the last, what the program did before is done again."

private let signalErrors =
  "Raises an error for a signal that is unknown, or that cannot be handled; it says why."

private func signalOptionDocs(isAdded: Bool) -> [LuaParameter] {
  [
    LuaParameter("[1]", "string|integer|(string|integer)[]", "The signals."),
    LuaParameter("[2]", signalHandler, "The handler."),
  ] + itemOptionDocs(isAdded: isAdded)
}

/// What the handler of a signal gets.
let signalInfoRecord = LuaParameter(
  "moonloop.SignalInfo", "table", "What is known of a signal that has come.",
  fields: [
    LuaParameter("number", "integer", "The signal's number."),
    LuaParameter("count", "integer", "How many became one call, as far as the system tells."),
    LuaParameter("pid", "integer", "The process that sent the last; 0: the kernel."),
    LuaParameter("uid", "integer", "The user of that process."),
  ])
