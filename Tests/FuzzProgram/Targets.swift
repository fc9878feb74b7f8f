// The parsers, by name. One must return, whatever the bytes are, or raise no error in Lua.

import CFuzz
import Glibc
import LuaEmbed
import Moonloop
import MoonloopCore
import MoonloopRecording

typealias Parser = (UnsafeRawBufferPointer) -> Void

/// The one that runs. Main thread only: libFuzzer has no other.
nonisolated(unsafe) var parser: Parser?

// Never changed; each closure is called on the main thread.
nonisolated(unsafe) let targets: [String: () -> Parser] = [
  "clone": {
    let lua = state()
    return { bytes in
      guard let clone = try? StructuredClone(decoding: Array(bytes)) else { return }
      let stack = lua.runtime!.state.stack
      clone.push(on: stack)
      let again = try? StructuredClone(stack, -1)
      stack.pop()
      require(again != nil, "what was received cannot be sent")
    }
  },
  "frames": {
    { bytes in
      var (reader, whole) = (PortFrameReader(), [PortFrame]())
      reader.append(bytes)
      while let frame = try? reader.next() { whole.append(frame) }
      // The same in pieces; and what was read is read again after it was written.
      var (pieces, count) = (PortFrameReader(), 0)
      for byte in bytes.prefix(4096) {
        withUnsafeBytes(of: byte) { pieces.append($0) }
        guard let frame = try? pieces.next() else { continue }
        require(frame.bytes.elementsEqual(whole[count].bytes), "pieces make other frames")
        var again = PortFrameReader()
        frame.bytes.withUnsafeBytes { again.append($0) }
        let reread = (try? again.next()) ?? nil
        require(reread?.bytes.elementsEqual(frame.bytes) ?? false, "what is written is not read")
        count += 1
      }
    }
  },
  "recording": { { bytes in _ = Tape.look(at: bytes) } },
  "json": {
    inLua(
      """
      local json = require "moonloop.json"
      local value, message = json.decode(text)
      if message then return end
      local again = json.encode(value)
      assert(json.encode(json.decode(again)) == again, again)
      """)
  },
  "http-request": {
    inLua(
      """
      local message, bodies = require "moonloop.http.message", require "moonloop.http.body"
      local fields = require "moonloop.http.fields"
      local stream, slow = stream_of(text), stream_of(text, 1)
      while true do
        local head, is_simple = message.read_request(stream, 4096, {})
        local again = message.read_request(slow, 4096, {})
        assert(not head == not again, "it depends on how many lines come at once")
        if not head then return end
        local written = fields.head("x", head.headers)
        assert(written == fields.head("x", again.headers) and head.target == again.target)
        local framing = bodies.framing(head.headers, true)
        assert(not is_simple or message.keeps_alive(head) and framing == 0, "it is not simple")
        if not framing then return end
        if not bodies.read(bodies.parts(stream, framing, 1 << 16, none)) then return end
        slow.at = stream.at
      end
      """)
  },
  "http-response": {
    inLua(
      """
      local message, bodies = require "moonloop.http.message", require "moonloop.http.body"
      local fields = require "moonloop.http.fields"
      local stream = stream_of(text)
      while true do
        local head = message.read_response(stream, 4096, none)
        if not head then return end
        assert(head.status >= 100 and fields.head("x", head.headers))
        fields.parse_date(head.headers.date or "")
        local framing = bodies.framing(head.headers, false)
        if not framing then return end
        if not bodies.read(bodies.parts(stream, framing, 1 << 16, none)) then return end
        if framing == "close" then return end
      end
      """)
  },
  "http-events": {
    inLua(
      """
      local events = require "moonloop.http.events"
      local stream = stream_of(text)
      local function read() return stream:take(7) end
      for event in events.iterator(read, 1024) do
        -- A name may have signs that are not written.
        local fine, written = pcall(events.encode, event)
        local again = not fine and event
        local reader = stream_of(fine and written or "").reader
        for one in events.iterator(reader, 4096) do again = one end
        assert(again.data == event.data, "an event is not read as it was written")
      end
      """, mayRaise: "an event is too long")
  },
  "console": {
    let lua = state()
    lua.runtime!.console.open()
    return inLua(
      """
      -- What a console sends to a program.
      serve(lines_of(text), { uid = host.user() })
      loop:run { timeout = 0 }
      assert(not failed, failed)
      -- What a program sends to a console.
      program = lines_of('{"event":"hello"}\\n' .. text)
      local console = assert(client.connect "1")
      console.on_event = function(event) assert(event.event) end
      local reply, why = console:request { eval = "1", as = "json" }
      assert(reply and type(reply.values) == "table" or why)
      console:dispatch()
      """, before: consoleStubs, on: lua)
  },
  "guest": { guestParser() },
  "url": {
    inLua(
      """
      local url = require "moonloop.http.url"
      local parts = url.parse(text)
      if parts then assert(type(parts.host) == "string" and parts.port) end
      """)
  },
  "configuration": {
    inLua(
      """
      local configuration = require "moonloop.configuration"
      local value = require "moonloop.json".decode(text)
      -- Text that is no JSON is read for its lines; what is becomes the configuration itself.
      local doc = configuration.document(value or {}, "fuzz.lua", not value and text or nil)
      for _, one in ipairs(configuration.mistakes(doc, true)) do assert(#one.text > 0) end
      """)
  },
]

// Without memory for a state there is nothing to test, as with each `try!` here.
func state() -> LuaState { try! LuaState(on: Loop.current) }

private func fail(_ what: String) -> Never {
  writeToStandardError("finding: \(what)")
  abort()
}

private func require(_ condition: Bool, _ what: String) {
  if condition { return }
  fail(what)
}

/// A parser written in Lua: gets its input as `text`, and the lines that it runs are its coverage.
/// - Parameter mayRaise: Part of the only error that is no finding.
func inLua(
  _ body: String, mayRaise: String? = nil, before: String = "", on lua: LuaState = state()
) -> Parser {
  lua.setUp { cfz_install($0) }
  // Our own text, which compiles.
  try! lua.run("\(prelude)\n\(before)\nfunction parse(text)\n\(body)\nend", name: "=fuzz")
  let stack = lua.runtime!.state.stack
  return { bytes in
    stack.push(bytes: bytes)
    stack.popGlobal("input")
    do throws(LuaError) { try lua.run("follow() parse(input)", name: "=fuzz") } catch {
      if let mayRaise, error.message.contains(mayRaise) { return }
      fail("\(error)")
    }
  }
}

/// A stream that has a text, and ends with it.
private let prelude = """
  function none() return {} end
  local Stream = {}
  Stream.__index = Stream
  function Stream:take(count)
    if self.at > #self.text then return nil end
    local part = self.text:sub(self.at, self.at + count - 1)
    self.at = self.at + #part
    return part
  end
  function Stream:read(what)
    if what == "h" then
      local lines = ""
      for _ = 1, self.lines do
        local line, _, code = self:read "L"
        if code and lines == "" then return nil, "long", code end
        lines = lines .. (line or "")
        if not line or line == "\\n" or line == "\\r\\n" then break end
      end
      return lines ~= "" and lines or nil
    end
    if what ~= "L" then return self:take(what) end
    local stop = self.text:find("\\n", self.at, true) or #self.text
    if stop - self.at > 65536 then return nil, "long", "EMSGSIZE" end
    return self:take(stop - self.at + 1)
  end
  Stream.read_some = Stream.take
  function stream_of(text, lines)  -- how many of them come at once
    local stream = setmetatable({ text = text, at = 1, lines = lines or 100 }, Stream)
    function stream.reader() return stream:take(5) end
    return stream
  end
  """

/// Both ends of a console, without a socket between them; its session evaluates nothing.
private let consoleStubs = """
  local ml = require "moonloop"
  loop = ml.current()
  loop.on_error = function(failure) failed = failure.message end
  host = require "moonloop.console.host"
  function host.folder() return "/nowhere" end
  function host.ask() return true end
  host.sweep, host.watch_end = none, none
  local session = { modes = "default", add = none, remove = none }
  function session.new()
    return {
      environment = { a = { b = {} } }, interrupt = none,
      evaluate = function(_, text)
        follow()
        if #text % 3 == 0 then return { failure = text, incomplete = true } end
        return { values = table.pack(text, nil, #text) }
      end,
      text = function(_, values) return tostring(values[1]) end,
    }
  end
  package.loaded["moonloop.console.session"] = session
  function ml.net.listen(options) serve = options[1] return { keep_alive = none } end
  function ml.net.connect() return program end
  client = require "moonloop.console.client"
  require "moonloop.console.server".listen()
  local Lines = setmetatable({ keep_alive = none, invalidate = none, is_valid = none }, Stream)
  Lines.__index = Lines
  function Lines:read()
    local line = Stream.read(self, "L")
    return line and (line:gsub("\\n$", ""))
  end
  function Lines:write(line, ending)
    assert(ending == "\\n" and not line:find "\\n", "a message takes more than a line")
    return true
  end
  function lines_of(text) return setmetatable({ text = text, at = 1 }, Lines) end
  """
