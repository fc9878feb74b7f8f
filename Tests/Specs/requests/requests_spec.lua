-- HTTP requests of tests, and what they expect of the responses.
local ml = require "moonloop"

describe("a request", function()
  local server, base

  setup(function()
    server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(request)
      if request.path == "/echo" then
        return 200, request.method .. " " .. request.body, { ["x-name"] = "echo" }
      end
      if request.path == "/login" then
        return 200, "", { ["set-cookie"] = { "a=1", "b=2; HttpOnly" } }
      end
      if request.path == "/hello" then return "hello " .. request.query.name end
      return 404, "no such page\n"
    end })
    base = ":" .. server.port
  end)
  teardown(function() server:invalidate() end)

  it("is answered", function(_, _, t)
    local response = t:get(base .. "/hello", { query = { name = "Ada" } })
    assert.equal("Ada", response:expect(200, "hello (%w+)"))
    assert.equal("hello", response:expect(nil, "hello"))
    assert.equal(response, response:expect(200))
    assert.equal("hello Ada", response.body)
  end)

  for _, method in ipairs { "post", "put", "patch" } do
    it("has a body: " .. method, function(_, _, t)
      local headers = { ["X-Name"] = "^echo$" }
      t[method](t, base .. "/echo", "body"):expect(
        200, "^" .. method:upper() .. " body$", { headers = headers })
    end)
  end

  it("has a method", function(_, _, t)
    t:delete(base .. "/echo"):expect(200, "DELETE ", { plain = true })
    assert.equal("", t:head("http://127.0.0.1" .. base .. "/echo"):expect(200).body)
    t:request { method = "PURGE", url = base .. "/echo" }:expect(200, "^PURGE ")
  end)

  it("has a header with several values", function(_, _, t)
    t:get(base .. "/login"):expect(200, nil, { headers = { ["Set-Cookie"] = "^b=2; HttpOnly$" } })
  end)

  it("fails for another status", function(_, _, t) t:get(":" .. server.port .. "/"):expect(200) end)
  it("fails for another body", function(_, _, t)
    t:get(base .. "/echo"):expect(200, "(", { plain = true })
  end)
  it("fails for another header", function(_, _, t)
    t:get(base .. "/echo"):expect(200, nil, { headers = { ["x-name"] = "other" } })
  end)
  it("fails for other values of a header", function(_, _, t)
    t:get(base .. "/login"):expect(200, nil, { headers = { ["set-cookie"] = "c=3" } })
  end)
  it("fails for no header", function(_, _, t)
    t:get(base .. "/echo"):expect(200, nil, { headers = { ["x-other"] = "" } })
  end)
end)

describe("a mistake", function()
  it("is an answer that nobody gives", function(_, _, t) t:get ":1/" end)
  it("is another word", function(_, _, t) t:fetch ":1/" end)
  it("is another option", function(_, _, t) t:get(":1/", { tmeout = 1 }) end)
  it("is no address", function(_, _, t) t:post("localhost/", "body") end)
  it("is no colon", function(_, _, t) t.put(":1/") end)
  it("is no table", function(_, _, t) t:request ":1/" end)
end)
