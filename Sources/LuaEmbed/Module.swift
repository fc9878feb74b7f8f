// A Lua module as data: its entries with their documentation, from which the manual, the editor's
// annotations and the usage texts are made.

internal import CLuaShims

/// A value in the documentation of an entry.
package struct LuaParameter: Sendable, Equatable {
  package let name: String
  /// In the words of LuaLS: "number", "string|string[]", "fun(timer: Timer)".
  package let type: String
  package let unit: String?
  package let summary: String
  package let isOptional: Bool

  package init(
    _ name: String, _ type: String, unit: String? = nil, _ summary: String, optional: Bool = false
  ) {
    self.name = name
    self.type = type
    self.unit = unit
    self.summary = summary
    isOptional = optional
  }
}

/// One function, method or field of a module, with all that is to be said of it.
package struct LuaEntry: Sendable {
  package enum Form: String, Sendable { case function, method, getter, setter, metamethod }

  package let form: Form
  package let name: String
  /// One sentence.
  package let summary: String
  package let parameters: [LuaParameter]
  package let returns: [LuaParameter]
  /// What it raises or returns as `nil, message, code`; a sentence each.
  package let errors: [String]
  package let yields: Bool
  /// Runs as it stands after `local ml = require "moonloop" local loop = ml.current()`.
  package let example: String
  package let function: LuaRawFunction

  package init(
    _ form: Form, _ name: String, _ summary: String, parameters: [LuaParameter] = [],
    returns: [LuaParameter] = [], errors: [String] = [], yields: Bool = false,
    example: String = "", _ function: LuaRawFunction
  ) {
    self.form = form
    self.name = name
    self.summary = summary
    self.parameters = parameters
    self.returns = returns
    self.errors = errors
    self.yields = yields
    self.example = example
    self.function = function
  }

  /// Such as `timer(options) -> Timer`.
  package var signature: String {
    let inputs = parameters.map { $0.isOptional ? "[\($0.name)]" : $0.name }
    let outputs = returns.map(\.type)
    let results = outputs.isEmpty ? "" : " -> " + outputs.joined(separator: ", ")
    return "\(name)(\(inputs.joined(separator: ", ")))\(results)"
  }

  /// What is missing of its documentation; empty when it is whole.
  package var gaps: [String] {
    var gaps: [String] = []
    if form == .metamethod { return gaps }
    if summary.isEmpty || summary.count > 120 || !summary.hasSuffix(".") { gaps.append("summary") }
    if example.isEmpty && form != .setter { gaps.append("example") }
    for parameter in parameters + returns where parameter.summary.isEmpty {
      gaps.append("summary of \(parameter.name)")
    }
    return gaps
  }

  /// The entry in LuaLS annotations, as a member of `owner`.
  package func annotations(owner: String) -> String {
    var lines = ["---\(summary)"] + errors.map { "---\($0)" }
    if yields { lines.append("---@async") }
    for parameter in parameters {
      let unit = parameter.unit.map { " (\($0))" } ?? ""
      let mark = parameter.isOptional ? "?" : ""
      lines.append(
        "---@param \(parameter.name)\(mark) \(parameter.type) \(parameter.summary)\(unit)")
    }
    for value in returns {
      lines.append("---@return \(value.type) \(value.name) \(value.summary)")
    }
    let separator = form == .method ? ":" : "."
    let names = parameters.map(\.name).joined(separator: ", ")
    lines.append("function \(owner)\(separator)\(name)(\(names)) end")
    return lines.joined(separator: "\n")
  }
}

/// A module: a table of functions that `require` gives.
package struct LuaModule: Sendable {
  package let name: String
  package let summary: String
  package let entries: [LuaEntry]

  package init(_ name: String, _ summary: String, _ entries: [LuaEntry]) {
    self.name = name
    self.summary = summary
    self.entries = entries
  }
}

extension LuaEntry {
  /// The same as a member of a kind of handle.
  package var member: LuaHandleMember {
    switch form {
    case .function, .method: .method(name, function)
    case .getter: .getter(name, function)
    case .setter: .setter(name, function)
    case .metamethod: .metamethod(name, function)
    }
  }
}

extension LuaState {
  /// Pushes a new table with the functions of a module. [-0, +1, raises: -]
  package func push(module: LuaModule, on stack: LuaStack) {
    stack.newTable(fields: Int32(module.entries.count))
    for entry in module.entries {
      stack.push(entry.name)
      stack.push(function: entry.function)
      stack.rawSet(-3)
    }
  }

  /// Lets `require(name)` give the module; its table is made now. [-0, +0, raises: -]
  package func preload(_ module: LuaModule) {
    let stack = self.stack
    push(module: module, on: stack)
    let reference = LuaReference(popping: stack)
    LuaHostFunction(module.name, self) { stack in
      stack.push(reference)
      return 1
    }.push(on: stack)
    setPreload(module.name, on: stack)
  }

  /// Lets `require(name)` compile and run text that the program holds for ever.
  /// - Parameter chunkName: Such as `@moonloop/task.lua`.
  package func preload(_ name: String, source: UnsafeBufferPointer<CChar>, chunkName: String) {
    let stack = self.stack
    cml_push_source_loader(stack.L, source.baseAddress, source.count, chunkName)
    setPreload(name, on: stack)
  }

  /// Pops a loader into package.preload; no effect if a script took the table away. [-1, +0, -]
  private func setPreload(_ name: String, on stack: LuaStack) {
    stack.push("_PRELOAD")
    guard stack.rawGet(registryIndex) == .table else { return stack.pop(2) }
    stack.push(name)
    stack.rotate(-3, -1)
    stack.rawSet(-3)
    stack.pop()
  }
}
