// What a script gets from its command line: `arg`, `...`, and modules in its folder (D61).

internal import Moonloop

/// The command line as the script sees it.
struct ScriptArguments {
  private let settings: RunSettings
  private let count = ProgramArguments.count

  init(_ settings: RunSettings) { self.settings = settings }

  /// Sets `arg` and where `require` looks.
  ///
  /// As in `lua`, what is before `arg[0]` runs a script: the program and its options, without
  /// "run", since tools start their interpreter again with it.
  func set(on state: LuaState) {
    let stack = state.stack
    stack.newTable(fields: 8)
    let isNamed = settings.namesCommand
    for index in 0..<count where !(isNamed && index == 1) {
      push(index, on: stack)
      let isBefore = isNamed && index == 0 && settings.scriptIndex > 0
      stack.rawSet(-2, item: Int64(index - settings.scriptIndex + (isBefore ? 1 : 0)))
    }
    if case .chunk = settings.source {
      stack.push(settings.command.map { "moonloop \($0.name)" } ?? "(command line)")
      stack.rawSet(-2, item: 0)
    }
    if settings.command != nil {
      push(0, on: stack)
      stack.rawSet(-2, item: -1)
    }
    stack.popGlobal("arg")
    if case .file(let path) = settings.source { searchBeside(String(cString: path), stack) }
  }

  /// Pushes the arguments after the script.
  /// - Returns: Their number.
  func pushRest(on stack: LuaStack) -> Int {
    if let command = settings.command { return push(command, on: stack) }
    if settings.scriptIndex == 0 { return 0 }
    let rest = max(0, count - settings.scriptIndex - 1)
    guard stack.reserve(rest + 1) else { return 0 }
    for index in count - rest..<count { push(index, on: stack) }
    return rest
  }

  /// The number of options, the name and value of each, and the paths.
  private func push(_ command: LuaCommandArguments, on stack: LuaStack) -> Int {
    let count = 1 + 2 * command.options.count + command.paths.count
    guard stack.reserve(count + 1) else { return 0 }
    stack.push(command.options.count)
    for (name, value) in command.options {
      stack.push(name)
      switch value {
      case .text(let text): stack.push(text)
      case .seconds(let seconds): stack.push(seconds)
      case .flag(let flag): stack.push(flag)
      }
    }
    for index in command.paths { push(index, on: stack) }
    return count
  }

  private func push(_ index: Int, on stack: LuaStack) {
    stack.push(bytes: UnsafePointer(ProgramArguments[index]).bytes)
  }

  /// Makes `require` look in the script's folder first, for modules in Lua and in C.
  private func searchBeside(_ path: String, _ stack: LuaStack) {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
    // Lua's paths cannot quote these; such a folder is searched only if it is the current one.
    if folder.contains(where: { $0 == ";" || $0 == "?" }) { return }
    stack.pushGlobal("package")
    defer { stack.pop() }
    guard stack.type(-1) == .table else { return }
    prefix("path", "\(folder)?.lua;\(folder)?/init.lua;", stack)
    prefix("cpath", "\(folder)?.so;", stack)
  }

  private func prefix(_ field: StaticString, _ places: String, _ stack: LuaStack) {
    guard let present = stack.rawField(-1, field) else { return }
    stack.push(field)
    stack.push(places + present)
    stack.rawSet(-3)
  }
}
