// What a run does with its main chunk, in order: LUA_INIT, modules and chunks of the command line,
// the script, a prompt.

internal import Moonloop

extension ScriptRun {
  /// Says what follows from the settings for the main chunk.
  func prepare(_ text: ScriptText) {
    if settings.command == nil, text.name.hasPrefix("@") {
      runtime.generations.allowReloads(of: String(text.name.dropFirst())) { [settings] stack in
        ScriptArguments(settings).pushRest(on: stack)
      }
      if settings.watches { runtime.generations.watchFile() }
    }
    runtime.mainChunk.forConfigurations = settings.forConfigurations
    let mayEnd = !settings.watches && !settings.isConsole
    runtime.mainChunk.endsAtLimit = mayEnd
    runtime.mainChunk.endsAtError = mayEnd
  }

  private enum Step {
    case uv, prompt, script
    case prelude(Prelude)
  }

  /// Has the main chunk start one thing after the other.
  func takeSteps(_ text: ScriptText, _ state: LuaState) {
    var steps: [Step] = settings.offersUV ? [.uv] : []
    if settings.readsInit, let prelude = RunSettings.initialization {
      steps.append(.prelude(prelude))
    }
    if settings.isConsole { steps.append(.prompt) }
    steps += settings.preludes.map(Step.prelude)
    if case .nothing = settings.source {} else { steps.append(.script) }
    if settings.prompts { steps.append(.prompt) }
    // Unowned: the run lives as long as the program.
    runtime.mainChunk.start(steps: steps.count) { [unowned self, unowned state] place in
      do throws(LuaError) { try take(steps[place], text, state) } catch {
        if case .script = steps[place] { wasLoaded = false }
        return error
      }
      return nil
    }
  }

  private func take(
    _ step: Step, _ text: ScriptText, _ state: LuaState
  ) throws(LuaError) {
    switch step {
    case .uv: try state.run("require('moonloop.compat.uv').install()", name: "=moonloop")
    case .prompt: try openPrompt()
    case .script: try start(text)
    case .prelude(let prelude):
      try runtime.generations.outside { () throws(LuaError) in try start(prelude) }
    }
  }

  private func openPrompt() throws(LuaError) {
    try runtime.generations.outside { () throws(LuaError) in
      try runtime.mainChunk.start(
        chunk: "require('moonloop.console.repl').start()", name: "=moonloop")
    }
  }

  private func start(_ text: ScriptText) throws(LuaError) {
    track?.beginChunk(text.name)
    defer { track?.endChunk() }
    try runtime.mainChunk.start(bytes: text.bytes, name: text.name) { stack in
      ScriptArguments(settings).pushRest(on: stack)
    }
  }

  private func start(_ prelude: Prelude) throws(LuaError) {
    switch prelude {
    case .chunk(let text, let name):
      try runtime.mainChunk.start(bytes: text.bytes, name: name) { _ in 0 }
    case .file(let path): try start("return dofile(...)", with: path)
    case .library(let name): try start(requireLibrary, with: name, name: "=(command line)")
    case .warnings:
      try runtime.mainChunk.start(chunk: "warn '@on'", name: "=moonloop")
    }
  }
}

extension ScriptRun {
  /// Starts a chunk of our own with an argument; its errors are at a place that the user knows.
  private func start(
    _ chunk: StaticString, with argument: UnsafePointer<CChar>, name: String = "=moonloop"
  ) throws(LuaError) {
    let bytes = UnsafeRawBufferPointer(start: chunk.utf8Start, count: chunk.utf8CodeUnitCount)
    try runtime.mainChunk.start(bytes: bytes, name: name) { stack in
      stack.push(bytes: argument.bytes)
      return 1
    }
  }
}

/// What `-l NAME` and `-l GLOBAL=NAME` do; one line, as that of the option.
private let requireLibrary: StaticString = """
  local text = ... local global, name = text:match "^([^=]*)=(.*)$" \
  _G[global or text] = require(name or text)
  """
