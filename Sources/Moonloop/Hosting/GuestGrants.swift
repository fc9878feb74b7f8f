// The grants of a guest, as words: "timers", "net=127.0.0.1:8000-8010", "fs=read:data/".

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// What an untrusted script may reach.
package struct GuestGrants: Sendable {
  /// An invalid grant, and why.
  package struct Mistake: Error {
    package let message: String
  }

  /// The function that explains a refusal.
  enum Advice: Sendable { case commandLine, table }

  /// The words as written.
  package private(set) var words: [String] = []
  private(set) var capabilities: LuaCapabilities = []
  var advice = Advice.commandLine
  /// Its script, if it is a file, and the folder of its own modules.
  private(set) var script: String?
  private(set) var ownFolder: String?
  /// The granted places, files and programs; nil: all of them.
  private(set) var places: [PlaceRule]? = []
  private(set) var files: FileScope? = FileScope()
  private var programs: [[UInt8]]? = []
  /// The workers that it has, and those of its workers.
  let crew = WorkerCrew()
  /// Who is asked for what is not granted; nil: it is refused.
  private(set) var asker: GuestAsker?

  package init() {}

  /// Its script is a file: its modules are in the folder that has its name, so that one in a folder
  /// of plug-ins does not see the others; those of `main.lua` and `init.lua` are beside it.
  package mutating func setScript(_ path: String) {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    let name = path.split(separator: "/").last.map { $0.hasSuffix(".lua") ? $0.dropLast(4) : $0 }
    script = path
    ownFolder = name == "main" || name == "init" ? folder : folder + "/" + (name ?? "")
  }

  /// Has what is not granted asked for.
  package mutating func ask(_ asker: GuestAsker) {
    self.asker = asker
    // They are open, with nothing in them, so that each place, file and program is asked for.
    capabilities.formUnion([.net, .files, .processes])
  }

  /// Adds what was asked for.
  mutating func add(_ question: GuestQuestion, isAll: Bool) {
    switch question.addition {
    case .capability(let one): capabilities.insert(one)
    case .place where isAll: places = nil
    case .place(let rule): places?.append(rule)
    case .file where isAll: files = nil
    case .file(let need): files?.allow(need)
    case .program where isAll: programs = nil
    case .program(let name): programs?.append(name)
    }
  }

  /// Adds a grant.
  /// - Parameter word: `NAME`, or `NAME=WHAT` for one that can be narrowed.
  package mutating func allow(_ word: String) throws(Mistake) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard let grant = Grant.all.first(where: { "\($0.word)" == name }) else {
      throw Mistake(message: "unknown grant '\(name)'\(Self.hint(name))")
    }
    if parts.count > 1 {
      try narrow(grant, to: String(parts[1]))
    } else {
      switch grant.capability {
      case .net: places = nil
      case .files: files = nil
      case .processes: programs = nil
      default: break
      }
    }
    capabilities.insert(grant.capability)
    words.append(word)
  }

  private static func hint(_ name: String) -> String {
    let words = Grant.all.map { "\($0.word)" }
    if let nearest = LuaText.nearest(to: name, among: words) {
      return "; did you mean '\(nearest)'?"
    }
    return "; there are \(words.joined(separator: ", "))"
  }

  private mutating func narrow(_ grant: Grant, to what: String) throws(Mistake) {
    switch grant.capability {
    case .net:
      let isPort = !what.isEmpty && what.utf8.allSatisfy { 0x30...0x39 ~= $0 }
      guard !isPort, let rule = PlaceRule(what) else {
        throw Mistake(
          message: "'net=\(what)': must be HOST, HOST:PORT, HOST:FIRST-LAST or unix:PATH; the host "
            + "may be *" + (isPort ? "; did you mean 'net=*:\(what)'?" : ""))
      }
      places?.append(rule)
    case .files: try narrowFiles(to: what)
    case .processes:
      if what.isEmpty { throw Mistake(message: "'process=': the program is missing") }
      programs?.append(Array(what.utf8))
    default: throw Mistake(message: "the grant '\(grant.word)' cannot be narrowed by '=\(what)'")
    }
  }

  private mutating func narrowFiles(to what: String) throws(Mistake) {
    let (reads, writes) = (what.hasPrefix("read:"), what.hasPrefix("write:"))
    let path = String(what.dropFirst(reads ? 5 : writes ? 6 : 0))
    if path.isEmpty || ["read", "write"].contains(path) {
      throw Mistake(message: "'fs=\(what)': the path is missing")
    }
    if let colon = path.firstIndex(of: ":"), !path[..<colon].contains("/"), !reads && !writes {
      throw Mistake(message: "'fs=\(what)': must be PATH, read:PATH or write:PATH")
    }
    do throws(SystemError) {
      try files?.allow(path, reads: reads || !writes, writes: writes || !reads)
    } catch { throw Mistake(message: "'fs=\(what)': \(error.message)") }
  }

  // MARK: Whether something is granted

  /// Throws an error that names what is not granted, and the grant for it.
  func refusal(_ grant: String) -> String { "this guest may not do that; \(advice(of: grant))" }

  /// The same for a path. What the guest may not read itself is not told: where a link outside of
  /// its files leads.
  func refusal(_ grant: String, for path: [UInt8]) -> String {
    guard let (link, target) = files?.leavingLink(in: path) else { return refusal(grant) }
    return "this guest may not do that, as '\(link)' leads to '\(target)'; \(advice(of: grant))"
  }

  func advice(of grant: String) -> String {
    switch advice {
    case .commandLine: "--allow \(grant) would grant it"
    case .table: "allow = { \"\(grant)\" } would grant it"
    }
  }

  func refusal(of call: FileCall) -> String {
    if let needed = call.neededGrant(files ?? FileScope()) {
      return refusal("fs=\(needed.grant)", for: needed.path)
    }
    return "a guest with some files may not make links, or move links and folders; "
      + advice(of: "fs")
  }

  /// Whether it may connect to, listen on, or send to a host under the name it uses.
  func allows(host: String, port: Int?) -> Bool {
    places?.contains { $0.allows(host: host, port: port) } ?? true
  }

  func allows(_ address: SocketAddress) -> Bool {
    guard let places else { return true }
    if address.family == .unix { return places.contains { $0.path == address.hostBytes } }
    return allows(host: address.host, port: address.port)
  }

  func allows(program: [UInt8]) -> Bool { programs?.contains(program) ?? true }
  var isNarrowedToPrograms: Bool { programs != nil }
}

/// Network places: a host, or all of them, with all ports or some; or a Unix socket. They are
/// compared as the system does, by bytes: that they are the same text would not do.
struct PlaceRule: Sendable {
  let path: [UInt8]?
  private let host: [UInt8]?
  let ports: ClosedRange<Int>

  /// Exactly this host; nil if it would stand for all of them.
  init?(host: String, port: Int?) {
    if host.isEmpty || host == "*" { return nil }
    (path, self.host) = (nil, Self.plain(host))
    ports = port.map { $0...$0 } ?? 0...65535
  }

  init(path: [UInt8]) { (self.path, host, ports) = (path, nil, 0...0) }

  /// - Returns: nil if the text is not such a rule.
  init?(_ text: String) {
    if text.utf8.starts(with: "unix:".utf8) {
      self = PlaceRule(path: Array(text.utf8.dropFirst(5)))
      return
    }
    var (name, range) = (text, 0...65535)
    let isBare = SocketAddress(numeric: text, port: 0) != nil
    if !isBare, let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") {
      guard let read = Self.range(text[text.index(after: colon)...]) else { return nil }
      (name, range) = (String(text[..<colon]), read)
    }
    if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
    if name.isEmpty { return nil }
    path = nil
    host = name == "*" ? nil : Self.plain(name)
    ports = range
  }

  private static func range(_ text: Substring) -> ClosedRange<Int>? {
    let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    guard let first = ends[0], let last = ends.count > 1 ? ends[1] : first, ends.count < 3,
      0 <= first, first <= last, last <= 65535
    else { return nil }
    return first...last
  }

  private static func plain(_ host: String) -> [UInt8] {
    if let address = SocketAddress(numeric: host, port: 0) { return address.hostBytes }
    return host.utf8.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
  }

  func allows(host other: String, port: Int?) -> Bool {
    if path != nil { return false }
    return (host == nil || host == Self.plain(other)) && port.map(ports.contains) ?? true
  }
}

extension LuaLimits {
  /// The same, with a guest's defaults for limits that are not set.
  package var orUsual: LuaLimits {
    var limits = self
    limits.memory = memory ?? 64 << 20
    limits.callout = callout ?? .seconds(1)
    limits.handles = handles ?? 1000
    return limits
  }

  /// The same, but nowhere beyond others: a guest's worker gets no more than the guest.
  func within(_ others: LuaLimits) -> LuaLimits {
    var limits = self
    if let memory = others.memory { limits.memory = min(limits.memory ?? memory, memory) }
    if let time = others.callout { limits.callout = min(limits.callout ?? time, time) }
    return limits
  }
}

// MARK: - Calls of scripts

extension HostCall {
  /// Throws unless a guest may reach a place.
  func requireGrant(for place: NetPlace) throws(ScriptMistake) {
    guard let guest = runtime.granted.guest else { return }
    switch place {
    case .address(let address): try requireGrant(for: address)
    case .name(let host, let port):
      if !guest.allows(host: host, port: port),
        !isGranted(GuestQuestion(host: host, port: port))
      {
        throw mistake(guest.refusal("net=\(host):\(port)"))
      }
    }
  }

  func requireGrant(for address: SocketAddress) throws(ScriptMistake) {
    guard let guest = runtime.granted.guest, !guest.allows(address) else { return }
    let isPath = address.family == .unix
    let question =
      isPath
      ? GuestQuestion(unixSocket: address.hostBytes)
      : GuestQuestion(host: address.host, port: address.port)
    if isGranted(question) { return }
    throw mistake(guest.refusal(isPath ? "net=unix:\(address.host)" : "net=\(address.text)"))
  }

  /// Throws unless a guest may look up a host's addresses.
  func requireGrant(forName host: String) throws(ScriptMistake) {
    guard let guest = runtime.granted.guest, !guest.allows(host: host, port: nil),
      !isGranted(GuestQuestion(host: host, port: nil))
    else { return }
    throw mistake(guest.refusal("net=\(host)"))
  }

  /// Throws unless a guest may run a program, with its environment.
  func requireGrant(
    forProgram program: [UInt8], setsEnvironment: Bool
  ) throws(ScriptMistake) {
    guard let guest = runtime.granted.guest, guest.isNarrowedToPrograms else { return }
    if !guest.allows(program: program), !isGranted(GuestQuestion(program: program)) {
      throw mistake(guest.refusal("process=\(String(decoding: program, as: UTF8.self))"))
    }
    if setsEnvironment { try requireAllPrograms("set their environment") }
  }

  /// Throws if a guest may run only some programs.
  func requireAllPrograms(_ what: String) throws(ScriptMistake) {
    guard let guest = runtime.granted.guest, guest.isNarrowedToPrograms else { return }
    throw mistake("a guest with some programs may not \(what); \(guest.advice(of: "process"))")
  }

  /// The scope for a call about files, after what is missing was asked for.
  func scope(for fileCall: FileCall) -> FileScope? {
    while let scope = runtime.granted.guest?.files, runtime.granted.guest?.asker != nil,
      let need = fileCall.need(in: scope)
    {
      if !isGranted(GuestQuestion(need)) { return scope }
    }
    return runtime.granted.guest?.files
  }

  /// Throws unless a guest may read a file, here and now.
  func requireGrant(toRead path: String) throws(ScriptMistake) {
    guard let guest = runtime.granted.guest else { return }
    if guest.capabilities.contains(.files) {
      guard let scope = guest.files else { return }
      let bytes = Array(path.utf8)
      if (try? scope.place(of: bytes, writes: false)) != nil { return }
      if isGranted(scope.need(of: bytes, writes: false).flatMap(GuestQuestion.init)) { return }
    }
    throw mistake(guest.refusal("fs=read:\(path)", for: Array(path.utf8)))
  }
}
