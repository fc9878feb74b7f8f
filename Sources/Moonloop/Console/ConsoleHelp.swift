// The text that `help` and completion read: docs/types and the list of pages, as of when the
// program was built.

internal import LuaEmbed
internal import MoonloopLua

/// `reference()`: a list of `{ name, file, text }`, in the order of the reference.
let consoleReference: LuaRawFunction = { L, context in
  host(L, context, "reference") { call in
    let stack = call.stack
    var count = 0
    let files = UnsafeBufferPointer(start: cmo_reference(&count), count: count)
    stack.push(list: files) { file in
      stack.newTable(fields: 3)
      stack.setField("name", String(cString: file.module))
      stack.setField("file", String(cString: file.chunk))
      stack.setField("text", String(cString: file.text))
    }
    return 1
  }
}

/// `pages()`: docs/README.md.
let consolePages: LuaRawFunction = { L, context in
  hostValue(L, context, "pages") { _ in String(cString: cmo_pages()) }
}
