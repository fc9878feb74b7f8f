-- luv's terminals: streams, with mode and size from ml.tty, which restores the mode at the end of
-- the program.
local ml = require "moonloop"
local core = require "moonloop.compat.uv.core"
local posix = require "moonloop.posix"
local stream = require "moonloop.compat.uv.stream"

local uv = core.uv
local tty, new = stream._class("tty", 14)
local vterm = "unsupported"
-- By descriptor, those with a changed mode or known size: uv.tty_reset_mode takes no handle.
local terminals = {}

function uv.new_tty(fd, is_readable)
  fd = core.integer(fd, 1)
  core.boolean(is_readable, 2)
  if fd < 0 then return core.fail "EINVAL" end
  local kind, _, code = posix.kind(fd)
  if not kind then return core.fail(code) end
  if kind == "file" or kind == "folder" then return core.fail "EINVAL" end
  local handle = new()
  stream._adopt(handle, fd, posix.access(fd) or "rw")
  return handle._out
end

local function terminal(handle)
  if not handle._fd then return core.fail "EBADF" end
  local found = terminals[handle._fd]
  if found and found:is_valid() then return found end
  if not ml.tty.is_tty(handle._fd) then return core.fail "ENOTTY" end
  local opened, _, code = ml.tty.open { fd = handle._fd }
  if not opened then return core.fail(code) end
  terminals[handle._fd] = opened
  return opened
end

-- 0: normal; 1: raw; 2: binary, for programs that draw by themselves.
function tty.set_mode(handle, mode)
  handle = core.handle(handle, 1, "tty")
  mode = core.integer(mode, 2)
  if mode < 0 or mode > 2 then return core.fail "EINVAL" end
  local found, message, code = terminal(handle)
  if not found then return found, message, code end
  found.raw = mode > 0
  return 0
end

function tty.get_winsize(handle)
  local found, message, code = terminal(core.handle(handle, 1, "tty"))
  if not found then return found, message, code end
  return found.columns, found.rows
end

function uv.tty_reset_mode()
  for fd, found in pairs(terminals) do
    found:invalidate()
    terminals[fd] = nil
  end
  return 0
end

function uv.tty_set_vterm_state(value)
  vterm = core.word(value, 1, { "supported", "unsupported" })
end

function uv.tty_get_vterm_state() return core.fail "ENOTSUP" end
