// Runs a program of several files on a virtual clock, and reloads it after changes of the files;
// keeps its output, and what it left.

import Foundation
import Moonloop

/// The outcome.
struct ReloadRun {
  var lines: [String] = []
  var reports: [String] = []
  /// What was there when the run had ended.
  var references = 0
  var memory = 0

  /// A change of files, and the load after it.
  struct Step {
    /// Seconds after the start.
    let time: Double
    /// The files from then on, by name.
    let files: [String: String]
  }

  /// Runs `app.lua`. It has `print`, whose output is collected, and `FOLDER`.
  /// - Parameters:
  ///   - steps: After each, the result of `ml.reload()` is printed.
  ///   - loads: How many more times it is loaded, as fast as possible.
  ///   - seconds: When the run ends.
  ///   - endsAtError: Whether an error of the main chunk ends the program, as that of `run`.
  static func of(
    _ files: [String: String], _ steps: [Step] = [], loads: Int = 0, seconds: Double = 10,
    endsAtError: Bool = false
  ) throws -> ReloadRun {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("moonloop-reload-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try write(files, folder)
    var run = ReloadRun()
    try Loop.isolated(clock: .virtual) { loop in
      let state = try LuaState(on: loop)
      defer { state.shutDown() }
      let runtime = state.runtime!
      let tell = Lines()
      runtime.errors.write = { tell.reports.append(short($0)) }
      state.register("emit") { (line: String) in
        tell.lines.append(short(line))
      }
      try state.run(prelude.replacing("FOLDER_PATH", with: folder))
      for step in steps {
        loop.schedule(after: .seconds(step.time), name: "the driver") { _ in
          try? write(step.files, folder)
          try? state.run("reload_now()")
        }
      }
      if loads > 0 {
        loop.schedule(after: .seconds(1), name: "the driver") { _ in
          try? state.run("reload_often(\(loads))")
        }
      }
      loop.schedule(after: .seconds(seconds), name: "the end") { timer in timer.loop?.stop() }
      runtime.mainChunk.endsAtError = endsAtError
      let path = folder + "/app.lua"
      runtime.generations.allowReloads(of: path) { _ in 0 }
      let text = try String(contentsOfFile: path, encoding: .utf8)
      try runtime.mainChunk.start(chunk: text, name: "@" + path)
      loop.run(for: .seconds(seconds + 1))
      state.collect()
      state.collect()
      run.references = try state.evaluate("return registry_count()")
      run.memory = try state.evaluate("return math.floor(collectgarbage 'count')")
      run.lines = tell.lines
      run.reports = tell.reports
    }
    return run
  }

  private final class Lines {
    var lines: [String] = []
    var reports: [String] = []
  }

  /// The text with plain names of files; Lua writes three dots for the start of a long one.
  private static func short(_ text: String) -> String {
    text.replacing(/\S*moonloop-reload-[-\w]+\//, with: "")
      .replacing(/\.\.\.loop-reload-[-\w]+\//, with: "")
  }

  private static func write(_ files: [String: String], _ folder: String) throws {
    for (name, text) in files {
      try text.write(toFile: folder + "/" + name, atomically: true, encoding: .utf8)
    }
  }

  /// What the driver makes belongs to no generation.
  private static let prelude = """
    FOLDER = "FOLDER_PATH"
    package.path = FOLDER .. "/?.lua;" .. package.path
    local ml = require "moonloop"
    local generation = require "moonloop.generation"
    function print(...)
      local texts = table.pack(...)
      for i = 1, texts.n do texts[i] = tostring(texts[i]) end
      emit(table.concat(texts, " "))
    end
    function reload_now()
      generation.outside(true)
      ml.current():task(function()
        local done, message, code = ml.reload()
        if done then
          print(("generation %d: %d kept, %d made, %d ended"):format(
            done.generation, done.kept, done.made, done.ended))
        else
          print("failed: " .. message, code)
        end
      end)
      generation.outside(false)
    end
    function reload_often(count)
      generation.outside(true)
      ml.current():task(function()
        for _ = 1, count do assert(ml.reload()) end
        print("loaded", ml.reload.generation())
      end)
      generation.outside(false)
    end
    function registry_count()
      local count = 0
      for key, value in pairs(debug.getregistry()) do
        if math.type(key) == "integer" and type(value) ~= "number" and value ~= false then
          count = count + 1
        end
      end
      return count
    end
    """
}
