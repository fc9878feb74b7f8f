// Recipes that go on, or need something at the other end: a script for each plays that part.

/// A recipe and the script that starts it and talks to it, so that one process owns both sides.
struct ServedRecipe {
  let file: String
  let driver: String
  let output: String

  /// How all drivers begin.
  static let prelude = """
    local ml = require "moonloop"
    local loop = ml.current()
    local program, file, folder = ...
    local function start(...)
      local p = assert(ml.process.spawn { program, "run", file, stdout = "pipe", stderr = "stdout",
        env_add = { HUB = "org.example.hub-" .. ml.process.id() }, ... })
      return p, p.stdout:read "l"
    end
    local function serve(...)
      local p, line = start(...)
      return p, tonumber(line:match "^port (%d+)$")
    end
    local function connect(port)
      return assert(ml.net.connect { host = "127.0.0.1", port = port, timeout = 10 })
    end
    local function stop(p, name)
      p:kill(name or "term")
      return p:await().code
    end
    local function put(name, text)
      assert(io.open(folder .. "/" .. name, "w")):write(text):close()
    end

    """

  static let all: [ServedRecipe] = [
    ServedRecipe(
      file: "chat.lua",
      driver: """
        local p, port = serve "0"
        local ada = connect(port)
        print(ada:read "l")
        ada:write "Ada\\n"
        print(ada:read "l")
        local bob = connect(port)
        bob:write "Bob\\nhello\\n"
        print(ada:read "l", ada:read "l")
        bob:shutdown()
        print(ada:read "l")
        print(bob:read "l", bob:read "l", bob:read "l")
        print(stop(p))
        """,
      output: """
        Your name?
        Ada is here
        Bob is here\tBob: hello
        Bob has left
        Your name?\tBob is here\tnil
        0

        """),
    ServedRecipe(
      file: "udp_echo.lua",
      driver: """
        local p, port = serve "0"
        local socket = assert(ml.net.udp { host = "127.0.0.1" })
        socket:send("hello", "127.0.0.1", port)
        print((socket:receive { timeout = 10 }))
        print(stop(p))
        """,
      output: "HELLO\n0\n"),
    ServedRecipe(
      file: "api.lua",
      driver: """
        local p, port = serve "0"
        local base = "http://127.0.0.1:" .. port
        io.write(ml.http.get(base .. "/birds").body)
        io.write(ml.http.post(base .. "/birds", '{"name":"owl"}').body)
        io.write(ml.http.get(base .. "/birds").body, ml.http.get(base .. "/birds/owl").body)
        print(ml.http.get(base .. "/birds/dodo").status, ml.http.post(base .. "/birds", "{").status)
        print(stop(p))
        """,
      output: "[]\n{\"name\":\"owl\"}\n[\"owl\"]\n{\"name\":\"owl\"}\n404\t400\n0\n"),
    ServedRecipe(
      file: "https_api.lua",
      driver: #"""
        local pem = assert(ml.process.run { "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
          "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost", "-addext",
          "subjectAltName=DNS:localhost", "-keyout", "-", "-out", "-", stderr = "null" }).stdout
        put("server.pem", pem)
        local p, port = serve("0", folder .. "/server.pem", "sesame")
        local base = "https://localhost:" .. port
        local function get(path, token, ca)
          local reply, _, code = ml.http.get(base .. path, { timeout = 10, tls = { ca = ca },
            headers = { Authorization = "Bearer " .. token } })
          return reply and reply.status or code, reply and reply.body
        end
        print((get("/time", "guess", pem)), (get("/", "sesame", pem)), (get("/time", "sesame")))
        local status, body = get("/time", "sesame", pem)
        print(status, math.type(ml.json.decode(body).time))
        p:kill "hup"
        print(p.stdout:read "l", (get("/time", "sesame", pem)))
        print(stop(p))
        """#,
      output: "401\t404\tETLS_UNTRUSTED\n200\tinteger\nreloaded\t200\n0\n"),
    ServedRecipe(
      file: "jobs.lua",
      driver: """
        local socket = assert(ml.fs.temporary_folder()) .. "/s"
        local broker = assert(ml.process.spawn { "redis-server", "--port", "0", "--unixsocket",
          socket, "--save", "", stdout = "null" })
        repeat ml.sleep(0.01) until ml.fs.stat(socket)
        local over = "redis+unix://" .. socket:gsub("/", "%%2F")
        local worker = assert(ml.process.spawn { program, "run", file, over, "work" })
        print(assert(ml.process.run { program, "run", file, over, "3", "4", "5" }).stdout)
        print(stop(worker))
        print(stop(broker))
        ml.fs.remove(socket:match "^.*/", { recursive = true })
        """,
      output: "3\t9\n4\t16\n5\t25\n\n0\n0\n"),
    ServedRecipe(
      file: "mqtt_bridge.lua",
      driver: #"""
        local broker = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
          local function packet(count) return stream:read(count) end
          local connect = packet(20)
          print(#connect, (string.unpack(">s2", connect, 3)), string.unpack(">s2", connect, 13))
          stream:write "\x20\2\0\0"
          local subscribe = packet(12)
          print(string.unpack(">s2", subscribe, 5))
          stream:write "\x90\3\0\1\0"
          local publish = packet(12)
          print(publish:byte(1), (string.unpack(">s2", publish, 3)), publish:sub(10))
          stream:write(publish)
          stream:read(1)
        end })
        local p, port = serve("127.0.0.1:" .. broker.port, "birds", "0")
        local s = connect(port)
        s:write "owl\n"
        print(p.stdout:read "l")
        print(stop(p))
        broker:invalidate()
        """#,
      output: "20\tMQTT\tbridge\t21\nbirds\t12\n48\tbirds\towl\nbirds: owl\n0\n"),
    ServedRecipe(
      file: "proxy.lua",
      driver: """
        local server = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
          stream:write(stream:read "a":upper())
        end })
        local p, port = serve("0", "127.0.0.1", tostring(server.port))
        local s = connect(port)
        s:write "hello"
        s:shutdown()
        print(s:read "a")
        print(p.stdout:read "l")
        print(stop(p))
        loop:stop()
        """,
      output: "HELLO\n5 bytes there, 5 back\n0\n"),
    ServedRecipe(
      file: "fetch_many.lua",
      driver: """
        local server = assert(ml.http.serve { host = "127.0.0.1", port = 0, function(request)
          ml.sleep(request.path == "/slow" and 0.05 or 0)
          return request.path
        end })
        local base = "http://127.0.0.1:" .. server.port
        local p, first = start(base .. "/slow", base .. "/b", "http://127.0.0.1:1/")
        local rest = p.stdout:read "a"
        print((first .. "\\n" .. rest:gsub("\\n$", "")):gsub(base, "URL") .. "")
        print(p:await().code)
        server:invalidate()
        """,
      output: """
        URL/slow\t200, 5 bytes
        URL/b\t200, 2 bytes
        http://127.0.0.1:1/\tGET http://127.0.0.1:1/: \
        connect to 127.0.0.1:1 failed: Connection refused (ECONNREFUSED)
        0

        """),
    ServedRecipe(
      file: "scan.lua",
      driver: """
        local server = assert(ml.net.listen { host = "127.0.0.1", port = 0, function() end })
        local port = tostring(server.port)
        local p, first = start(port, port)
        print(first == port, p.stdout:read "l", p:await().code)
        server:invalidate()
        """,
      output: "true\t1 of 1 ports are open\t0\n"),
    ServedRecipe(
      file: "publish.lua",
      driver: """
        local hub, ready = start "hub"
        local ada, subscribed = start("subscribe", "weather")
        print(ready, subscribed)
        print(select(2, start("publish", "weather", "rain")))
        print(select(2, start("publish", "sports", "goal")))
        print(select(2, start("publish", "weather", "bye")))
        print(ada.stdout:read "l", ada.stdout:read "l", ada:await().code)
        print(stop(hub))
        """,
      output: """
        ready\tsubscribed
        subscribers: 1
        subscribers: 0
        subscribers: 1
        weather: rain\tweather: bye\t0
        0

        """),
    ServedRecipe(
      file: "redis_bridge.lua",
      driver: """
        local redis = assert(ml.net.listen { host = "127.0.0.1", port = 0, function(stream)
          for line in stream:lines() do
            if line == "PUBLISH\\r" then
              for _ = 1, 4 do line = line .. stream:read "l" end
              print((line:gsub("\\r", " ")))
              stream:write ":2\\r\\n"
            end
          end
        end })
        local p, port = serve("0", tostring(redis.port), "news")
        local s = connect(port)
        s:write "hello\\n"
        print(s:read "l", p.stdout:read "l")
        print(stop(p))
        loop:stop()
        """,
      output: "PUBLISH $4 news $5 hello \nok\t\"hello\", subscribers: 2\n0\n"),
    ServedRecipe(
      file: "rebuild.lua",
      driver: """
        local p, line = start(folder, "sh", "-c", "echo building")
        print(line, p.stdout:read "l":match "^built in")
        put("main.c", "text")
        print(p.stdout:read "l")
        print(p.stdout:read "l", p.stdout:read "l":match "^built in")
        print(stop(p))
        """,
      output: "building\tbuilt in\ncreated main.c\nbuilding\tbuilt in\n0\n"),
    ServedRecipe(
      file: "inbox.lua",
      driver: """
        put("one", "abc")
        local p, line = start(folder)
        print(line, p.stdout:read "l")
        put("two", "defgh")
        print(p.stdout:read "l")
        print(stop(p))
        """,
      output: "one has 3 bytes\twatching\ntwo has 5 bytes\n0\n"),
    ServedRecipe(
      file: "single.lua",
      driver: """
        local first, line = start(folder .. "/lock")
        print(line)
        local second, refusal = start(folder .. "/lock")
        print(refusal == "already running: process " .. first.pid, second:await().code)
        stop(first, "kill")
        local third, again = start(folder .. "/lock")
        print(again, stop(third))
        """,
      output: "running\ntrue\t1\nrunning\t0\n"),
    ServedRecipe(
      file: "shutdown.lua",
      driver: """
        local p, line = start()
        print(line)
        print(stop(p), (p.stdout:read "a":gsub("\\n", "; ")))
        """,
      output: "ready\n0\tgot term, finishing; all jobs finished; \n"),
  ]
}
