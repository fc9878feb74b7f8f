// What `moonloop.reload`, which is written in Lua, gets from the host by `require
// "moonloop.generation"`. A load begins, and is committed or rolled back, in one call-out.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

let generationModule = LuaModule("moonloop.generation", generationEntries)

private let generationEntries: [LuaEntry] = [
  .function("begin", generationBegin), .function("commit", generationCommit),
  .function("undo", generationUndo), .function("number", generationNumber),
  .function("enter", generationEnter), .function("leave", generationLeave),
  .function("outside", generationOutside), .function("report", generationReport),
  .function("tell", generationTell), .function("at", generationAt),
  .function("file", generationFile), .function("chunk", generationChunk),
  .function("is_script", generationIsScript),
]

/// `begin()`: what is made from now on belongs to the next generation.
private let generationBegin: LuaRawFunction = { L, context in
  hostAction(L, context, "begin") { call in
    let runtime = call.runtime
    if runtime.generations.load == nil { runtime.generations.load = GenerationLoad(runtime) }
  }
}

/// `commit()`: how many handles were kept, made and ended.
private let generationCommit: LuaRawFunction = { L, context in
  host(L, context, "commit") { call in
    guard let counts = call.runtime.generations.load?.commit(call.runtime) else { return 0 }
    call.stack.push(counts.kept)
    call.stack.push(counts.made)
    call.stack.push(counts.ended)
    return 3
  }
}

/// `undo()`: nothing was loaded.
private let generationUndo: LuaRawFunction = { L, context in
  hostAction(L, context, "undo") { $0.runtime.generations.load?.rollBack($0.runtime) }
}

private let generationNumber: LuaRawFunction = { L, context in
  hostValue(L, context, "number") { Int($0.runtime.generations.number) }
}

/// `file()`: the program's file; nil if it cannot be reloaded.
private let generationFile: LuaRawFunction = { L, context in
  host(L, context, "file") { call in
    if let path = call.runtime.generations.file?.path {
      call.stack.push(path)
    } else {
      call.stack.pushNil()
    }
    return 1
  }
}

/// `is_script(path)`: whether this is the program's file, whatever its path.
private let generationIsScript: LuaRawFunction = { L, context in
  hostValue(L, context, "is_script") { call in
    var isSame = false
    if let file = call.runtime.generations.file?.path, let path = call.stack.string(1) {
      isSame = Sockets.isSameFile(file, path)
    }
    return isSame
  }
}

/// `chunk()`: the compiled text of the program's file, whatever its path; or nil and why not.
private let generationChunk: LuaRawFunction = { L, context in
  host(L, context, "chunk") { call in
    guard let path = call.runtime.generations.file?.path else {
      throw call.mistake("there is no file to reload")
    }
    do throws(SystemError) {
      return call.loadChunk(WorkerText.withoutMarks(try WorkerText.read(path)), path)
    } catch {
      return Int32(call.stack.pushFailure("\(path): \(error.message)", error.name))
    }
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

/// `enter()`: the body of a module runs; what it makes belongs to the generation.
private let generationEnter: LuaRawFunction = { L, context in
  hostAction(L, context, "enter") { $0.runtime.generations.bodies.append($0.runtime.running) }
}

private let generationLeave: LuaRawFunction = { L, context in
  hostAction(L, context, "leave") { _ = $0.runtime.generations.bodies.popLast() }
}

/// `outside(flag)`: whether what is made from now on belongs to no generation.
private let generationOutside: LuaRawFunction = { L, context in
  hostAction(L, context, "outside") { $0.runtime.generations.isOutside = $0.stack.boolean(1) }
}

/// `report(message)`: reports an error like one of a handler.
private let generationReport: LuaRawFunction = { L, context in
  hostAction(L, context, "report") {
    $0.runtime.report(LuaError(message: $0.stack.string(1) ?? "?"), .chunk)
  }
}

/// `tell(text)`: writes a line to standard error, in order with the reports.
private let generationTell: LuaRawFunction = { L, context in
  hostAction(L, context, "tell") { $0.runtime.errors.write($0.stack.string(1) ?? "?") }
}

/// `at([file, line])`: what our Lua modules make from now on counts as made there.
private let generationAt: LuaRawFunction = { L, context in
  hostAction(L, context, "at") { call in
    let line = call.stack.integer(2) ?? 0
    call.stack.setMaker(call.stack.string(1), line: Int32(clamping: line))
  }
}
