// What a process gives up for good before it runs untrusted code.

internal import CLinuxShims
package import MoonloopCore

/// What a process may still reach once it is confined.
package struct Confinement {
  /// A folder or a file.
  package struct Place {
    let path: String
    let reads: Bool
    let writes: Bool
    let mayBeMissing: Bool

    package init(_ path: String, reads: Bool, writes: Bool, mayBeMissing: Bool = false) {
      (self.path, self.reads, self.writes) = (path, reads, writes)
      self.mayBeMissing = mayBeMissing
    }
  }

  /// What the kernel holds it to.
  package struct Holds: Sendable {
    /// The version of Landlock, which holds files; 0: this kernel has none.
    package let landlock: Int
    /// How many bytes of memory its limits leave it: those of the plan, and those it was started
    /// with.
    package let memory: Int64
  }

  package var places: [Place] = []
  package var reachesAllFiles = false
  package var internet = false
  package var unixSockets = false
  /// Ports of TCP; nil: all.
  package var ports: [UInt16]? = []
  /// How many bytes of memory it may take beyond what it has.
  package var memory: Int64 = 0
  package var descriptors: Int32 = 0

  package init() {}

  /// Confines this process, which must have one thread; those that begin later are confined too.
  /// - Throws: `SystemError`; its call is the path that cannot be opened, if it was one.
  package func apply() throws(SystemError) -> Holds {
    let texts = places.map { Array($0.path.utf8CString) }
    let raw = zip(places, texts).map { place, text in
      cmx_confined_path(
        path: Self.copy(text), reads: place.reads, writes: place.writes,
        mayBeMissing: place.mayBeMissing)
    }
    defer { for one in raw { one.path.deallocate() } }
    var confined = cmx_confined()
    let result = raw.withUnsafeBufferPointer { paths in
      (ports ?? []).withUnsafeBufferPointer { ports in
        // An empty list is one too: no port.
        var none: UInt16 = 0
        return withUnsafePointer(to: &none) { none in
          var plan = cmx_confinement(
            paths: paths.baseAddress, pathCount: Int32(paths.count), allFiles: reachesAllFiles,
            internet: internet, unixSockets: unixSockets,
            ports: self.ports == nil ? nil : ports.baseAddress ?? none,
            portCount: Int32(ports.count), memory: memory, descriptors: descriptors)
          return cmx_confine(&plan, &confined)
        }
      }
    }
    if result < 0 {
      let place = Int(confined.failedPath)
      throw SystemError(call: place >= 0 ? places[place].path : "confine", code: -result)
    }
    return Holds(landlock: Int(confined.landlock), memory: confined.memory)
  }

  private static func copy(_ text: [CChar]) -> UnsafePointer<CChar> {
    let bytes = UnsafeMutablePointer<CChar>.allocate(capacity: text.count)
    bytes.initialize(from: text, count: text.count)
    return UnsafePointer(bytes)
  }

  /// How many bytes of memory the limits of this process leave it; nil: it has none.
  package static var memoryLeft: Int64? {
    let left = cmx_memory_left()
    return left == .max ? nil : left
  }

  /// Takes what the environment says out of the process's memory.
  package static func forgetEnvironment() { cmx_forget_environment() }

  /// Has the process ended by a signal when the thread that started it ends.
  /// - Returns: false if that has ended already.
  package static func endWithParent(_ parent: Int32, by signal: Int32) -> Bool {
    cmx_end_with_parent(parent, signal)
  }

  /// The files below a folder with this ending, limited in number and depth.
  package static func files(
    below folder: String, ending: String, limit: Int = 1000, depth: Int = 4
  ) -> [String] {
    var found: [String] = []
    var folders = [(path: folder, depth: 0)]
    while let (path, level) = folders.popLast(), found.count < limit {
      guard case .success(.list(let entries)) = FileCall("scandir", [.text(path)]).run() else {
        continue
      }
      for case .record(let fields) in entries {
        guard case .bytes(let name)? = fields.first?.value,
          case .bytes(let kind)? = fields.last?.value
        else { continue }
        let entry = path + "/" + String(decoding: name, as: UTF8.self)
        switch String(decoding: kind, as: UTF8.self) {
        case "directory" where level < depth: folders.append((entry, level + 1))
        case "file" where entry.hasSuffix(ending) && found.count < limit: found.append(entry)
        default: break  // A link may lead anywhere.
        }
      }
    }
    return found
  }
}

extension ChildDescriptors {
  /// Two ends of a stream socket; reading and writing them never blocks.
  package static func sockets() throws(SystemError) -> (ours: Int32, theirs: Int32) {
    let ends = UnsafeMutablePointer<Int32>.allocate(capacity: 2)
    defer { ends.deallocate() }
    _ = try SystemCall.socketPair.check(cmx_socketpair(ends))
    return (ends[0], ends[1])
  }
}
