// A name's addresses, looked up while the loop goes on.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem
internal import Synchronization

/// What a resolver thread passes to a loop: the answer, with a signal.
final class LookupAnswer: Sendable {
  private let answer = Mutex<Resolver.Answer?>(nil)
  private let source: Loop.Source
  private let loop: Loop

  init(_ source: Loop.Source, _ loop: Loop) {
    self.source = source
    self.loop = loop
  }

  /// The resolver's thread. If the wait is over by then, the answer is dropped.
  func put(_ found: Resolver.Answer) {
    answer.withLock { $0 = found }
    source.signal()
    loop.wakeUp()
  }

  func take() -> Resolver.Answer? { answer.withLock { $0 } }
}

extension NetWait {
  /// Looks up a name; the loop calls back unless the wait is over by then.
  func lookUp(
    _ host: String, _ family: Resolver.Family,
    _ whenFound: @escaping (Resolver.Answer) -> Void
  ) throws(LoopError) {
    if !Intake.isPlain { return try lookUpByPipe(host, family, whenFound) }
    var answer: LookupAnswer?
    let source = Loop.Source(name: "resolve \(host)") { [weak self] source in
      guard let self, !isOver, let found = answer?.take() else { return }
      answer = nil
      remove(source)
      whenFound(found)
    }
    let fresh = LookupAnswer(source, runtime.loop)
    answer = fresh
    try add(source)
    Resolver.shared.resolve(host, family) { fresh.put($0) }
  }

  /// The same with an intake: the answer arrives through a pipe, so that it
  /// enters the loop like all other input. A replay makes no lookup.
  private func lookUpByPipe(
    _ host: String, _ family: Resolver.Family,
    _ whenFound: @escaping (Resolver.Answer) -> Void
  ) throws(LoopError) {
    let pipe: (read: Int32, write: Int32)
    do { pipe = try ChildDescriptors.pipe() } catch {
      return whenFound(.failure(Resolver.Failure(code: error.name, message: error.message)))
    }
    var bytes: [UInt8] = []
    let source = Loop.DescriptorSource(
      pipe.read, closesDescriptor: true, name: "resolve \(host)"
    ) { [weak self] source, _ in
      guard let self, !isOver else { return }
      let scratch = runtime.loop.scratch
      let count = (try? runtime.loop.kernel.read(source.fd, into: scratch)) ?? 0
      if count > 0 { return bytes.append(contentsOf: scratch[0..<count]) }
      remove(source)
      whenFound(Resolver.decode(bytes))
    }
    try add(source)
    if Intake.isReplayed { return }
    let end = pipe.write
    Resolver.shared.resolve(host, family) { Resolver.send($0, to: end) }
  }
}

/// `ml.net.resolve`.
final class ResolveWait: NetWait {
  private let host: String
  private var answer: Resolver.Answer = .success([])

  init(_ runtime: Runtime, host: String) {
    self.host = host
    super.init(runtime, "the address of '\(host)'")
  }

  func start(_ family: Resolver.Family) throws(LoopError) {
    try lookUp(host, family) { [weak self] found in
      self?.answer = found
      self?.finish()
    }
  }

  override func push(on stack: LuaStack) -> Int {
    switch answer {
    case .success(let addresses):
      stack.push(hosts: addresses)
      return 1
    case .failure(let failure):
      return stack.pushFailure("ml.net.resolve: '\(host)': \(failure.message)", failure.code)
    }
  }
}

extension LuaStack {
  /// Pushes a list of addresses, each once. [-0, +1, raises: -]
  func push(hosts addresses: [SocketAddress]) {
    newTable(items: Int32(addresses.count))
    var seen: Set<String> = []
    for address in addresses where seen.insert(address.host).inserted {
      push(address.host)
      rawSet(-2, item: Int64(seen.count))
    }
  }
}

private let resolveOptions: [StaticString] = ["family", "timeout"]
private let families: [(name: String, value: Resolver.Family)] = [
  ("any", .any), ("inet", .inet), ("inet6", .inet6),
]

extension Options {
  /// The option 'family'.
  func family() throws(ScriptMistake) -> Resolver.Family {
    try names("family", families, "family")?.first ?? .any
  }
}

/// `ml.net.resolve(name [, { family, timeout }])`: a list of addresses.
func netResolve(_ call: HostCall) throws -> Int32 {
  try call.requireOpen()
  var family = Resolver.Family.any
  var timeout: Int64?
  if call.count >= 2, call.stack.type(2) != .nil {
    let options = try call.options(2, resolveOptions, example: "{ family = \"inet6\" }")
    family = try options.family()
    timeout = try options.seconds("timeout", .notNegative)
  }
  let name = try call.systemText(1, "the name")
  try call.requireGrant(forName: name)
  if let address = SocketAddress(numeric: name, port: 0) {
    call.stack.push(hosts: [address])  // it is an address already
    return 1
  }
  let coroutine = try call.requireWaiting()
  let wait = ResolveWait(call.runtime, host: name)
  do { try wait.start(family) } catch {
    wait.end()
    throw error
  }
  return try call.wait(wait, coroutine, timeout)
}
