// How the system confines a guest's own process: to its grants, once more, below Lua.

internal import LuaEmbed
internal import MoonloopCore
package import MoonloopSystem

extension GuestGrants {
  /// The grants that a guest in its own process may have.
  private static let isolated: LuaCapabilities = [
    .timers, .net, .files, .workers, .inspection, .limits, .runs,
  ]

  /// Throws if a grant reaches out of a confined process.
  package func requireIsolable() throws(Mistake) {
    for grant in Grant.all
    where capabilities.contains(grant.capability) && !Self.isolated.contains(grant.capability) {
      throw Mistake(message: "'\(grant.word)' is not available for isolated guests")
    }
    guard capabilities.contains(.files) else { return }
    // Landlock identifies files by what they are, not by name.
    for place in files?.places ?? [] where !FileScope.exists(place.path) {
      throw Mistake(
        message: "'\(place.path)' does not exist, and the files of an isolated guest must")
    }
  }

  /// What a process that runs a guest with these grants may reach.
  /// - Parameters:
  ///   - memory: The limit of the guest's memory.
  ///   - handles: The limit of its handles.
  ///   - files: Other files that it reads: its script.
  package func confinement(memory: Int, handles: Int, files: [String]) -> Confinement {
    var confinement = Confinement()
    let usesNetwork = capabilities.contains(.net)
    confinement.internet = usesNetwork && places?.contains { $0.path == nil } ?? true
    confinement.unixSockets = usesNetwork && places?.contains { $0.path != nil } ?? true
    confinement.ports = usesNetwork ? ports : []
    confinement.reachesAllFiles = capabilities.contains(.files) && self.files == nil
    confinement.places = confinedPlaces + files.map { .init($0, reads: true, writes: false) }
    if confinement.internet { confinement.places += Self.resolving }
    // three times Lua's limit, and the stacks of threads
    confinement.memory = 3 * Int64(min(memory, 1 << 50)) + 256 << 20
    confinement.descriptors = Int32(clamping: 3 * min(handles, 1 << 20) + 64)
    return confinement
  }

  /// The memory limit for Lua in a confined process. The process has more than enough for the limit
  /// that was given, unless it was started with limits of its own (`ulimit -v`, `-d`): then Lua is
  /// stopped before the process has nothing left, which neither Lua nor Swift survives.
  /// - Parameter left: What the limits of the process leave it.
  /// - Returns: nil if that is too little to run at all.
  package static func memoryLimit(_ given: Int, in left: Int64) -> Int? {
    let room = ProcessMemory.limitForLua(in: left, reserve: ProcessMemory.reserve)
    return room < 1 << 20 ? nil : min(given, room)
  }

  /// Says so.
  package static func memoryRefusal(_ left: Int64) -> String {
    "the limits of this process leave it \(left >> 20) MiB of memory, and it needs "
      + "\((ProcessMemory.reserve >> 20) + 2) MiB: see ulimit -v and -d"
  }

  private var confinedPlaces: [Confinement.Place] {
    var all: [Confinement.Place] = [
      .init("/usr/share/zoneinfo", reads: true, writes: false, mayBeMissing: true)
    ]
    if let ownFolder {
      all += Confinement.files(below: ownFolder, ending: ".lua").map {
        .init($0, reads: true, writes: false, mayBeMissing: true)
      }
    }
    guard capabilities.contains(.files) else { return all }
    for place in self.files?.places ?? [] {
      all.append(.init(place.path, reads: place.reads, writes: place.writes))
    }
    return all
  }

  /// The files that a host name lookup reads.
  private static let resolving: [Confinement.Place] = [
    "resolv.conf", "hosts", "nsswitch.conf", "host.conf", "gai.conf", "services",
  ].map { .init("/etc/" + $0, reads: true, writes: false, mayBeMissing: true) }

  /// The granted ports, if they are few; nil: any.
  private var ports: [UInt16]? {
    guard let ranges = places?.filter({ $0.path == nil }).map(\.ports),
      ranges.reduce(0, { $0 + $1.count }) <= 1000
    else { return nil }
    return ranges.flatMap { range in range.map { UInt16($0) } }
  }
}
