// `moonloop run --guest`: grants, limits, and the list of what is reached.

internal import LuaEmbed
internal import Moonloop
internal import MoonloopCore
internal import MoonloopSystem

extension RunSettings {
  /// The options of guests; without any, a guest has limits all the same.
  mutating func takeGuest(_ options: ScannedOptions) throws(UsageError) {
    guard options.has("--guest") else {
      for name in ["--allow", "--ask", "--isolate", "--list"] where options.has(name) {
        throw UsageError(message: "\(name): requires --guest", command: "run")
      }
      return
    }
    for name in ["--uv", "--watch", "--record", "--break-on-error", "-l", "-i"]
    where options.has(name) {
      throw UsageError(message: "\(name): is not available for guests", command: "run")
    }
    var grants = GuestGrants()
    for given in options.given where given.option.name == "--allow" {
      for word in (given.value ?? "").split(separator: ",", omittingEmptySubsequences: false) {
        do throws(GuestGrants.Mistake) { try grants.allow(String(word)) } catch {
          throw UsageError(message: "--allow: \(error.message)", command: "run")
        }
      }
    }
    if case .file(let path) = source { grants.setScript(String(cString: path)) }
    if options.has("--isolate") { try isolate(grants, options) }
    listsReach = options.has("--list")
    if options.has("--ask") && !listsReach { try ask(&grants) }
    guest = grants
    limits = limits.orUsual
    readsInit = false
    ignoresEnvironment = true
  }
}

extension RunSettings {
  private mutating func isolate(
    _ grants: GuestGrants, _ options: ScannedOptions
  ) throws(UsageError) {
    if options.has("--ask") {
      throw UsageError(
        message:
          "--ask: is not available with --isolate: a confined process cannot be given more later",
        command: "run")
    }
    for name in ["--trace-out", "--metrics"] where options.has(name) {
      throw UsageError(message: "\(name): is not available for isolated guests", command: "run")
    }
    do throws(GuestGrants.Mistake) { try grants.requireIsolable() } catch {
      throw UsageError(message: "--allow: \(error.message)", command: "run")
    }
    isolates = true
  }

  /// Has a person at the terminal asked for what is not granted.
  private func ask(_ grants: inout GuestGrants) throws(UsageError) {
    for name in ["fd", "tty"] where grants.words.contains(name) {
      throw UsageError(
        message: "--ask: is not available with --allow \(name), which could hide the questions",
        command: "run")
    }
    let script: String
    switch source {
    case .file(let path): script = String(cString: path)
    case .chunk: script = "-e"
    case .standardInput, .nothing: script = "-"
    }
    grants.ask(GuestPrompt.asker(script: script))
  }

  /// Confines the process, if that was asked for. Before it has threads, and after it has read the
  /// script.
  mutating func confine() throws(ScriptFailure) {
    guard isolates, let guest, let memory = limits.memory, let handles = limits.handles else {
      return
    }
    let holds: Confinement.Holds
    do throws(SystemError) {
      holds = try guest.confinement(memory: memory, handles: handles, files: []).apply()
    } catch { throw cannotIsolate("\(error.call): \(error.message)") }
    guard let limit = GuestGrants.memoryLimit(memory, in: holds.memory) else {
      throw cannotIsolate(GuestGrants.memoryRefusal(holds.memory))
    }
    limits.memory = limit
    Confinement.forgetEnvironment()
    if holds.landlock == 0 {
      writeToStandardError(
        "moonloop: warning: this kernel has no Landlock: only the grants limit access to files")
    }
  }

  private func cannotIsolate(_ reason: String) -> ScriptFailure {
    ScriptFailure(message: "cannot isolate the guest: \(reason)", status: ExitStatus.failure)
  }
}

extension Program {
  /// Prints what a guest with these grants can reach.
  /// - Returns: The exit status.
  static func listReach(_ settings: RunSettings) -> Int32 {
    do {
      let text = try Loop.isolated { loop in
        let state = try LuaState(on: loop, limits: settings.limits, guest: settings.guest!)
        defer { state.shutDown() }
        return try state.reach()
      }
      return Help.print(text)
    } catch {
      writeToStandardError("moonloop: \(error)")
      return ExitStatus.failure
    }
  }
}
