// A program of Foundation with plug-ins in Lua: they load, unload and reload on the run loop of
// its main thread, beside timers of Foundation, the main queue and the main actor.
// docs/hosting.md explains it; `ProgramTests` runs it and reads what it prints.

import CoreFoundation
import Foundation
import Moonloop
import MoonloopFoundation

let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

/// Writes a plug-in, as an editor does while the program runs.
func write(_ name: String, _ text: String) throws -> URL {
  let file = folder.appendingPathComponent("\(name).lua")
  try text.write(to: file, atomically: true, encoding: .utf8)
  return file
}

let clock = """
  local ml = require "moonloop"
  local ticks = 0
  ml.current():every(0.01, function(timer)
    ticks = ticks + 1
    say("tick " .. ticks)
    if ticks == 2 then unload() end
  end)
  listen(function(text) say("heard " .. text) end)
  """

let loop = Loop.main
let attachment = try loop.attach(to: .main)
let plugins = Plugins(on: loop)

plugins.load(try write("clock", clock))
plugins.load(try write("greeter", "listen(function(text) say('hello ' .. text) end)"))
plugins.load(try write("wrong", "listen(function("))
print("loaded: \(plugins.names)")
plugins.tell("all")

// The program goes on in steps, each started by another part of Foundation.
_ = Timer.scheduledTimer(withTimeInterval: 0.1, repeats: false) { _ in
  MainActor.assumeIsolated {
    print("timer: \(plugins.names)")
    if let file = try? write("greeter", "listen(function(text) say('good day ' .. text) end)") {
      plugins.load(file)
    }
    DispatchQueue.main.async {
      plugins.tell("reloaded")
      Task { @MainActor in
        plugins.unload("greeter")
        print("actor: \(plugins.names)")
        CFRunLoopStop(CFRunLoopGetMain())
      }
    }
  }
}
CFRunLoopRun()

// While nothing happens, no thread wakes up.
var wakeUps = 0
loop.observe(.afterWaiting) { _, _ in wakeUps += 1 }
RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.2))
print("few wake-ups: \(wakeUps <= 2)")
attachment.detach()
