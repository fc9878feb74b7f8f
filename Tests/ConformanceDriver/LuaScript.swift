// The Lua half of the Lua face: each operation of a face in terms of the Lua interface.

enum LuaScript {
  /// Defines one global function for each operation. Times are seconds; objects go by their ids.
  /// The engine provides `called(id, event, detail)`.
  static let source = """
    local ml = require "moonloop"
    local loop = ml.current()
    local items, enabled, requests = {}, {}, {}

    function adopt(id, item) items[id] = item end

    function make_timer(id, delay, interval, tolerance)
      items[id] = ml.timer { first = delay, every = interval > 0 and interval or nil, name = id,
        tolerance = tolerance, function() called(id, "plain", "") end }
    end

    function make_source(id, order, has_lifecycle, identity)
      items[id] = ml.source { order = order, name = id, identity = identity,
        schedule = has_lifecycle and function(_, _, mode) called(id, "schedule", mode) end or nil,
        cancel = has_lifecycle and function(_, _, mode) called(id, "cancel", mode) end or nil,
        perform = function() called(id, "perform", "") end }
    end

    function make_port(id)
      items[id] = ml.port { name = id,
        function(_, message) called(id, "message", message) end }
    end

    function make_fd(id, fd, events, reenabled)
      local function handler(event) return function() called(id, "ready", event) end end
      items[id] = ml.fd { fd = fd, close = true, reenable = reenabled, name = id,
        read = handler "read", write = handler "write" }
      items[id]:disable { "read", "write" }
      items[id]:enable(events)
    end

    local names = { entry = "entry", before_timers = "beforeTimers",
      before_sources = "beforeSources", before_waiting = "beforeWaiting",
      after_waiting = "afterWaiting", exit = "exit" }

    function make_observer(id, activities, repeats, order)
      items[id] = ml.observer { on = activities, repeats = repeats, order = order, name = id,
        function(_, activity) called(id, "activity", names[activity]) end }
    end

    -- What cannot be added (it is invalid, or on another loop) stays out, as in Core Foundation.
    function add(id, mode)
      if not items[id]:is_valid() then return end
      local ok, message = pcall(loop.add, loop, items[id], mode)
      assert(ok or message:find("is in modes of another loop", 1, true), message)
    end
    function remove(id, mode) if items[id]:is_valid() then loop:remove(items[id], mode) end end
    function contains(id, mode)
      return items[id]:is_valid() and loop:contains(items[id], mode)
    end
    function is_valid(id) return items[id]:is_valid() end
    function invalidate(id) items[id]:invalidate() end
    function next_fire(id) return items[id]:is_valid() and items[id].next_fire or nil end
    function set_next_fire(id, time) if items[id]:is_valid() then items[id].next_fire = time end end
    function set_tolerance(id, time) items[id].tolerance = time end
    function fire(id) if items[id]:is_valid() then items[id]:fire() end end
    function signal(id) if items[id]:is_valid() then items[id]:signal() end end
    function post(id, message) if items[id]:is_valid() then items[id]:send(message) end end
    function enable(id, event) if items[id]:is_valid() then items[id]:enable(event) end end
    function disable(id, event) if items[id]:is_valid() then items[id]:disable(event) end end

    -- The bytes, "" at the end of the file, nil when there is nothing.
    function read(id, count)
      if not items[id]:is_valid() then return nil end
      local data, _, code = items[id]:read(count)
      return data or (code == "EOF" and "" or nil)
    end

    function run(mode, timeout, until_handled)
      if mode == "common" then return "finished" end   -- an error here: it cannot be run
      return (loop:run { mode = mode, timeout = timeout, until_handled = until_handled })
    end
    function run_unconditionally()
      local why
      repeat why = loop:run() until why == "stopped" or why == "finished"
    end
    function add_common_mode(mode) loop:add_common_mode(mode) end
    function next_timer(mode) return loop:next_timer(mode) end
    function current_mode() return loop.mode end
    function stop() loop:stop() end
    function wake_up() loop:wake_up() end

    function perform(id, modes, order, target)
      loop:perform({ modes = modes, wake = false, order = order, target = target },
        function() called(id, "plain", "") end)
    end
    local function keep(id, request)
      requests[id] = requests[id] or {}
      table.insert(requests[id], request)
    end
    function cancel_target(target) loop:cancel_performs(target) end
    function request(id, modes, order, target)
      keep(id, loop:perform({ modes = modes, as_source = true, order = order, target = target },
        function() called(id, "plain", "") end))
    end
    function request_after(id, modes, delay)
      keep(id, loop:perform_after({ after = delay, modes = modes },
        function() called(id, "plain", "") end))
    end
    function cancel_requests(id)
      for _, request in ipairs(requests[id] or {}) do request:cancel() end
      requests[id] = nil
    end
    """
}
