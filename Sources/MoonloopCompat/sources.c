// Embeds the Lua sources with C23's #embed: one array and one table row for each.
#include "MoonloopCompat.h"

static const char compat_luasql[] = {
#embed "lua/compat/luasql.lua"
};
static const char compat_luasql_threads[] = {
#embed "lua/compat/luasql/threads.lua"
};
static const char compat_socket[] = {
#embed "lua/compat/socket.lua"
};
static const char compat_socket_connecting[] = {
#embed "lua/compat/socket/connecting.lua"
};
static const char compat_socket_datagrams[] = {
#embed "lua/compat/socket/datagrams.lua"
};
static const char compat_socket_late[] = {
#embed "lua/compat/socket/late.lua"
};
static const char compat_socket_names[] = {
#embed "lua/compat/socket/names.lua"
};
static const char compat_socket_nested[] = {
#embed "lua/compat/socket/nested.lua"
};
static const char compat_socket_report[] = {
#embed "lua/compat/socket/report.lua"
};
static const char compat_socket_select[] = {
#embed "lua/compat/socket/select.lua"
};
static const char compat_socket_stock[] = {
#embed "lua/compat/socket/stock.lua"
};
static const char compat_socket_streams[] = {
#embed "lua/compat/socket/streams.lua"
};
static const char compat_socket_waiting[] = {
#embed "lua/compat/socket/waiting.lua"
};
static const char compat_uv[] = {
#embed "lua/compat/uv.lua"
};
static const char compat_uv_arguments[] = {
#embed "lua/compat/uv/arguments.lua"
};
static const char compat_uv_async[] = {
#embed "lua/compat/uv/async.lua"
};
static const char compat_uv_constants[] = {
#embed "lua/compat/uv/constants.lua"
};
static const char compat_uv_core[] = {
#embed "lua/compat/uv/core.lua"
};
static const char compat_uv_dns[] = {
#embed "lua/compat/uv/dns.lua"
};
static const char compat_uv_errors[] = {
#embed "lua/compat/uv/errors.lua"
};
static const char compat_uv_fs[] = {
#embed "lua/compat/uv/fs.lua"
};
static const char compat_uv_fs_event[] = {
#embed "lua/compat/uv/fs_event.lua"
};
static const char compat_uv_fs_poll[] = {
#embed "lua/compat/uv/fs_poll.lua"
};
static const char compat_uv_pipe[] = {
#embed "lua/compat/uv/pipe.lua"
};
static const char compat_uv_poll[] = {
#embed "lua/compat/uv/poll.lua"
};
static const char compat_uv_process[] = {
#embed "lua/compat/uv/process.lua"
};
static const char compat_uv_requests[] = {
#embed "lua/compat/uv/requests.lua"
};
static const char compat_uv_signal[] = {
#embed "lua/compat/uv/signal.lua"
};
static const char compat_uv_socket[] = {
#embed "lua/compat/uv/socket.lua"
};
static const char compat_uv_stages[] = {
#embed "lua/compat/uv/stages.lua"
};
static const char compat_uv_stream[] = {
#embed "lua/compat/uv/stream.lua"
};
static const char compat_uv_system[] = {
#embed "lua/compat/uv/system.lua"
};
static const char compat_uv_tcp[] = {
#embed "lua/compat/uv/tcp.lua"
};
static const char compat_uv_timer[] = {
#embed "lua/compat/uv/timer.lua"
};
static const char compat_uv_tty[] = {
#embed "lua/compat/uv/tty.lua"
};
static const char compat_uv_udp[] = {
#embed "lua/compat/uv/udp.lua"
};
static const char compat_uv_work[] = {
#embed "lua/compat/uv/work.lua"
};

#define SOURCE(module, name) {"moonloop." module, "@moonloop/" module, name, sizeof name}

static const struct cmo_source sources[] = {
    SOURCE("compat.luasql", compat_luasql),
    SOURCE("compat.luasql.threads", compat_luasql_threads),
    SOURCE("compat.socket", compat_socket),
    SOURCE("compat.socket.connecting", compat_socket_connecting),
    SOURCE("compat.socket.datagrams", compat_socket_datagrams),
    SOURCE("compat.socket.late", compat_socket_late),
    SOURCE("compat.socket.names", compat_socket_names),
    SOURCE("compat.socket.nested", compat_socket_nested),
    SOURCE("compat.socket.report", compat_socket_report),
    SOURCE("compat.socket.select", compat_socket_select),
    SOURCE("compat.socket.stock", compat_socket_stock),
    SOURCE("compat.socket.streams", compat_socket_streams),
    SOURCE("compat.socket.waiting", compat_socket_waiting),
    SOURCE("compat.uv", compat_uv),
    SOURCE("compat.uv.arguments", compat_uv_arguments),
    SOURCE("compat.uv.async", compat_uv_async),
    SOURCE("compat.uv.constants", compat_uv_constants),
    SOURCE("compat.uv.core", compat_uv_core),
    SOURCE("compat.uv.dns", compat_uv_dns),
    SOURCE("compat.uv.errors", compat_uv_errors),
    SOURCE("compat.uv.fs", compat_uv_fs),
    SOURCE("compat.uv.fs_event", compat_uv_fs_event),
    SOURCE("compat.uv.fs_poll", compat_uv_fs_poll),
    SOURCE("compat.uv.pipe", compat_uv_pipe),
    SOURCE("compat.uv.poll", compat_uv_poll),
    SOURCE("compat.uv.process", compat_uv_process),
    SOURCE("compat.uv.requests", compat_uv_requests),
    SOURCE("compat.uv.signal", compat_uv_signal),
    SOURCE("compat.uv.socket", compat_uv_socket),
    SOURCE("compat.uv.stages", compat_uv_stages),
    SOURCE("compat.uv.stream", compat_uv_stream),
    SOURCE("compat.uv.system", compat_uv_system),
    SOURCE("compat.uv.tcp", compat_uv_tcp),
    SOURCE("compat.uv.timer", compat_uv_timer),
    SOURCE("compat.uv.tty", compat_uv_tty),
    SOURCE("compat.uv.udp", compat_uv_udp),
    SOURCE("compat.uv.work", compat_uv_work),
};

const struct cmo_source *cmo_compat_sources(size_t *count) {
  *count = sizeof sources / sizeof *sources;
  return sources;
}
