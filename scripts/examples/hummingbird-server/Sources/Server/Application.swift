// The server: each request goes to the function `handle` of the scripts.

internal import HTTPTypes
public import Hummingbird
public import Logging
internal import Moonloop

/// What a script gets.
struct ScriptRequest: Encodable {
  let method: String
  let path: String
  let query: [String: String]
  let body: String
}

/// What a script answers: `{ status = 404, body = "no such page" }`.
struct ScriptReply: Decodable {
  var status: Int?
  var headers: [String: String]?
  var body: String?
}

/// Makes the server.
/// - Parameters:
///   - scripts: What handles the requests; a service of the application.
///   - configuration: Where it listens.
///   - logger: Where the server logs.
///   - onPort: Called with the port when the server takes requests.
public func makeApplication(
  _ scripts: Scripts, configuration: ApplicationConfiguration = .init(), logger: Logger,
  onPort: @escaping @Sendable (Int) -> Void = { _ in }
) -> some ApplicationProtocol {
  let router = Router()
  for method in [HTTPRequest.Method.get, .post, .put, .delete] {
    for path: RouterPath in ["/", "**"] {
      router.on(path, method: method) { request, context in
        try await answer(request, context.logger, scripts)
      }
    }
  }
  return Application(
    router: router, configuration: configuration, services: [scripts],
    onServerRunning: { onPort($0.localAddress?.port ?? 0) }, logger: logger)
}

private func answer(
  _ request: Request, _ logger: Logger, _ scripts: Scripts
) async throws -> Response {
  let body = try await request.body.collect(upTo: 1 << 20)
  var query: [String: String] = [:]
  for (name, value) in request.uri.queryParameters { query[String(name)] = String(value) }
  do {
    let reply: ScriptReply = try await scripts.call(
      "handle",
      ScriptRequest(
        method: request.method.rawValue, path: request.uri.path, query: query,
        body: String(buffer: body)))
    return reply.response
  } catch {
    logger.error("\(error)")
    throw HTTPError(error.kind == .closed ? .serviceUnavailable : .internalServerError)
  }
}

extension ScriptReply {
  fileprivate var response: Response {
    var fields = HTTPFields()
    for (name, value) in headers ?? [:] {
      if let name = HTTPField.Name(name) { fields[name] = value }
    }
    return Response(
      status: .init(code: status ?? 200), headers: fields,
      body: ResponseBody(byteBuffer: ByteBuffer(string: body ?? "")))
  }
}
