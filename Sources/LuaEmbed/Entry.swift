// What scripts see of the host as data: functions, methods and fields, each declared once together
// with its documentation, from which the manual and the editor's annotations are made.

/// A value in the documentation of an entry.
package struct LuaParameter: Sendable, Equatable {
  package let name: String
  /// In the words of LuaLS: "number", "string|string[]", "fun(timer: moonloop.Timer)".
  package let type: String
  package let unit: String?
  package let summary: String
  package let isOptional: Bool
  /// The options, if this is a table of them; the handler's name is "[1]".
  package let fields: [LuaParameter]

  package init(
    _ name: String, _ type: String, unit: String? = nil, _ summary: String,
    optional: Bool = false, fields: [LuaParameter] = []
  ) {
    self.name = name
    self.type = type
    self.unit = unit
    self.summary = summary
    isOptional = optional
    self.fields = fields
  }
}

/// All that is to be said of an entry. Made when somebody reads it, never when a state opens.
package struct LuaDocs: Sendable {
  /// One sentence.
  package let summary: String
  /// Edge cases: what else must be known, in whole sentences; may be empty.
  package let details: String
  package let parameters: [LuaParameter]
  /// What it gives; of a field, its value.
  package let returns: [LuaParameter]
  /// What it raises or returns as `nil, message, code`; a sentence each.
  package let errors: [String]
  package let yields: Bool
  /// Other ways to call it, as LuaLS writes them: "fun(self: moonloop.Loop, mode: string)".
  package let overloads: [String]
  /// Runs as it stands after `local ml = require "moonloop" local loop = ml.current()`. What it
  /// prints stands behind `-->` in the order of printing.
  package let example: String

  package init(
    _ summary: String, details: String = "", parameters: [LuaParameter] = [],
    returns: [LuaParameter] = [], errors: [String] = [], yields: Bool = false,
    overloads: [String] = [], example: String = ""
  ) {
    self.summary = summary
    self.details = details
    self.parameters = parameters
    self.returns = returns
    self.errors = errors
    self.yields = yields
    self.overloads = overloads
    self.example = example
  }
}

/// One function, method or field that scripts see.
package struct LuaEntry: Sendable {
  package enum Form: String, Sendable { case function, method, field, metamethod }

  package let form: Form
  package let name: StaticString
  package let function: LuaRawFunction
  /// Of a field: how it is set. Of a function or method: its second half; see
  /// `LuaStack.push(function:then:)`.
  package let second: LuaRawFunction?
  private let makeDocs: (@Sendable () -> LuaDocs)?

  private init(
    _ form: Form, _ name: StaticString, _ function: LuaRawFunction, _ second: LuaRawFunction?,
    _ docs: (@Sendable () -> LuaDocs)?
  ) {
    self.form = form
    self.name = name
    self.function = function
    self.second = second
    makeDocs = docs
  }

  /// A function of a module, called with a dot.
  package static func function(
    _ name: StaticString, _ function: LuaRawFunction, docs: (@Sendable () -> LuaDocs)? = nil
  ) -> LuaEntry { LuaEntry(.function, name, function, nil, docs) }

  /// The same in two halves, between which a function of Lua is called.
  package static func function(
    _ name: StaticString, _ function: LuaRawFunction, then second: LuaRawFunction,
    docs: (@Sendable () -> LuaDocs)? = nil
  ) -> LuaEntry { LuaEntry(.function, name, function, second, docs) }

  /// A method of a handle, called with a colon.
  package static func method(
    _ name: StaticString, _ function: LuaRawFunction, docs: (@Sendable () -> LuaDocs)? = nil
  ) -> LuaEntry { LuaEntry(.method, name, function, nil, docs) }

  /// The same in two halves, between which a function of Lua is called, or a wait lies.
  package static func method(
    _ name: StaticString, _ function: LuaRawFunction, then second: LuaRawFunction,
    docs: (@Sendable () -> LuaDocs)? = nil
  ) -> LuaEntry { LuaEntry(.method, name, function, second, docs) }

  /// A field of a handle that is read: the function gets the handle.
  package static func field(
    _ name: StaticString, _ getter: LuaRawFunction, docs: (@Sendable () -> LuaDocs)? = nil
  ) -> LuaEntry { LuaEntry(.field, name, getter, nil, docs) }

  /// A field that can be set, too: the second function gets the handle and the value.
  package static func field(
    _ name: StaticString, _ getter: LuaRawFunction, set setter: LuaRawFunction,
    docs: (@Sendable () -> LuaDocs)? = nil
  ) -> LuaEntry { LuaEntry(.field, name, getter, setter, docs) }

  /// Such as `__tostring`, `__close`, `__eq`, `__len`.
  package static func metamethod(
    _ name: StaticString, _ function: LuaRawFunction, docs: (@Sendable () -> LuaDocs)? = nil
  ) -> LuaEntry { LuaEntry(.metamethod, name, function, nil, docs) }

  /// The same in two halves, between which a wait lies.
  package static func metamethod(
    _ name: StaticString, _ function: LuaRawFunction, then second: LuaRawFunction
  ) -> LuaEntry { LuaEntry(.metamethod, name, function, second, nil) }

  /// The documentation; nil if there is none.
  package var docs: LuaDocs? { makeDocs?() }

  /// Such as `timer(options) -> Timer`.
  package var signature: String {
    guard let docs, form != .field else { return "\(name)" }
    let inputs = docs.parameters.map { $0.isOptional ? "[\($0.name)]" : $0.name }
    let outputs = docs.returns.map(\.type)
    let results = outputs.isEmpty ? "" : " -> " + outputs.joined(separator: ", ")
    return "\(name)(\(inputs.joined(separator: ", ")))\(results)"
  }

  /// What is missing of its documentation; empty when it is whole.
  package var gaps: [String] {
    guard let docs else { return form == .metamethod ? [] : ["documentation"] }
    var gaps: [String] = []
    if docs.summary.count > 120 || !docs.summary.hasSuffix(".") { gaps.append("summary") }
    if docs.example.isEmpty && form != .metamethod { gaps.append("example") }
    if form == .field && docs.returns.count != 1 { gaps.append("value") }
    for value in docs.parameters + docs.parameters.flatMap(\.fields) + docs.returns {
      if value.summary.isEmpty { gaps.append("summary of \(value.name)") }
      if value.type.isEmpty { gaps.append("type of \(value.name)") }
    }
    return gaps
  }
}
