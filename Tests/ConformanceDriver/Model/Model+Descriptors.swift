// Descriptors: readable as long as there is something to read (R61 to R66).

import ConformanceFormat

extension Model {
  func performOnDescriptor(_ op: Operation) {
    switch op {
    case .write(let id, let data):
      let item = item(id)
      if !item.isValid || item.peerIsClosed { return }
      item.bytes += Array(data.utf8)
      noteReadable(item)
    case .closePeer(let id):
      item(id).peerIsClosed = true
      noteReadable(item(id))
    case .enable(let id, _):
      item(id).isEnabled = true
      noteReadable(item(id))
    case .disable(let id, _): item(id).isEnabled = false
    case .read(let id, let count): read(item(id), atMost: count)
    default: break
    }
  }

  private func noteReadable(_ item: Item) {
    guard item.isReadable else { return }
    for mode in item.modes { mode.append(.port(item)) }
  }

  private func read(_ item: Item, atMost count: Int) {
    let data = item.isValid ? item.bytes.prefix(count) : []
    item.bytes.removeFirst(data.count)
    let word =
      data.isEmpty
      ? (item.isValid && item.peerIsClosed ? "EOF" : "none") : String(decoding: data, as: UTF8.self)
    add("read:\(item.spec.id):\(word)")
  }

  /// - Returns: Whether it was served.
  func serve(_ descriptor: Item, _ run: Run) -> Bool {
    guard descriptor.isValid, run.mode.ports.contains(where: { $0 === descriptor }) else {
      return false
    }
    if !descriptor.isReadable {
      refuse("the descriptor that ended the sleep is not ready any more")
      return false
    }
    run.servedPort = true
    if descriptor.isOneShot { descriptor.isEnabled = false }
    noteReadable(descriptor)
    call(descriptor, "read", on: "read")
    return true
  }
}
