// Debug builds count how often an element of a table or list is looked at, so that tests can tell
// whether an operation costs more where there is more.

internal import CLinuxShims

/// The looks at elements of `Table` and `CountedArray`, and at whole lists of scripts' things.
@usableFromInline
package enum Steps {
  @inline(__always)
  package static func note(_ count: Int) {
    #if DEBUG
      cmx_note_steps(UInt64(count))
    #endif
  }

  /// For code that other modules inline: to be called in debug builds only.
  @usableFromInline
  static func note() { note(1) }

  /// What a check of debug builds looks at is no part of an operation.
  static func uncounted<Result>(_ body: () -> Result) -> Result {
    let before = taken
    defer { cmx_note_steps(before &- taken) }
    return body()
  }

  /// Those of the calling thread so far; none in release builds.
  package static var taken: UInt64 { cmx_steps() }
}

/// An array whose elements cannot be looked at without that being counted in debug builds.
struct CountedArray<Element>: Sequence {
  private var elements: [Element] = []

  @inline(__always) var count: Int { elements.count }

  @inline(__always)
  subscript(_ index: Int) -> Element {
    _read {
      Steps.note(1)
      yield elements[index]
    }
    _modify {
      Steps.note(1)
      yield &elements[index]
    }
  }

  @inline(__always)
  var last: Element? {
    Steps.note(1)
    return elements.last
  }

  mutating func append(_ element: Element) {
    Steps.note(1)
    elements.append(element)
  }

  mutating func removeLast() {
    Steps.note(1)
    elements.removeLast()
  }

  mutating func removeAll(where isGone: (Element) -> Bool) {
    Steps.note(count)
    elements.removeAll(where: isGone)
  }

  // A separate type, because `AnyIterator` would cost metadata at the start of a program.
  struct Iterator: IteratorProtocol {
    fileprivate var rest: Array<Element>.Iterator

    mutating func next() -> Element? {
      Steps.note(1)
      return rest.next()
    }
  }

  func makeIterator() -> Iterator { Iterator(rest: elements.makeIterator()) }
}
