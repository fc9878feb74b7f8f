// What cannot be exposed: the sentence, and the place that it points at.

import SwiftSyntaxMacrosGenericTestSupport
import Testing

/// A member of a class, with the column of what is wrong with it.
private struct Refusal: CustomTestStringConvertible {
  let member: String
  let column: Int
  let message: String
  var testDescription: String { member }
}

private let refusals = [
  Refusal(
    member: "func f<T>(_ x: T) {}", column: 21,
    message: "a generic method cannot be exposed; name its type"),
  Refusal(
    member: "func f(_ x: some Sequence) {}", column: 27,
    message: "a generic method cannot be exposed; name its type"),
  Refusal(
    member: "func f() -> some Sequence { [1] }", column: 27,
    message: "an opaque result cannot be exposed; name its type"),
  Refusal(
    member: "func f(_ x: inout Int) {}", column: 27,
    message: "an 'inout' parameter cannot be exposed, because Lua passes values"),
  Refusal(
    member: "func f(_ x: Int...) {}", column: 30,
    message: "a variadic parameter cannot be exposed; take 'LuaArguments'"),
  Refusal(
    member: "func f(_ x: @escaping () -> Void) {}", column: 27,
    message: "a closure parameter cannot be exposed; take a 'LuaFunction'"),
  Refusal(
    member: "func f() async {}", column: 24,
    message: "an async member cannot be exposed; register a function by 'registerAsync'"),
  Refusal(
    member: "var f: Int { get async { 1 } }", column: 32,
    message: "an async member cannot be exposed; register a function by 'registerAsync'"),
  Refusal(
    member: "func end() {}", column: 20,
    message: "'end' is a reserved word of Lua; give another name: '@LuaExposed(\"…\")'"),
  Refusal(
    member: "func größe() {}", column: 20,
    message: "'größe' is not a valid name in Lua; use ASCII letters, digits and '_'"),
  Refusal(
    member: "init?(x: Int) {}", column: 19,
    message: "an 'init?' cannot be exposed; throw a 'LuaFailure' instead of returning nil"),
  Refusal(
    member: "static var f = 1", column: 22,
    message: "a static variable cannot be exposed, because it is read once, when the type is "
      + "registered; make it 'let', or expose a static function"),
  Refusal(
    member: "let (a, b) = (1, 2)", column: 19,
    message: "'@LuaExposed' is for one variable at a time"),
  Refusal(
    member: "static func > (a: C, b: C) -> Bool { true }", column: 27,
    message:
      "'>' cannot be exposed: Lua asks '<', with the operands exchanged; expose that"),
  Refusal(
    member: "static func != (a: C, b: C) -> Bool { true }", column: 27,
    message: "'!=' cannot be exposed: Lua asks '=='; expose that"),
  Refusal(
    member: "static func === (a: C, b: C) -> Bool { true }", column: 27,
    message: "'===' cannot be exposed: an object keeps its identity in Lua; use 'rawequal'"),
  Refusal(
    member: "static prefix func ! (a: C) -> C { a }", column: 34,
    message: "'!' cannot be exposed: Lua has no such operator; expose a method, or register it "
      + "by '.operator'"),
  Refusal(
    member: "static func + <T>(a: C, b: T) -> C { a }", column: 29,
    message: "a generic method cannot be exposed; name its type"),
  Refusal(
    member: "subscript(i: Int, j: Int) -> Int { i }", column: 24,
    message: "a subscript with several parameters cannot be exposed, because Lua has one key; "
      + "expose a method"),
  Refusal(
    member: "static subscript(i: Int) -> Int { i }", column: 15,
    message: "a static subscript cannot be exposed, because Lua asks objects; expose a static "
      + "function"),
  Refusal(
    member: "subscript<T>(i: T) -> Int { 1 }", column: 24,
    message: "a generic method cannot be exposed; name its type"),
  Refusal(
    member: "struct S {}", column: 3,
    message: "'@LuaExposed' is for methods, properties, subscripts, initialisers and static "
      + "members"),
]

@Suite struct RefusalTests {
  @Test(arguments: refusals)
  fileprivate func `a member that cannot be exposed is refused where it says why`(
    _ refusal: Refusal
  ) {
    expect(
      """
      @LuaObject final class C {
        @LuaExposed \(refusal.member)
        @LuaExposed func good() {}
      }
      """,
      expandsTo: """
        final class C {
          \(refusal.member)
          func good() {}

          static func register(with lua: LuaState) {
            lua.register(
              C.self, as: "C",
              .method("good") { (object: C) in object.good() })
          }
        }

        extension C: LuaObject {}
        """,
      refusals: [DiagnosticSpec(message: refusal.message, line: 2, column: refusal.column)])
  }

  @Test(arguments: [
    ("@LuaObject actor A {}", 1, "an actor cannot be exposed, because Lua cannot await it"),
    (
      "@LuaObject enum A {}", 1,
      "an enumeration cannot be exposed; register it by hand, as a 'LuaStruct', or let it cross by "
        + "its raw value"
    ),
    ("@LuaStruct class A {}", 1, "'@LuaStruct' is for structures; write '@LuaObject'"),
    ("@LuaObject struct A {}", 1, "'@LuaObject' is for classes; write '@LuaStruct'"),
    (
      "@LuaStruct struct A<T> {}", 20,
      "a generic structure cannot be exposed; register each of its types by hand"
    ),
    (
      "@LuaObject class A<T> {}", 19,
      "a generic class cannot be exposed; register each of its types by hand"
    ),
  ])
  func `what is no class or structure of its own is refused`(
    type: String, column: Int, message: String
  ) {
    expect(
      type, expandsTo: String(type.drop { $0 != " " }.dropFirst()),
      refusals: [DiagnosticSpec(message: message, line: 1, column: column)])
  }

  @Test(arguments: [
    (
      "lazy var a = 1", 15,
      "a property that changes its structure when it is read cannot be exposed; expose a mutating "
        + "method"
    ),
    (
      "var a: Int { mutating get { 1 } }", 28,
      "a property that changes its structure when it is read cannot be exposed; expose a mutating "
        + "method"
    ),
    (
      "subscript(i: Int) -> Int { mutating get { 1 } }", 42,
      "a subscript that changes its structure when it is read cannot be exposed"
    ),
    (
      "mutating func callAsFunction() {}", 15,
      "a mutating 'callAsFunction' cannot be a call of the object; give it a name: "
        + "'@LuaExposed(\"…\")'"
    ),
  ])
  func `what would change a copy is refused`(member: String, column: Int, message: String) {
    expect(
      "@LuaStruct struct S {\n  @LuaExposed \(member)\n}",
      expandsTo: """
        struct S {
          \(member)

          static func register(with lua: LuaState) {
            lua.register(S.self, as: "S")
          }
        }

        extension S: LuaStruct {}
        """, refusals: [DiagnosticSpec(message: message, line: 2, column: column)])
  }

  @Test(arguments: [
    ("(.close) func f() throws {}", 15, "what '.close' uses must not throw"),
    (
      "(.tostring) var f: String { get throws { \"\" } }", 15,
      "what '.tostring' uses must not throw"
    ),
    ("(.close) var f = 1", 3, "'.close' is for a method"),
    ("(.pairs) subscript(i: Int) -> Int { 1 }", 3, "'.pairs' is for a method or a property"),
    (
      "(.length) func f(_ n: Int) -> Int { 1 }", 30,
      "Lua passes no arguments to what '.length' uses"
    ),
    ("(.length) static let f = 1", 24, "'.length' is for members of objects, not of the type"),
    (
      "(.length) static func f() -> Int { 1 }", 24,
      "'.length' is for members of objects, not of the type"
    ),
    (
      "(.length) func f() async -> Int { 1 }", 33,
      "an async member cannot be exposed; register a function by 'registerAsync'"
    ),
    (
      "(.close) mutating func f() {}", 23,
      "'.close' cannot use a mutating method, because it gets a copy of the structure"
    ),
    (
      "(\"at\") subscript(i: Int) -> Int { 1 }", 15,
      "a subscript has no name in Lua; leave the name out"
    ),
  ])
  func `what Lua uses without a name is what it can use`(
    member: String, column: Int, message: String
  ) {
    let bare = member.drop { $0 != ")" }.dropFirst(2)
    expect(
      "@LuaStruct struct S {\n  @LuaExposed\(member)\n}",
      expandsTo: """
        struct S {
          \(bare)

          static func register(with lua: LuaState) {
            lua.register(S.self, as: "S")
          }
        }

        extension S: LuaStruct {}
        """, refusals: [DiagnosticSpec(message: message, line: 2, column: column)])
  }

  @Test func `Lua has one of what has no name`() {
    expect(
      """
      @LuaObject final class C {
        @LuaExposed(.length) var a = 1
        @LuaExposed(.length) var b = 1
        @LuaExposed subscript(i: Int) -> Int { 1 }
        @LuaExposed subscript(s: String) -> Int { 1 }
      }
      """,
      expandsTo: """
        final class C {
          var a = 1
          var b = 1
          subscript(i: Int) -> Int { 1 }
          subscript(s: String) -> Int { 1 }

          static func register(with lua: LuaState) {
            lua.register(
              C.self, as: "C",
              .length { $0.a },
              .index { (object: C, i: Int) -> Int in object[i] })
          }
        }

        extension C: LuaObject {}
        """,
      refusals: [
        DiagnosticSpec(
          message: "'.length' is exposed twice, but an object has only one in Lua", line: 3,
          column: 15),
        DiagnosticSpec(
          message: "'[]' is exposed twice, but an object has only one in Lua", line: 5, column: 15),
      ])
  }

  @Test func `a class has a name that scripts can write`() {
    expect(
      "@LuaObject class `end` {}", expandsTo: "class `end` {}\n\nextension `end`: LuaObject {}",
      refusals: [
        DiagnosticSpec(
          message: "'end' is a reserved word of Lua; give another name: '@LuaObject(\"…\")'",
          line: 1, column: 18)
      ])
  }

  @Test func `two members may not have one name`() {
    expect(
      """
      @LuaObject final class C {
        @LuaExposed init(a: Int) {}
        @LuaExposed init(b: Int) {}
        @LuaExposed static func of() {}
        @LuaExposed func of() {}
      }
      """,
      expandsTo: """
        final class C {
          init(a: Int) {}
          init(b: Int) {}
          static func of() {}
          func of() {}

          static func register(with lua: LuaState) {
            lua.register(
              C.self, as: "C",
              .constructor { (a: Int) in C(a: a) },
              .function("of") { () in C.of() },
              .method("of") { (object: C) in object.of() })
          }
        }

        extension C: LuaObject {}
        """,
      refusals: [
        DiagnosticSpec(
          message: "'new' is exposed twice; give one another name: '@LuaExposed(\"…\")'", line: 3,
          column: 15)
      ])
  }

  @Test func `a class above that Lua knows must be named`() {
    expect(
      "@LuaObject class Dog: Animal {}", expandsTo: "class Dog: Animal {}", inherits: true,
      refusals: [
        DiagnosticSpec(
          message: "'Animal' is a LuaObject; write '@LuaObject(extending: Animal.self)'", line: 1,
          column: 23)
      ])
  }

  @Test(arguments: [
    (
      "class C {\n  @LuaExposed func f() {}\n}",
      "needs a type with '@LuaObject' or '@LuaStruct' around it"
    ),
    ("@LuaExposed func f() {}", "needs a type with '@LuaObject' or '@LuaStruct' around it"),
    (
      "extension C {\n  @LuaExposed func f() {}\n}",
      "does not work in an extension; move the member into the type"
    ),
  ])
  func `a member outside of a class for Lua is refused`(source: String, message: String) {
    let isInside = source.contains("\n")
    expect(
      source, expandsTo: source.replacing("@LuaExposed ", with: ""),
      refusals: [
        DiagnosticSpec(
          message: "'@LuaExposed' \(message)", line: isInside ? 2 : 1, column: isInside ? 3 : 1)
      ])
  }

  @Test(arguments: [
    ("(\"a b\")", 15, "'a b' is not a valid name in Lua; use ASCII letters, digits and '_'"),
    ("(\"\")", 15, "'' is not a valid name in Lua; use ASCII letters, digits and '_'"),
    ("(\"9a\")", 15, "'9a' is not a valid name in Lua; use ASCII letters, digits and '_'"),
    ("(name)", 15, "the name in Lua must be a string literal"),
  ])
  func `a name is one that scripts can write`(argument: String, column: Int, message: String) {
    expect(
      "@LuaObject final class C {\n  @LuaExposed\(argument) func f() {}\n}",
      expandsTo: """
        final class C {
          func f() {}

          static func register(with lua: LuaState) {
            lua.register(C.self, as: "C")
          }
        }

        extension C: LuaObject {}
        """,
      refusals: [DiagnosticSpec(message: message, line: 2, column: column)])
  }

  @Test func `an operator keeps its name`() {
    expect(
      "@LuaObject final class C {\n  @LuaExposed(\"add\") static func + (a: C, b: C) -> C { a }\n}",
      expandsTo: """
        final class C {
          static func + (a: C, b: C) -> C { a }

          static func register(with lua: LuaState) {
            lua.register(C.self, as: "C")
          }
        }

        extension C: LuaObject {}
        """,
      refusals: [
        DiagnosticSpec(
          message: "an operator has no other name in Lua; leave the name out", line: 2, column: 15)
      ])
  }

  @Test func `what is inside a condition is refused`() {
    expect(
      """
      @LuaObject final class C {
        #if os(Linux)
        @LuaExposed func f() {}
        #endif
      }
      """,
      expandsTo: """
        final class C {
          #if os(Linux)
          func f() {}
          #endif

          static func register(with lua: LuaState) {
            lua.register(C.self, as: "C")
          }
        }

        extension C: LuaObject {}
        """,
      refusals: [
        DiagnosticSpec(
          message: "a member inside '#if' cannot be exposed", line: 3, column: 3)
      ])
  }
}
