// Descriptors that scripts watch: signalled by the kernel.

internal import LuaEmbed
internal import MoonloopCore

final class DescriptorKind: ItemKind {
  static let word = "fd"
  static var handles: ItemHandles? {
    ItemHandles(slots: 2, descriptorEntries)
  }
  static var loopEntries: [LuaEntry] {
    [.method("fd") { hostLoop($0, $1, "loop:fd") { try makeDescriptor($0, .loop) } }]
  }
  static var moduleEntries: [LuaEntry] {
    [.function("fd") { host($0, $1, "ml.fd") { try makeDescriptor($0, .module) } }]
  }

  let seat: KindSeat
  let event: Loop.DescriptorSource.Handler
  /// The descriptor was closed behind the loop's back; for all kinds that stand on one.
  let failure: Loop.DescriptorSource.FailureHandler

  init(_ seat: KindSeat) {
    self.seat = seat
    let door = seat.door
    event = { source, event in
      door._withUnsafeGuaranteedRef { runtime in
        let isRead = event == .read
        runtime.callOut(
          source, slot: isRead ? 1 : 2, argument: isRead ? runtime.names.read : runtime.names.write)
      }
    }
    failure = { source, error in
      door._withUnsafeGuaranteedRef { Self.fail(source, error, $0) }
    }
  }

  /// The item has ended, which is an error.
  static func fail(_ source: Loop.DescriptorSource, _ error: SystemError, _ runtime: Runtime) {
    if source.maker.ref < 0 { return }  // the state is closing
    let text =
      "descriptor \(source.fd) was closed while it was watched: \(error.message) (\(error.name)); "
      + "invalidate the handle before closing the descriptor"
    runtime.report(LuaError(message: text, code: error.name), .item(source))
    runtime.noteEnd(of: source)
  }

  func identity(of source: Loop.DescriptorSource) -> String {
    source.name.isEmpty ? "#\(source.fd)" : source.name
  }

  // MARK: In words

  func obstacle(to source: Loop.DescriptorSource) -> String {
    if let words = closedWords(source) { return words }
    if source.enabled.isEmpty { return disabledWords(source) }
    if source.isAtEnd && source.enabled == .read && !source.hasReadAhead {
      return "it is at end of file, and stays ready to read: invalidate it, or it is called in "
        + "every pass"
    }
    return [(Loop.DescriptorSource.Events.read, "read"), (.write, "write")]
      .compactMap { words(for: $0, name: $1, source) }.joined(separator: "; ")
  }

  private func words(
    for event: Loop.DescriptorSource.Events, name: String, _ source: Loop.DescriptorSource
  ) -> String? {
    let isRead = event == .read
    let isReady =
      runtime.loop.kernel.isReady(source.fd, for: event.interest)
      || (isRead && source.hasReadAhead)
    if !source.enabled.contains(event) {
      return isReady && isRead
        ? "there is something to \(name), but it is disabled: fd:enable \"\(name)\"" : nil
    }
    if isReady {
      let always = source.isAlwaysReady ? ", as a file always is" : ""
      return "it is ready to \(name)\(always): \(runtime.explanation.blocker()), then it is served"
    }
    return isRead ? "there is nothing to read" : "there is no room to write"
  }

  private func disabledWords(_ source: Loop.DescriptorSource) -> String {
    let text = "none of its events is enabled; use enable"
    if source.callouts == 0 { return text }
    return source.reenabled.isEmpty
      ? text + ", even in its handler, because a call disables it (reenable)"
      : text + "; a call disables events that are not in its 'reenable'"
  }
}

extension ItemKind where Item == Loop.DescriptorSource {
  static var isLeftUnheld: Bool { true }

  func stateText(of source: Loop.DescriptorSource) -> String {
    let events = source.enabled.isEmpty ? "nothing" : source.enabled.description
    return "descriptor \(source.fd), enabled: \(events)"
  }

  func closedWords(_ source: Loop.DescriptorSource) -> String? {
    runtime.loop.kernel.isOpen(source.fd)
      ? nil
      : "descriptor \(source.fd) was closed while it was watched; invalidate the handle first"
  }
}
