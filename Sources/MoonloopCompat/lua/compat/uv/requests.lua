-- luv's requests: what has been asked for and is answered once, by a callback.
local core = require "moonloop.compat.uv.core"

local uv = core.uv

local request_numbers = { connect = 2, write = 3, shutdown = 4, udp_send = 5, fs = 6, work = 7,
  getaddrinfo = 8, getnameinfo = 9, random = 10 }
local request = {}
local request_meta = { __index = request, __name = "uv_req" }
function request_meta.__tostring(req)
  return ("uv_%s_t: %p"):format(debug.getuservalue(req, 1)._type, req)
end

-- A request that keeps the loop alive until it is finished.
function core.request(type_name, callback)
  local st = core.state()
  local req = { _type = type_name, _state = st, _callback = callback }
  core.hold(st)
  return core.show(req, request_meta)
end

local function finish(req, ...)
  if req._done then return end
  req._done = true
  core.enter(req._state)
  core.release(req._state)
  local callback = req._callback
  req._callback = nil
  if not callback then return end
  if req._handle and req._handle._closing then return callback "ECANCELED" end
  callback(...)
end

-- Calls the callback now: only in the closing stage, or when called by the loop itself. Before that
-- the request holds nothing, so that a run in the callback can end.
core.finish = finish

-- Calls the callback in the next pass, as libuv does for what completes at once; and for what a
-- task waited for, because the task holds the loop until it is over.
function core.finish_later(req, ...)
  req._task = nil
  req._pending = req._state.loop:perform({ as_source = true }, finish, req, ...)
end

local function check_request(req)
  return core.fields(req, request_meta) or core.bad(1, "Expected uv_req userdata")
end

function request.cancel(req)
  req = check_request(req)
  if not req._task or req._done then return core.fail(req._done and "EINVAL" or "EBUSY") end
  req._task:cancel()
  core.finish_later(req, "ECANCELED")
  return 0
end

function request.get_type(req)
  req = check_request(req)
  return req._type, request_numbers[req._type]
end

uv.cancel, uv.req_get_type = request.cancel, request.get_type
