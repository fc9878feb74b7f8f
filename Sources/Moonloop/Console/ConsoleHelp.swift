// What the console knows of our functions and handles: the same data that the reference is made of.

internal import LuaEmbed

let consoleHelpEntries: [LuaEntry] = [
  .function("reference", consoleReference), .function("type_of", consoleTypeOf),
]

/// `reference()`: all groups of entries, as tables.
private let consoleReference: LuaRawFunction = { L, context in
  host(L, context, "reference") { call in
    let stack = call.stack
    stack.pushList(entryGroups) { group in
      stack.setField("title", group.title)
      stack.setField("type", group.type)
      stack.setField("receiver", group.receiver)
      stack.setField("summary", group.summary)
      if let parent = group.parent { stack.setField("parent", parent) }
      stack.push("entries")
      stack.pushList(group.entries.filter { $0.docs != nil }) { push($0, on: stack) }
      stack.rawSet(-3)
    }
    return 1
  }
}

/// Fills the table on top with what an entry is.
private func push(_ entry: LuaEntry, on stack: LuaStack) {
  guard let docs = entry.docs else { return }
  stack.setField("form", entry.form.rawValue)
  stack.setField("name", "\(entry.name)")
  stack.setField("signature", entry.signature)
  stack.setField("summary", docs.summary)
  stack.setField("details", docs.details)
  stack.setField("example", docs.example)
  stack.setField("yields", docs.yields)
  stack.push("parameters")
  push(docs.parameters, on: stack)
  stack.rawSet(-3)
  stack.push("returns")
  push(docs.returns, on: stack)
  stack.rawSet(-3)
  stack.push("errors")
  stack.newTable(items: Int32(clamping: docs.errors.count))
  for (place, text) in docs.errors.enumerated() {
    stack.push(text)
    stack.rawSet(-2, item: Int64(place) + 1)
  }
  stack.rawSet(-3)
}

private func push(_ values: [LuaParameter], on stack: LuaStack) {
  stack.pushList(values) { value in
    stack.setField("name", value.name)
    stack.setField("type", value.type)
    stack.setField("summary", value.summary)
    stack.setField("optional", value.isOptional)
    if let unit = value.unit { stack.setField("unit", unit) }
    stack.push("fields")
    push(value.fields, on: stack)
    stack.rawSet(-3)
  }
}

extension LuaStack {
  /// Pushes a list of tables, each filled by a body. [-0, +1]
  fileprivate func pushList<Element>(_ list: [Element], _ fill: (Element) -> Void) {
    _ = reserve(16)
    newTable(items: Int32(clamping: list.count))
    for (place, element) in list.enumerated() {
      newTable(fields: 8)
      fill(element)
      rawSet(-2, item: Int64(place) + 1)
    }
  }
}

/// `type_of(value)`: the type of a handle as the reference calls it; nil if it is none of ours.
private let consoleTypeOf: LuaRawFunction = { L, context in
  host(L, context, "type_of") { call in
    if let (_, tag) = call.stack.taggedHandle(1) {
      let kind = type(of: call.runtime.itemKinds[tag: tag])
      if let handles = kind.handles { call.stack.push(handles.type) }
      return 1
    }
    let kinds = call.kinds
    let types: [(kind: LuaHandleKind, type: StaticString)] = [
      (kinds.loop, "moonloop.Loop"), (kinds.timer, "moonloop.Timer"),
      (kinds.task, "moonloop.Task"), (kinds.remotePort, "moonloop.RemotePort"),
      (kinds.reply, "moonloop.Reply"), (kinds.request, "moonloop.Request"),
      (kinds.channel, "moonloop.Channel"), (kinds.semaphore, "moonloop.Semaphore"),
      (kinds.permit, "moonloop.Permit"), (kinds.process, "moonloop.Process"),
      (kinds.terminal, "moonloop.Tty"),
    ]
    guard let found = types.first(where: { $0.kind.handle(call.stack.L, 1) != nil }) else {
      return 0
    }
    call.stack.push(found.type)
    return 1
  }
}
