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
    message: "a static variable cannot be exposed, because it is read once, when the class is "
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
    member: "subscript(i: Int) -> Int { i }", column: 3,
    message: "a subscript cannot be exposed; register it by hand, by '.index' and '.newindex'"),
  Refusal(
    member: "struct S {}", column: 3,
    message: "'@LuaExposed' is for methods, properties, initialisers and static members"),
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
    ("actor A {}", 1, "an actor cannot be exposed, because Lua cannot await it"),
    (
      "struct A {}", 1,
      "'@LuaObject' is for classes; register a structure by hand, as a 'LuaStruct'"
    ),
    (
      "enum A {}", 1, "'@LuaObject' is for classes; register a structure by hand, as a 'LuaStruct'"
    ),
    (
      "class A<T> {}", 19,
      "a generic class cannot be exposed; register each of its types by hand"
    ),
  ])
  func `what is no class of its own is refused`(type: String, column: Int, message: String) {
    expect(
      "@LuaObject \(type)", expandsTo: type,
      refusals: [DiagnosticSpec(message: message, line: 1, column: column)])
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
    ("class C {\n  @LuaExposed func f() {}\n}", "needs a class with '@LuaObject' around it"),
    ("@LuaExposed func f() {}", "needs a class with '@LuaObject' around it"),
    (
      "extension C {\n  @LuaExposed func f() {}\n}",
      "does not work in an extension; move the member into the class"
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

  @Test func `what is inside of a condition is refused`() {
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
