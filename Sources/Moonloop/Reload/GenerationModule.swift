// What `moonloop.reload`, which is written in Lua, gets from the host by `require
// "moonloop.generation"`. A load begins, and is committed or rolled back, in one call-out.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

let generationModule = LuaModule("moonloop.generation", generationEntries)

private let generationEntries: [LuaEntry] = [
  .function("begin") { hostAction($0, $1, "begin", generationBegin) },
  .function("commit") { host($0, $1, "commit", generationCommit) },
  // `undo()`: nothing was loaded.
  .function("undo") {
    hostAction($0, $1, "undo") { $0.runtime.generations.load?.rollBack($0.runtime) }
  },
  .function("number") { hostValue($0, $1, "number") { Int($0.runtime.generations.number) } },
  // `enter()`: the body of a module runs; what it makes belongs to the generation.
  .function("enter") {
    hostAction($0, $1, "enter") { $0.runtime.generations.bodies.append($0.runtime.running) }
  },
  .function("leave") {
    hostAction($0, $1, "leave") { _ = $0.runtime.generations.bodies.popLast() }
  },
  // `outside(flag)`: whether what is made from now on belongs to no generation.
  .function("outside") {
    hostAction($0, $1, "outside") { $0.runtime.generations.isOutside = $0.stack.boolean(1) }
  },
  // `report(message)`: reports an error of an unload handler.
  .function("report") {
    hostAction($0, $1, "report") {
      $0.runtime.report(LuaError(message: $0.stack.string(1) ?? "?"), .reload("an unload handler"))
    }
  },
  // `tell(text)`: writes a line to standard error, in order with the reports.
  .function("tell") {
    hostAction($0, $1, "tell") { $0.runtime.errors.write($0.stack.string(1) ?? "?") }
  },
  .function("at") { hostAction($0, $1, "at", generationAt) },
  // `file()`: the program's file; nil if it cannot be reloaded.
  .function("file") { hostValue($0, $1, "file") { $0.runtime.generations.file?.path } },
  .function("chunk") { host($0, $1, "chunk", generationChunk) },
  .function("is_script") { hostValue($0, $1, "is_script", generationIsScript) },
]

/// `begin()`: what is made from now on belongs to the next generation.
private func generationBegin(_ call: HostCall) throws {
  let runtime = call.runtime
  if runtime.generations.load == nil { runtime.generations.load = GenerationLoad(runtime) }
}

/// `commit()`: how many handles were kept, made and ended.
private func generationCommit(_ call: HostCall) throws -> Int32 {
  guard let counts = call.runtime.generations.load?.commit(call.runtime) else { return 0 }
  call.stack.push(counts.kept)
  call.stack.push(counts.made)
  call.stack.push(counts.ended)
  return 3
}

/// `is_script(path)`: whether this is the program's file, whatever its path.
private func generationIsScript(_ call: HostCall) throws -> some LuaPushable {
  var isSame = false
  if let file = call.runtime.generations.file?.path, let path = call.stack.string(1) {
    isSame = Sockets.isSameFile(file, path)
  }
  return isSame
}

/// `chunk()`: the compiled text of the program's file, whatever its path; or nil and why not.
private func generationChunk(_ call: HostCall) throws -> Int32 {
  guard let path = call.runtime.generations.file?.path else {
    throw call.mistake("there is no file to reload")
  }
  do throws(SystemError) {
    return call.loadChunk(WorkerText.withoutMarks(try WorkerText.read(path)), path)
  } catch {
    return Int32(call.stack.pushFailure("\(path): \(error.message)", error.name))
  }
}

extension HostCall {
  fileprivate func loadChunk(_ text: [UInt8], _ path: String) -> Int32 {
    text.withUnsafeBytes { bytes in
      do throws(LuaError) {
        try state.load(bytes: bytes, name: "@" + path, on: stack)
        return 1
      } catch {
        return Int32(stack.pushFailure(error.message, "ENOEXEC"))
      }
    }
  }
}

/// `at([file, line])`: what our Lua modules make from now on counts as made there.
private func generationAt(_ call: HostCall) throws {
  let line = call.stack.integer(2) ?? 0
  call.stack.setMaker(call.stack.string(1), line: Int32(clamping: line))
}
