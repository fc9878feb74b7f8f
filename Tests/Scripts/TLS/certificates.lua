-- Certificates with one defect each are refused, with the reason; so are protocols that do not
-- match. Both sides get an error.
local ml = require "moonloop"
local loop = ml.current()

local folder = os.tmpname()
os.remove(folder)
local function pem(name) return folder .. "/" .. name .. ".pem" end

-- One handshake over loopback: the client's result, and the server's report.
local function try(client, server)
  local seen, asked
  server.cert = server.cert or pem "server"
  local listener <close> = assert(ml.net.listen { host = "127.0.0.1", port = 0, tls = server,
    function(stream)
      seen = stream.tls
      asked = stream:read "l"
      stream:write(asked or "", "\n")
    end })
  if client.ca == nil then client.ca = pem "ca" elseif not client.ca then client.ca = nil end
  local stream, message, code = ml.net.connect { host = "localhost", port = listener.port,
    timeout = 5, tls = client }
  local facts = stream and stream.tls
  if stream then
    stream:write "hello\n"
    local line, problem, kind = stream:read("l", { timeout = 5 })
    stream:close()
    if line then
      assert(line == "hello" and asked == "hello")
      return "ok", facts, seen
    end
    message, code = problem, kind
  end
  while listener.tls_failures == 0 do ml.sleep(0.01) end
  return code, message, listener.tls_failure
end

local function file(name)
  local handle <close> = assert(io.open(name))
  return handle:read "a"
end

-- The defect; the client; the server; the client's code, its message, the server's message.
local function cases()
  return {
    { "nothing", {}, {} },
    { "nothing: texts instead of files", { ca = file(pem "ca") }, { cert = file(pem "server") } },
    { "expired", {}, { cert = pem "expired" }, "ETLS_EXPIRED", "has expired",
      "certificate expired" },
    { "not valid yet", {}, { cert = pem "early" }, "ETLS_EXPIRED", "not yet valid" },
    { "another host", {}, { cert = pem "other" }, "ETLS_HOST", "ostname mismatch" },
    { "another name wanted", { host = "x.example.org" }, {}, "ETLS_HOST", "ostname mismatch" },
    { "a wildcard", { host = "www.example.org" }, { cert = pem "example" } },
    { "too deep for a wildcard", { host = "a.b.example.org" }, { cert = pem "example" },
      "ETLS_HOST", "ostname mismatch" },
    { "an address", { host = "127.0.0.1" }, {} },
    { "another address", { host = "127.0.0.2" }, {}, "ETLS_HOST", "IP address mismatch" },
    { "unknown root", {}, { cert = pem "unknown" }, "ETLS_UNTRUSTED", "self%-signed",
      "unknown ca" },
    { "not a root of the system", { ca = false }, {}, "ETLS_UNTRUSTED", "unable to get local" },
    { "unknown root, not asked for", { verify = false }, { cert = pem "unknown" } },
    { "revoked", { crl = pem "crl" }, { cert = pem "revoked" }, "ETLS_REVOKED", "revoked",
      "certificate revoked" },
    { "not revoked", { crl = pem "crl" }, {} },
    { "no list of that root", { ca = pem "unknown", crl = pem "crl" }, { cert = pem "unknown" },
      "ETLS_CERTIFICATE", "unable to get certificate CRL" },
    { "no client's certificate", {}, { ca = pem "ca" }, "ETLS_REFUSED", "certificate required",
      "there is none" },
    { "a client's certificate", { cert = pem "client" }, { ca = pem "ca" } },
    { "an optional one", {}, { ca = pem "ca", verify = "optional" } },
    { "an unknown client", { cert = pem "unknown" }, { ca = pem "ca" }, "ETLS_REFUSED",
      "unknown ca", "self%-signed" },
    { "an expired client, optional", { cert = pem "expired" },
      { ca = pem "ca", verify = "optional" }, "ETLS_REFUSED", "certificate expired",
      "has expired" },
    { "a revoked client", { cert = pem "revoked" }, { ca = pem "ca", crl = pem "crl" },
      "ETLS_REFUSED", "certificate revoked", "revoked" },
    { "no common protocol", { alpn = { "h2" } }, { alpn = { "http/1.1" } }, "ETLS_REFUSED",
      "no application protocol" },
    { "a protocol that nobody asks for", {}, { alpn = { "http/1.1" } } },
    { "TLS 1.3 wanted", { min_version = "1.3" }, {} },
  }
end

local function texts()
  local function connect(tls)
    return ml.net.connect { host = "localhost", port = 1, tls = tls }
  end
  local function fails(code, words, tls)
    local none, message, kind = connect(tls)
    assert(none == nil and kind == code and message:find(words, 1, true), message)
  end
  fails("ENOENT", "none' of 'ca' cannot be read: No such file", { ca = folder .. "/none" })
  fails("EINVAL", "'ca' holds no certificate", { ca = pem "crl" })
  fails("EINVAL", "'crl' holds no revocation list", { crl = folder .. "/ca.crt" })
  fails("EINVAL", "'cert' holds no certificate", { cert = "-----BEGIN CERTIFICATE-----\nx" })
  fails("EINVAL", "client.crt' contains no unencrypted private key; give 'key'",
    { cert = folder .. "/client.crt" })
  fails("EINVAL", "'key' is not the key", { cert = pem "client", key = pem "server" })
  fails("EINVAL", "'key' is not the key", { cert = pem "server", key = pem "weak" })  -- EC, RSA
  fails("EINVAL", "key too small", { cert = pem "weak" })
  local function raises(words, tls)
    local ok, message = pcall(connect, tls)
    assert(not ok and message:find(words, 1, true), message)
  end
  raises("unknown option 'certs'", { certs = "x" })
  raises("did you mean 'verify'?", { verfy = false })
  raises("'tls' must be true or a table", "yes")
  raises("'key' needs 'cert'", { key = "x" })
  raises("'verify' must be true or false", { verify = "optional" })
  raises("'min_version' must be \"1.2\" or \"1.3\"", { min_version = "1.1" })
  raises("'alpn' must be a list", { alpn = "h2" })
  raises("at most 64 names of 1 to 255 bytes", { alpn = { "" } })
  local ok, message = pcall(ml.net.connect, { path = "/x", tls = true })
  assert(not ok and message:find("needs 'host' in 'tls'", 1, true), message)
  ok, message = pcall(ml.net.listen, { port = 0, tls = true })
  assert(not ok and message:find("needs a certificate", 1, true), message)
  ok, message = pcall(ml.net.listen, { port = 0, tls = { ca = pem "ca" } })
  assert(not ok and message:find("needs 'cert'", 1, true), message)
end

-- Two certificates: the name that the client asks for decides.
local function names()
  local server = { cert = pem "server", others = { { cert = pem "example" } }, alpn = { "b", "a" } }
  local status, facts, seen = try({ host = "www.example.org", alpn = { "a", "b" } }, server)
  assert(status == "ok" and facts.subject == "CN=example", facts)
  assert(seen.host == "www.example.org", seen.host)
  assert(facts.version == "TLSv1.3" and facts.cipher:find "^TLS_" and facts.alpn == "b")
  assert(facts.certificate:find "^%-%-%-%-%-BEGIN CERTIFICATE" and not seen.subject)
  status, facts = try({}, server)
  assert(status == "ok" and facts.subject == "CN=server" and not facts.alpn)
  for _, host in ipairs { "localhost", "www.example.org" } do
    local _, _, known = try({ cert = pem "client", host = host },
      { ca = pem "ca", others = server.others })
    assert(known.subject == "CN=client" and known.host == host)
    assert(try({ host = host }, { ca = pem "ca", others = server.others }) == "ETLS_REFUSED")
  end
end

loop:task(function()
  local made = assert(ml.process.run { "Tests/Scripts/TLS/certificates.sh", folder })
  assert(made.code == 0, "certificates.sh failed")
  for _, case in ipairs(cases()) do
    local what, client, server, expected, words, other = table.unpack(case)
    local status, message, failure = try(client, server)
    assert(status == (expected or "ok"), ("%s: %s, %s, %s"):format(what, status, message, failure))
    assert(not words or message:find(words), what .. ": " .. tostring(message))
    assert(not other or failure:find(other), what .. ": " .. tostring(failure))
  end
  texts()
  names()
  assert(ml.process.run { "rm", "-r", folder })
end)
loop:run()
