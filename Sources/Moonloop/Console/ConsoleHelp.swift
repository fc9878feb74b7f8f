// The text that `help` and completion read: docs/types and the list of pages, as of when the
// program was built.

internal import Glibc
internal import LuaEmbed
internal import MoonloopLua

/// `reference()`: a list of `{ name, file, text }`, in the order of the reference. The
/// text may be packed.
let consoleReference: LuaRawFunction = { L, context in
  host(L, context, "reference") { call in
    let stack = call.stack
    var count = 0
    let files = UnsafeBufferPointer(start: cmo_reference(&count), count: count)
    stack.push(list: files) { file in
      stack.newTable(fields: 3)
      stack.setField("name", String(cString: file.module))
      stack.setField("file", String(cString: file.chunk))
      stack.push("text")
      stack.push(bytes: UnsafeRawBufferPointer(start: file.text, count: strlen(file.text)))
      stack.rawSet(-3)
    }
    return 1
  }
}

/// `pages()`: docs/README.md.
let consolePages: LuaRawFunction = { L, context in
  hostValue(L, context, "pages") { _ in String(cString: cmo_pages()) }
}
