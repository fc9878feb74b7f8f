import Moonloop

struct Request: Codable { var id: Int }
struct Reply: Codable { var text: String }

let host = try await LuaHost(name: "scripts")
try await host.run(
  """
  local ml = require "moonloop"
  function handle(request)
    ml.sleep(0.01)
    return { text = "number " .. request.id }
  end
  """, name: "=handlers")
let reply: Reply = try await host.call("handle", Request(id: 1))
print(reply.text)
await host.shutDown()
