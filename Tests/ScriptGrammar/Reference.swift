// docs/types as `help` reads it: what is documented, for tests that need every entry.

package import LuaEmbed
internal import Moonloop
internal import MoonloopCore
internal import TestSupport

/// A parameter, or an option in a table.
package struct DocumentedValue: Sendable {
  package let name: String
  package let type: String
  package let isOptional: Bool
  /// The options, if this is a table of them; the handler's name is "[1]".
  package var fields: [DocumentedValue] = []
}

/// A function, method, field, or call of a handle or of a table.
package struct DocumentedEntry: Sendable, CustomStringConvertible {
  package enum Form: String { case function, method, field, call }

  package let form: Form
  /// What the documentation calls a handle: `timer` in `timer:again(delay)`.
  package let receiver: String
  /// Such as "moonloop.Timer".
  package let classType: String
  package let name: String
  package let signature: String
  package let example: String
  /// The page of the reference.
  package let page: String
  /// A field's own type; for a function, the type of its first result.
  package let type: String
  package let isSettable: Bool
  package var parameters: [DocumentedValue] = []

  package var description: String { signature }
  /// Whether it is written in Swift, where random and failing calls look for mistakes.
  package var isNative: Bool {
    let others = ["http", "json", "log", "brokers", "fs", "files", "configuration", "compat"]
    return !isSpec && !others.contains(page)
  }
  /// Whether it exists in tests only, so that its example is a spec file.
  package var isSpec: Bool { page.hasPrefix("test") }
  /// `timer:again`, `ml.net`, `reply`.
  package var path: String { String(signature.prefix { $0 != "(" }) }
}

package enum Reference {
  /// Runs a chunk in a state that has the reference as `all`, its module as `reference`, and
  /// Tests/Reference/pages.lua as `pages`.
  package static func evaluate<Value: LuaReadable>(_ chunk: String) throws -> Value {
    try Loop.isolated(clock: .virtual) { loop in
      let lua = try LuaState(on: loop)
      defer { lua.shutDown() }
      if let runtime = lua.runtime {
        runtime.state.openHandleKinds()
        runtime.console.open()
        TestBed.open(in: runtime)
      }
      lua.set("source", RepositoryFile(path: "Tests/Reference/pages.lua").text ?? "")
      return try lua.evaluate(
        """
        reference = require "moonloop.reference"
        all = reference.all()
        pages = assert(load(source, "@Tests/Reference/pages.lua"))()
        \(chunk)
        """)
    }
  }

  /// All entries, each under its own class only.
  package static let entries = (try? entries(areInherited: false)) ?? []

  /// - Parameter areInherited: Whether a timer also has the entries of all items.
  package static func entries(areInherited: Bool) throws -> [DocumentedEntry] {
    let rows: [[String]] = try evaluate(
      """
      local rows = {}
      local function add(...) rows[#rows + 1] = { ... } end
      local function add_value(form, value)
        add(form, value.name, value.type, value.optional and "optional" or "")
      end
      local function add_entry(class, entry)
        local own = setmetatable({ class = class }, { __index = entry })
        local result = entry.returns[1]
        local settable = entry.details:find "Settable" and "yes" or ""
        add(entry.form, class.receiver, entry.name, reference.signature(own), entry.example,
          entry.type or result and result.type or "", settable, class.type, entry.page.name)
        for _, value in ipairs(entry.parameters) do
          add_value("parameter", value)
          for _, field in ipairs(reference.fields(all, value) or {}) do
            add_value("option", field)
          end
        end
      end
      for _, class in ipairs(all.classes) do
        local from = class.receiver and class
        while from do
          for _, entry in ipairs(from.entries) do add_entry(class, entry) end
          from = \(areInherited) and all.classes[from.parent]
        end
      end
      return rows
      """)
    var entries: [DocumentedEntry] = []
    for row in rows {
      if let form = DocumentedEntry.Form(rawValue: row[0]) {
        entries.append(
          DocumentedEntry(
            form: form, receiver: row[1], classType: row[7], name: row[2], signature: row[3],
            example: row[4], page: row[8], type: row[5], isSettable: !row[6].isEmpty))
        continue
      }
      let value = DocumentedValue(name: row[1], type: row[2], isOptional: !row[3].isEmpty)
      var parameters = entries[entries.count - 1].parameters
      if row[0] == "parameter" {
        parameters.append(value)
      } else {
        parameters[parameters.count - 1].fields.append(value)
      }
      entries[entries.count - 1].parameters = parameters
    }
    return entries
  }
}
