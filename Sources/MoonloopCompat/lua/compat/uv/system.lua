-- luv's information about the process and the machine, most of it from /proc.
local ml = require "moonloop"
local core = require "moonloop.compat.uv.core"
local posix = require "moonloop.posix"

local uv = core.uv

local VERSION = { 1, 44, 2 }

function uv.version() return VERSION[1] << 16 | VERSION[2] << 8 | VERSION[3] end
function uv.version_string() return table.concat(VERSION, ".") end

local kinds = { terminal = "tty", file = "file", folder = "file", device = "file", pipe = "pipe",
  unix = "pipe", tcp = "tcp", udp = "udp" }

function uv.guess_handle(fd) return kinds[posix.kind(core.integer(fd, 1))] or "unknown" end

local function contents(path)
  local file = io.open(path)
  if not file then return "" end
  local text = file:read "a"
  file:close()
  return text or ""
end

-- The process ----------------------------------------------------------------------------------

function uv.cwd() return core.result(posix.folder()) end
function uv.chdir(path) return core.result(posix.set_folder(core.text(path, 1))) end
function uv.exepath() return core.exepath or core.result(posix.link "/proc/self/exe") end
function uv.os_getpid() return ml.process.id() end
uv.getpid = uv.os_getpid

function uv.os_getppid()
  local _, _, parent = posix.ids()
  return parent
end

function uv.getuid() return (posix.ids()) end

function uv.getgid()
  local _, group = posix.ids()
  return group
end

local function set_id(kind, number)
  local done = posix.set_id(kind, core.integer(number, 1))
  if not done then error("Error setting " .. (kind == "user" and "UID" or "GID"), 3) end
end

function uv.setuid(number) set_id("user", number) end
function uv.setgid(number) set_id("group", number) end

function uv.os_getenv(name)
  local value = posix.environment()[core.text(name, 1)]
  if value then return value end
  return core.fail "ENOENT"
end

function uv.os_setenv(name, value)
  core.result(posix.set_variable(core.text(name, 1), core.text(value, 2)))
  return true
end

function uv.os_unsetenv(name)
  core.result(posix.set_variable(core.text(name, 1), nil))
  return true
end

function uv.os_environ() return posix.environment() end

local title

function uv.get_process_title() return title or contents "/proc/self/comm":gsub("\n$", "") end

function uv.set_process_title(text)
  title = core.text(text, 1)
  return 0
end

-- Clock ticks as seconds and microseconds.
local function ticks(count) return { sec = count // 100, usec = count % 100 * 10000 } end

function uv.getrusage()
  local fields = {}
  for word in contents("/proc/self/stat"):gsub("^.*%) ", ""):gmatch "%S+" do
    fields[#fields + 1] = math.tointeger(tonumber(word)) or 0
  end
  local peak = math.tointeger(tonumber(contents("/proc/self/status"):match "VmHWM:%s*(%d+)")) or 0
  return { utime = ticks(fields[12]), stime = ticks(fields[13]), maxrss = peak, ixrss = 0,
    idrss = 0, isrss = 0,
    minflt = fields[8], majflt = fields[10], nswap = 0, inblock = 0, oublock = 0,
    msgsnd = 0, msgrcv = 0, nsignals = 0, nvcsw = 0, nivcsw = 0 }
end

function uv.os_getpriority(pid)
  local id = core.integer(pid, 1)
  local stat = contents(("/proc/%s/stat"):format(id == 0 and "self" or id))
  if stat == "" then return core.fail "ESRCH" end
  local place = 0
  for word in stat:gsub("^.*%) ", ""):gmatch "%S+" do
    place = place + 1
    if place == 17 then return math.tointeger(tonumber(word)) end
  end
end

function uv.os_setpriority(pid, priority)
  pid, priority = core.integer(pid, 1), core.integer(priority, 2)
  if priority < -20 or priority > 19 then return core.fail "EINVAL" end
  local done, _, code = posix.set_priority(pid, priority)
  if not done then return core.fail(code) end
  return true
end

-- The machine ----------------------------------------------------------------------------------

local function kilobytes(name)
  local count = contents("/proc/meminfo"):match(name .. ":%s*(%d+)")
  return (math.tointeger(tonumber(count)) or 0) * 1024
end

function uv.get_total_memory() return kilobytes "MemTotal" end
function uv.get_free_memory() return kilobytes "MemAvailable" end

function uv.get_constrained_memory()
  return math.tointeger(tonumber((contents "/sys/fs/cgroup/memory.max"))) or 0
end

function uv.resident_set_memory()
  return (math.tointeger(tonumber(contents("/proc/self/statm"):match "^%d+ (%d+)")) or 0) * 4096
end

function uv.uptime() return tonumber(contents("/proc/uptime"):match "^%S+") end

function uv.loadavg()
  local one, five, fifteen = contents("/proc/loadavg"):match "^(%S+) (%S+) (%S+)"
  return tonumber(one), tonumber(five), tonumber(fifteen)
end

function uv.cpu_info()
  local models, speeds, list = {}, {}, {}
  local info = contents "/proc/cpuinfo"
  for model in info:gmatch "model name%s*:%s*([^\n]*)" do models[#models + 1] = model end
  for speed in info:gmatch "cpu MHz%s*:%s*(%d+)" do speeds[#speeds + 1] = math.tointeger(speed) end
  for user, nice, sys, idle, irq in contents("/proc/stat"):gmatch
    "cpu%d+ (%d+) (%d+) (%d+) (%d+) %d+ (%d+)" do
    local place = #list + 1
    list[place] = { model = models[place] or "unknown", speed = speeds[place] or 0, times = {
      user = user * 10, nice = nice * 10, sys = sys * 10, idle = idle * 10, irq = irq * 10 } }
  end
  return list
end

function uv.available_parallelism() return math.max(1, #uv.cpu_info()) end

function uv.interface_addresses() return posix.interfaces() end

-- The name of an interface by its number; on Linux that is also its identifier.
function uv.if_indextoname(index)
  index = core.integer(index, 1)
  for entry in io.lines "/proc/net/dev" do
    local name = entry:match "^%s*(%S+):"
    if name and tonumber((contents(("/sys/class/net/%s/ifindex"):format(name)))) == index then
      return name
    end
  end
  return core.fail "ENXIO"
end
uv.if_indextoiid = uv.if_indextoname

local function first_line(path) return (contents(path):match "^[^\n]*") end

function uv.os_gethostname() return first_line "/proc/sys/kernel/hostname" end

function uv.os_uname()
  return { sysname = first_line "/proc/sys/kernel/ostype",
    release = first_line "/proc/sys/kernel/osrelease",
    version = first_line "/proc/sys/kernel/version", machine = posix.machine() }
end

function uv.gettimeofday()
  local now = ml.wall_time()
  return math.floor(now), math.floor(now % 1 * 1e6)
end

function uv.clock_gettime(name)
  local now = name == "realtime" and ml.wall_time() or ml.now()
  return { sec = math.floor(now), nsec = math.floor(now % 1 * 1e9) }
end

-- The user -------------------------------------------------------------------------------------

function uv.os_get_passwd()
  local user = posix.ids()
  for line in contents("/etc/passwd"):gmatch "[^\n]+" do
    local name, id, group, home, shell =
      line:match "^([^:]*):[^:]*:(%d+):(%d+):[^:]*:([^:]*):([^:]*)"
    if name and math.tointeger(tonumber(id)) == user then
      return { username = name, uid = user, gid = math.tointeger(tonumber(group)), shell = shell,
        homedir = home }
    end
  end
  return core.fail "ENOENT"
end

function uv.os_homedir()
  local home = os.getenv "HOME"
  if home and home ~= "" then return home end
  local entry, message, code = uv.os_get_passwd()
  if not entry then return entry, message, code end
  return entry.homedir
end

function uv.os_tmpdir()
  for _, name in ipairs { "TMPDIR", "TMP", "TEMP", "TEMPDIR" } do
    local path = os.getenv(name)
    if path and path ~= "" then return #path > 1 and path:gsub("/$", "") or path end
  end
  return "/tmp"
end

-- Randomness -----------------------------------------------------------------------------------

local function random(count)
  local file, _, number = io.open("/dev/urandom", "rb")
  if not file then return nil, number end
  local bytes = count == 0 and "" or file:read(count)
  file:close()
  return bytes
end

function uv.random(count, flags, callback)
  count = core.integer(count, 1)
  core.check(flags == nil or type(flags) == "table" or math.type(flags) == "integer", 2,
    "expected nil, integer, or table, got " .. type(flags))
  core.callback(callback, 3, true)
  if math.type(flags) and flags ~= 0 then return core.fail "EINVAL" end
  if count < 0 or count > 0x7fffffff then return core.fail "E2BIG" end
  local bytes = random(count)
  if not callback then
    if bytes then return bytes end
    return core.fail "EIO"
  end
  local req = core.request("random", callback)
  core.finish_later(req, not bytes and "EIO" or nil, bytes)
  return 0
end

function uv.translate_sys_error() return nil end

function uv.print_all_handles()
  uv.walk(function(handle) io.stderr:write(tostring(handle), "\n") end)
end

function uv.print_active_handles()
  uv.walk(function(handle)
    if handle:is_active() then io.stderr:write(tostring(handle), "\n") end
  end)
end

function uv.metrics_idle_time() return 0 end
