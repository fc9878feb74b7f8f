// Plug-ins of a program: Lua files, each in its own state, which come and go while it runs.

import Foundation
import Moonloop

/// The plug-ins of the program. Loop thread only.
final class Plugins {
  private let loop: Loop
  private var states: [String: LuaState] = [:]
  /// What the program calls in each of them.
  private var listeners: [String: LuaFunction] = [:]

  init(on loop: Loop) { self.loop = loop }

  /// Loads a plug-in in place of the one loaded under the same name.
  func load(_ file: URL) {
    let name = file.deletingPathExtension().lastPathComponent
    unload(name)
    do {
      let lua = try LuaState(on: loop, limits: LuaLimits(memory: 16 << 20, callout: .seconds(1)))
      register(name, in: lua)
      try lua.run(file: file.path)
      states[name] = lua
    } catch {
      print("\(name): \(error.message.components(separatedBy: "/").last ?? "")")
    }
  }

  private func register(_ name: String, in lua: LuaState) {
    lua.register("say") { (text: String) in print("\(name): \(text)") }
    lua.register("listen") { [unowned self] (f: LuaFunction) in listeners[name] = f }
    // Called by the state that it closes, so it takes effect when the call-out is over.
    lua.register("unload") { [unowned self] in unload(name) }
  }

  func unload(_ name: String) {
    listeners[name] = nil
    states.removeValue(forKey: name)?.shutDown()
  }

  func tell(_ text: String) {
    for (_, listener) in listeners.sorted(by: { $0.key < $1.key }) {
      do { try listener(text) } catch { print("\(error)") }
    }
  }

  var names: [String] { states.keys.sorted() }
}
