import Moonloop

func load(_ name: String) async throws -> String { "the text of \(name)" }

let host = try await LuaHost(name: "scripts")
try await host.withState { _, lua in
  lua.registerAsync("load") { (name: String) async throws -> String in try await load(name) }
}
try await host.run("function page(name) return load(name) .. '!' end")
let page: String = try await host.call("page", "index")
print(page)
await host.shutDown()
