// What other threads sent to a loop, in a recording.

package import MoonloopCore

/// Writes messages to a tape and reads them back. Loop thread only.
package protocol MessageTape: AnyObject {
  /// Writes a message.
  /// - Returns: The message to deliver.
  func record(_ message: any Sendable, into writer: inout PackedWriter) -> any Sendable
  /// Reads a recorded message.
  func play(_ reader: inout PackedReader) -> any Sendable
}

/// An entry per crossing: its kind and, for messages, their place, their number and the messages.
package final class RecordedCrossings: Crossings {
  private enum Entry {
    static let end = 0
    static let own = 1
    static let messages = 2
  }

  private let messages: any MessageTape
  private var entry = PackedWriter()

  package init(_ messages: any MessageTape) { self.messages = messages }

  package func keepOwn() { put(Entry.own) }
  package func keepEnd() { put(Entry.end) }

  package func keep(_ messages: [any Sendable], at place: Int) -> [any Sendable] {
    entry.clear()
    entry.put(Entry.messages)
    entry.put(place)
    entry.put(messages.count)
    let told = messages.map { self.messages.record($0, into: &entry) }
    putEntry()
    return told
  }

  private func put(_ kind: Int) {
    entry.clear()
    entry.put(kind)
    putEntry()
  }

  private func putEntry() { entry.bytes.withUnsafeBytes { Tape.put(.crossings, $0) } }

  package func next() -> Crossing? {
    var entry = PackedReader(Tape.take(.crossings))
    switch entry.number() {
    case Entry.own: return .own
    case Entry.messages:
      let place = entry.number()
      return .messages((0..<entry.count()).map { _ in messages.play(&entry) }, at: place)
    default: return nil
    }
  }
}
