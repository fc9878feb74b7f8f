-- Run tests against a real server
-- The program is started for the test, asked, and stopped, whatever the test does. Its port is a
-- free one, so that tests can run beside each other.
--
--   moonloop test server_spec.lua
local program = arg and arg[-1] or "moonloop"

describe("the API of api.lua", function()
  local url

  before_each(function(_, _, t)
    local server = t:spawn { program, "run", t:fixture "api.lua" }
    url = "http://127.0.0.1:" .. server:expect "port (%d+)"
  end)

  it("keeps what was posted", function(_, _, t)
    t:post(url .. "/birds", '{"name":"owl"}'):expect(201)
    t:get(url .. "/birds"):expect(200, '%["owl"%]')
  end)

  it("says what is missing", function(_, _, t)
    t:post(url .. "/birds", '{"legs":2}'):expect(400, "a bird has a name")
    t:get(url .. "/birds/dodo"):expect(404, "no such bird: dodo")
  end)
end)
