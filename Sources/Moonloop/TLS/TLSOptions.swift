// TLS options of scripts: `tls = true`, `tls = { cert = …, key = … }`.

internal import LuaEmbed
internal import MoonloopCore
internal import MoonloopSystem

/// The settings for one connection, or for all of a listener.
struct TLSRequest {
  let context: TLSContext
  /// The name that the certificate of the server must be for; nil: any.
  var host: String?
  /// The time limit of a handshake; nil: none.
  var timeout: Int64?

  func session() throws(SystemError) -> TLSSession { try TLSSession(context, host: host) }
}

/// Whose options these are.
private enum TLSSide {
  case client(host: String?)
  case listener
  /// `stream:starttls`, which is explicit.
  case either

  var options: [StaticString] {
    let common: [StaticString] = ["cert", "key", "ca", "crl", "alpn", "min_version", "verify"]
    switch self {
    case .client: return common + ["host"]
    case .listener: return common + ["others", "timeout"]
    case .either: return common + ["host", "others", "timeout", "server"]
    }
  }
}

extension HostCall {
  /// The option 'tls' of a connection.
  func clientTLS(_ options: Options, host: String?) throws -> TLSRequest? {
    try tls(options, .client(host: host), example: "{ ca = \"roots.pem\" }")
  }

  /// The option 'tls' of a listener.
  func listenerTLS(_ options: Options) throws -> TLSRequest? {
    let example: StaticString = "{ cert = \"server.pem\", key = \"server.key\" }"
    guard var request = try tls(options, .listener, example: example) else { return nil }
    if request.timeout == nil { request.timeout = Duration.seconds(10).loopNanoseconds }
    return request
  }

  private func tls(
    _ options: Options, _ side: TLSSide, example: StaticString
  ) throws -> TLSRequest? {
    let type = options.push("tls")
    defer { stack.pop() }
    switch type {
    case .nil: return nil
    case .boolean where !stack.boolean(-1): return nil
    case .boolean:
      if case .listener = side { throw mistake("'tls' needs a certificate, as in \(example)") }
      return try request(TLSPlan(), side, nil)
    case .table:
      return try request(TLSPlan(), side, try tlsOptions(stack.absolute(-1), side, example))
    default: throw mistake("'tls' must be true or a table, such as \(example); got \(given(-1))")
    }
  }

  private func tlsOptions(
    _ index: Int32, _ side: TLSSide, _ example: StaticString
  ) throws(ScriptMistake) -> Options {
    try self.options(index, side.options, example: example, unnamed: 0)
  }

  /// The argument of `stream:starttls`.
  func startTLS(_ index: Int32) throws -> TLSRequest {
    let example: StaticString = "{ host = \"example.org\" }"
    return try request(TLSPlan(), .either, try tlsOptions(index, .either, example))
  }

  private func request(
    _ initial: TLSPlan, _ side: TLSSide, _ options: Options?
  ) throws -> TLSRequest {
    var plan = initial
    var host: String?
    if case .client(let given) = side { host = given }
    if let options { try read(options, side, &plan, &host) }
    if plan.isServer { host = nil }
    if let given = host {
      if given.hasSuffix(".") { host = String(given.dropLast()) }  // the root, in no certificate
    }
    if !plan.isServer, plan.verification != .none, host == nil {
      throw mistake(
        "needs 'host' in 'tls', the name that the certificate must be for",
        hint: "verify = false accepts any certificate")
    }
    do throws(TLSContext.Failure) {
      let context = try TLSContext(plan)
      context.companion = state.charge(TLSContext.footprint)
      var made = TLSRequest(context: context, host: host)
      if case .client = side { return made }
      made.timeout = try? options?.seconds("timeout", .positive)
      return made
    } catch { throw OperatingFailure("\(name): \(error.message)", error.code) }
  }

  private func read(
    _ options: Options, _ side: TLSSide, _ plan: inout TLSPlan, _ host: inout String?
  ) throws(ScriptMistake) {
    switch side {
    case .client: host = try options.systemText("host") ?? host
    case .listener: plan.isServer = true
    case .either:
      plan.isServer = try options.boolean("server") ?? false
      host = try options.systemText("host")
      if plan.isServer, host != nil { throw mistake("'host' is only for clients") }
    }
    if options.has("timeout") { _ = try options.seconds("timeout", .positive) }
    if let own = try identity(options) { plan.identities = [own] }
    plan.identities += try otherIdentities(options)
    if plan.isServer, !options.has("cert") { throw mistake("'tls' of a server needs 'cert'") }
    plan.authorities = try pem(options, "ca")
    plan.revocations = try pem(options, "crl")
    plan.protocols = try protocols(options)
    plan.verification = try verification(options, plan)
    if let version = try options.string("min_version") {
      guard version == "1.2" || version == "1.3" else {
        throw mistake("'min_version' must be \"1.2\" or \"1.3\", got \"\(version)\"")
      }
      plan.needsVersion13 = version == "1.3"
    }
  }

  private func verification(
    _ options: Options, _ plan: TLSPlan
  ) throws(ScriptMistake) -> TLSPlan.Verification {
    let type = options.push("verify")
    defer { stack.pop() }
    switch type {
    // Clients show a certificate if the server names its authorities.
    case .nil: return plan.isServer && plan.authorities == nil ? .none : .required
    case .boolean: return stack.boolean(-1) ? .required : .none
    case .string where plan.isServer && stack.string(-1) == "optional": return .optional
    default:
      let words = plan.isServer ? "true, false or \"optional\"" : "true or false"
      throw mistake("'verify' must be \(words), got \(given(-1))")
    }
  }

  // MARK: Texts

  private func identity(_ options: Options) throws(ScriptMistake) -> TLSIdentity? {
    guard let certificate = try pem(options, "cert") else {
      if options.has("key") { throw mistake("'key' needs 'cert', its certificate") }
      return nil
    }
    return TLSIdentity(certificate: certificate, key: try pem(options, "key"))
  }

  /// A PEM text unchanged, or the path of a file, which must be granted.
  private func pem(_ options: Options, _ name: StaticString) throws(ScriptMistake) -> TLSText? {
    guard let text = try options.systemText(name) else { return nil }
    let isText = text.utf8.split(separator: UInt8(ascii: "\n")).contains {
      $0.starts(with: "-----BEGIN ".utf8)
    }
    if isText { return .text(text) }
    try requireGrant(toRead: text)
    return .file(text)
  }

  private func otherIdentities(_ options: Options) throws(ScriptMistake) -> [TLSIdentity] {
    let type = options.has("others") ? options.push("others") : .nil
    defer { if type != .nil { stack.pop() } }
    if type == .nil { return [] }
    guard type == .table else { throw mistake("'others' must be a list, got \(given(-1))") }
    let list = stack.absolute(-1)
    var found: [TLSIdentity] = []
    while stack.rawGet(list, item: Int64(found.count + 1)) != .nil {
      defer { stack.pop() }
      let one = try self.options(
        stack.absolute(-1), ["cert", "key"], example: "{ cert = …, key = … }", unnamed: 0)
      guard let identity = try identity(one) else { throw mistake("'others' needs 'cert' in each") }
      found.append(identity)
    }
    stack.pop()
    return found
  }

  private func protocols(_ options: Options) throws(ScriptMistake) -> [String] {
    guard options.has("alpn") else { return [] }
    _ = options.push("alpn")
    defer { stack.pop() }
    guard stack.type(-1) == .table else {
      throw mistake("'alpn' must be a list of names, such as { \"http/1.1\" }; got \(given(-1))")
    }
    let list = stack.absolute(-1)
    var names: [String] = []
    while stack.rawGet(list, item: Int64(names.count + 1)) != .nil {
      defer { stack.pop() }
      guard stack.type(-1) == .string, let name = stack.string(-1),
        (1...255).contains(name.utf8.count), names.count < 64
      else { throw mistake("'alpn' must be a list of at most 64 names of 1 to 255 bytes") }
      names.append(name)
    }
    stack.pop()
    return names
  }
}
