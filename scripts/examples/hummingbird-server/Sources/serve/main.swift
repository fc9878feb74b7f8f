// serve FILE [PORT]: serves what the function `handle` of a Lua file answers.

import Glibc
import Hummingbird
import Logging
import Server

let arguments = CommandLine.arguments
guard arguments.count >= 2, let port = Int(arguments.count > 2 ? arguments[2] : "8080") else {
  print("usage: serve FILE [PORT]")
  exit(2)
}
let logger = Logger(label: "serve")
let scripts = try await Scripts(file: arguments[1], logger: logger)
try await scripts.give(Visits())
let application = makeApplication(
  scripts, configuration: .init(address: .hostname("127.0.0.1", port: port)), logger: logger)
try await application.runService()
