-- Against OpenSSL's own client and server, curl and nginx: both sides of TLS, with each version.
local ml = require "moonloop"
local loop = ml.current()

local folder = os.tmpname()
os.remove(folder)
local function pem(name) return folder .. "/" .. name .. ".pem" end

local function spawn(command)
  command.stdin, command.stdout, command.stderr = "pipe", "pipe", "stdout"
  return assert(ml.process.spawn(command))
end

-- A port that is free.
local function free_port()
  local server <close> = assert(ml.net.listen { host = "127.0.0.1", port = 0 })
  return server.port
end

-- Waits until a connection to a server can be made, on another program's clock: ours stands still
-- while the server runs.
local function wait_for(port)
  local try = "until (: >/dev/tcp/127.0.0.1/$1) 2>&-; do sleep 0.02; done"
  local waited = assert(ml.process.run { "bash", "-c", try, "try", tostring(port) })
  assert(waited.code == 0, "the server does not start")
end

-- s_server with a certificate that is too weak for us, with old versions only, and as it should be.
local function servers()
  local cases = {
    { { "-cert", pem "server", "-tls1_3" }, "TLSv1.3" },
    { { "-cert", pem "server", "-tls1_2" }, "TLSv1.2" },
    { { "-cert", pem "weak", "-cipher", "ALL:@SECLEVEL=0" }, nil, "ETLS_WEAK", "key too weak" },
    { { "-cert", pem "server", "-tls1_1", "-cipher", "ALL:@SECLEVEL=0" }, nil, "ETLS_REFUSED",
      "alert protocol version" },
  }
  for _, case in ipairs(cases) do
    local port = free_port()
    local command = { "openssl", "s_server", "-accept", "127.0.0.1:" .. port, "-rev", "-quiet",
      table.unpack(case[1]) }
    local server <close> = spawn(command)
    wait_for(port)
    local stream <close>, message, code = ml.net.connect { host = "localhost", port = port,
      tls = { ca = pem "ca" } }
    if case[3] then
      assert(code == case[3] and message:find(case[4], 1, true), message)
    else
      assert(stream, message)
      assert(stream.tls.version == case[2], stream.tls.version)
      stream:write "hello\n"
      assert(stream:read "l" == "olleh")
    end
    server:kill()
  end
end

local function listen(tls)
  tls.cert = pem "server"
  return assert(ml.net.listen { host = "127.0.0.1", port = 0, tls = tls, function(stream)
    for line in function() return (stream:read "l") end do stream:write(line:upper(), "\n") end
  end })
end

-- s_client: what it reports about us; renegotiation, which we refuse; half of a handshake.
local function clients()
  local listener <close> = listen { alpn = { "echo" } }
  local function ask(input, ...)
    local client <close> = spawn { "openssl", "s_client", "-connect",
      "127.0.0.1:" .. listener.port, "-servername", "localhost", "-CAfile", pem "ca",
      "-verify_return_error", ... }
    client.stdin:write(input)
    local text, found = "", nil
    repeat
      local part = client.stdout:read_some(65536, { timeout = 20 })
      text = text .. (part or "")
      found = text:find "HELLO\n" or text:find "error:"
    until found or not part
    client.stdin:close()
    return text .. (client.stdout:read "a" or "")
  end
  for _, version in ipairs { "-tls1_2", "-tls1_3" } do
    local text = ask("hello\n", version, "-alpn", "echo")
    assert(text:find "Verify return code: 0 %(ok%)" and text:find "HELLO\n", text)
    assert(text:find "ALPN protocol: echo", text)
  end
  local text = ask("R\nhello\n", "-tls1_2")
  assert(text:find "no renegotiation" or text:find "error", text)
  text = ask("hello\n", "-tls1_1", "-cipher", "ALL:@SECLEVEL=0")
  assert(text:find "alert protocol version" and not text:find "HELLO", text)
end


-- curl requests from our server, and we request from nginx.
local function web()
  local server <close> = assert(ml.http.serve { host = "127.0.0.1", port = 0,
    tls = { cert = pem "server", ca = pem "ca", verify = "optional" }, function(request)
      local tls = request.stream.tls
      return ("%s from %s\n"):format(request.path, tls.subject or "nobody")
    end })
  local function curl(...)
    return assert(ml.process.run { "curl", "-sS", "--cacert", pem "ca", "--max-time", "20",
      stderr = "stdout", ... })
  end
  local base = "https://localhost:" .. server.port
  assert(curl(base .. "/a").stdout == "/a from nobody\n")
  assert(curl("--cert", pem "client", base .. "/b").stdout == "/b from CN=client\n")
  local failed = curl("--cert", pem "expired", base .. "/c")
  assert(failed.code ~= 0 and failed.stdout:find "certificate", failed.stdout)

  local port = free_port()
  local config <close> = assert(io.open(folder .. "/nginx.conf", "w"))
  config:write(([[
    daemon off; pid nginx.pid; error_log nginx.log; events {}
    http { access_log off; server { listen 127.0.0.1:%d ssl; server_name localhost;
      ssl_protocols TLSv1.3; ssl_certificate server.pem; ssl_certificate_key server.pem;
      ssl_client_certificate ca.pem; ssl_verify_client optional;
      location / { return 200 "$ssl_client_s_dn over $ssl_protocol\n"; } } }
  ]]):format(port))
  config:close()
  local nginx <close> = spawn { "nginx", "-p", folder, "-c", "nginx.conf", "-e", "nginx.log" }
  wait_for(port)
  local response = assert(ml.http.get("https://localhost:" .. port .. "/",
    { tls = { ca = pem "ca", cert = pem "client" }, timeout = 20 }))
  assert(response.body == "CN=client over TLSv1.3\n", response.body)
  local none, message, code = ml.http.get("https://localhost:" .. port .. "/", { timeout = 20 })
  assert(none == nil and code == "ETLS_UNTRUSTED", message)
end

loop:task(function()
  assert(assert(ml.process.run { "Tests/Scripts/TLS/certificates.sh", folder }).code == 0)
  servers()
  clients()
  web()
  assert(ml.process.run { "rm", "-r", folder })
end)
loop:run()
