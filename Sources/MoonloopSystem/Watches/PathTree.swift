// What a watch knows of each path, in a tree: a folder that moves takes what is in it along.

/// Values by path, from a root on.
///
/// Moving a folder takes as long as its path, removing it as long as what is in it, however much
/// else there is. Loop thread only.
final class PathTree<Value> {
  /// A name in a folder. Outside of the tree it still has the path where it was.
  final class Node {
    fileprivate var name: [UInt8]
    fileprivate var folder: Node?
    fileprivate var entries: [[UInt8]: Node] = [:]
    fileprivate(set) var value: Value?

    fileprivate init(_ name: [UInt8], in folder: Node?) {
      self.name = name
      self.folder = folder
    }

    func path(from root: WatchedPath) -> WatchedPath {
      guard let folder else { return root }
      return folder.path(from: root).appending(name)
    }
  }

  /// Approximate bytes of a path, besides its name.
  private static var perPath: Int { 200 }

  private let root: WatchedPath
  private let top = Node([], in: nil)
  /// How many paths have values.
  private(set) var count = 0
  /// Approximate bytes of all of them.
  private(set) var footprint = 0

  init(_ root: WatchedPath) { self.root = root }

  /// Nodes hold the folder that they are in.
  deinit { remove(root) }

  subscript(path: WatchedPath) -> Value? { node(at: path)?.value }

  private func node(at path: WatchedPath) -> Node? {
    var node = top
    for name in path.names(after: root) {
      guard let entry = node.entries[name] else { return nil }
      node = entry
    }
    return node
  }

  /// What has a value, in no order.
  var all: [(path: WatchedPath, value: Value)] { all(in: top, root) }

  private func all(in node: Node, _ path: WatchedPath) -> [(path: WatchedPath, value: Value)] {
    var all: [(path: WatchedPath, value: Value)] = []
    var rest = [(node, path)]
    while let (node, path) = rest.popLast() {
      if let value = node.value { all.append((path, value)) }
      for entry in node.entries.values { rest.append((entry, path.appending(entry.name))) }
    }
    return all
  }

  // MARK: Changes

  @discardableResult
  func set(_ path: WatchedPath, _ value: Value) -> Node {
    let node = makeNode(at: path)
    if node.value == nil { count += 1 }
    node.value = value
    return node
  }

  private func makeNode(at path: WatchedPath) -> Node {
    var node = top
    for name in path.names(after: root) {
      let entry = node.entries[name] ?? Node(name, in: node)
      if node.entries.updateValue(entry, forKey: name) == nil {
        footprint += Self.perPath + name.count
      }
      node = entry
    }
    return node
  }

  /// Takes out a path and what is in it, and returns what had values, in no order.
  @discardableResult
  func remove(_ path: WatchedPath) -> [(path: WatchedPath, value: Value)] {
    guard let node = node(at: path) else { return [] }
    let removed = all(in: node, path)
    empty(node)
    return removed
  }

  private func empty(_ node: Node) {
    if let folder = node.folder, folder.entries[node.name] === node {
      folder.entries[node.name] = nil
    }
    var rest = [node]
    while let node = rest.popLast() {
      if node.value != nil { count -= 1 }
      if node !== top { footprint -= Self.perPath + node.name.count }
      rest += node.entries.values
      (node.value, node.entries) = (nil, [:])
    }
  }

  /// Takes the value of a node; what is in it stays.
  func clear(_ node: Node) {
    if node.entries.isEmpty { return empty(node) }
    if node.value != nil { count -= 1 }
    node.value = nil
  }

  /// Gives a path with what is in it another place, which must be free.
  func move(_ old: WatchedPath, to new: WatchedPath) {
    guard let node = node(at: old), let name = new.names(after: root).last else { return }
    move(node, to: name, in: makeNode(at: new.parent))
  }

  /// The same for an entry of a folder. What was in its new place is taken out.
  /// - Returns: What that had of values.
  func move(_ name: [UInt8], in folder: Node, to newName: [UInt8], in newFolder: Node) -> [Value] {
    let displaced = newFolder.entries[newName]
    guard let node = folder.entries[name], node !== displaced else { return [] }
    let values = displaced.map { all(in: $0, root).map(\.value) } ?? []
    if let displaced { empty(displaced) }
    move(node, to: newName, in: newFolder)
    return values
  }

  private func move(_ node: Node, to name: [UInt8], in folder: Node) {
    node.folder?.entries[node.name] = nil
    footprint += name.count - node.name.count
    (node.name, node.folder) = (name, folder)
    folder.entries[name] = node
  }
}
