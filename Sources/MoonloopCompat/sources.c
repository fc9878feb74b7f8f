// Embeds the Lua sources with C23's #embed.
#include "MoonloopCompat.h"

#define MODULE(name) {"moonloop." name, "@moonloop/" name, (const char[]) {
#define END }}

static const struct cmo_source sources[] = {
    MODULE("compat.luasql")
#embed "lua/compat/luasql.lua" suffix(, 0)
    END,
    MODULE("compat.luasql.threads")
#embed "lua/compat/luasql/threads.lua" suffix(, 0)
    END,
    MODULE("compat.socket")
#embed "lua/compat/socket.lua" suffix(, 0)
    END,
    MODULE("compat.socket.connecting")
#embed "lua/compat/socket/connecting.lua" suffix(, 0)
    END,
    MODULE("compat.socket.datagrams")
#embed "lua/compat/socket/datagrams.lua" suffix(, 0)
    END,
    MODULE("compat.socket.late")
#embed "lua/compat/socket/late.lua" suffix(, 0)
    END,
    MODULE("compat.socket.names")
#embed "lua/compat/socket/names.lua" suffix(, 0)
    END,
    MODULE("compat.socket.nested")
#embed "lua/compat/socket/nested.lua" suffix(, 0)
    END,
    MODULE("compat.socket.report")
#embed "lua/compat/socket/report.lua" suffix(, 0)
    END,
    MODULE("compat.socket.select")
#embed "lua/compat/socket/select.lua" suffix(, 0)
    END,
    MODULE("compat.socket.stock")
#embed "lua/compat/socket/stock.lua" suffix(, 0)
    END,
    MODULE("compat.socket.streams")
#embed "lua/compat/socket/streams.lua" suffix(, 0)
    END,
    MODULE("compat.socket.taped")
#embed "lua/compat/socket/taped.lua" suffix(, 0)
    END,
    MODULE("compat.socket.waiting")
#embed "lua/compat/socket/waiting.lua" suffix(, 0)
    END,
    MODULE("compat.uv")
#embed "lua/compat/uv.lua" suffix(, 0)
    END,
    MODULE("compat.uv.arguments")
#embed "lua/compat/uv/arguments.lua" suffix(, 0)
    END,
    MODULE("compat.uv.async")
#embed "lua/compat/uv/async.lua" suffix(, 0)
    END,
    MODULE("compat.uv.constants")
#embed "lua/compat/uv/constants.lua" suffix(, 0)
    END,
    MODULE("compat.uv.core")
#embed "lua/compat/uv/core.lua" suffix(, 0)
    END,
    MODULE("compat.uv.dns")
#embed "lua/compat/uv/dns.lua" suffix(, 0)
    END,
    MODULE("compat.uv.errors")
#embed "lua/compat/uv/errors.lua" suffix(, 0)
    END,
    MODULE("compat.uv.fs")
#embed "lua/compat/uv/fs.lua" suffix(, 0)
    END,
    MODULE("compat.uv.fs_event")
#embed "lua/compat/uv/fs_event.lua" suffix(, 0)
    END,
    MODULE("compat.uv.fs_poll")
#embed "lua/compat/uv/fs_poll.lua" suffix(, 0)
    END,
    MODULE("compat.uv.items")
#embed "lua/compat/uv/items.lua" suffix(, 0)
    END,
    MODULE("compat.uv.pipe")
#embed "lua/compat/uv/pipe.lua" suffix(, 0)
    END,
    MODULE("compat.uv.poll")
#embed "lua/compat/uv/poll.lua" suffix(, 0)
    END,
    MODULE("compat.uv.process")
#embed "lua/compat/uv/process.lua" suffix(, 0)
    END,
    MODULE("compat.uv.requests")
#embed "lua/compat/uv/requests.lua" suffix(, 0)
    END,
    MODULE("compat.uv.signal")
#embed "lua/compat/uv/signal.lua" suffix(, 0)
    END,
    MODULE("compat.uv.socket")
#embed "lua/compat/uv/socket.lua" suffix(, 0)
    END,
    MODULE("compat.uv.stages")
#embed "lua/compat/uv/stages.lua" suffix(, 0)
    END,
    MODULE("compat.uv.stream")
#embed "lua/compat/uv/stream.lua" suffix(, 0)
    END,
    MODULE("compat.uv.system")
#embed "lua/compat/uv/system.lua" suffix(, 0)
    END,
    MODULE("compat.uv.tcp")
#embed "lua/compat/uv/tcp.lua" suffix(, 0)
    END,
    MODULE("compat.uv.timer")
#embed "lua/compat/uv/timer.lua" suffix(, 0)
    END,
    MODULE("compat.uv.tty")
#embed "lua/compat/uv/tty.lua" suffix(, 0)
    END,
    MODULE("compat.uv.udp")
#embed "lua/compat/uv/udp.lua" suffix(, 0)
    END,
    MODULE("compat.uv.work")
#embed "lua/compat/uv/work.lua" suffix(, 0)
    END,
};

const struct cmo_source *cmo_compat_sources(size_t *count) {
  *count = sizeof sources / sizeof *sources;
  return sources;
}
