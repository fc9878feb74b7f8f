// Brings in the reference, docs/types/*.lua, and the list of pages, docs/README.md: `help` and
// completion read them when they are asked.
#include "MoonloopLua.h"

// A text ends where the next begins.
#define FIRST(name) {name, "docs/types/" name ".lua", (const char[]) {
#define NEXT(name) 0}}, FIRST(name)

// In the order of the reference.
static const struct cmo_source pages[] = {
    FIRST("moonloop")
#embed "../../docs/types/moonloop.lua" suffix(,)
    NEXT("loop")
#embed "../../docs/types/loop.lua" suffix(,)
    NEXT("items")
#embed "../../docs/types/items.lua" suffix(,)
    NEXT("timers")
#embed "../../docs/types/timers.lua" suffix(,)
    NEXT("sources")
#embed "../../docs/types/sources.lua" suffix(,)
    NEXT("descriptors")
#embed "../../docs/types/descriptors.lua" suffix(,)
    NEXT("sockets")
#embed "../../docs/types/sockets.lua" suffix(,)
    NEXT("streams")
#embed "../../docs/types/streams.lua" suffix(,)
    NEXT("net")
#embed "../../docs/types/net.lua" suffix(,)
    NEXT("http")
#embed "../../docs/types/http.lua" suffix(,)
    NEXT("http_messages")
#embed "../../docs/types/http_messages.lua" suffix(,)
    NEXT("json")
#embed "../../docs/types/json.lua" suffix(,)
    NEXT("log")
#embed "../../docs/types/log.lua" suffix(,)
    NEXT("fs")
#embed "../../docs/types/fs.lua" suffix(,)
    NEXT("files")
#embed "../../docs/types/files.lua" suffix(,)
    NEXT("observers")
#embed "../../docs/types/observers.lua" suffix(,)
    NEXT("notifications")
#embed "../../docs/types/notifications.lua" suffix(,)
    NEXT("ports")
#embed "../../docs/types/ports.lua" suffix(,)
    NEXT("brokers")
#embed "../../docs/types/brokers.lua" suffix(,)
    NEXT("workers")
#embed "../../docs/types/workers.lua" suffix(,)
    NEXT("guests")
#embed "../../docs/types/guests.lua" suffix(,)
    NEXT("signals")
#embed "../../docs/types/signals.lua" suffix(,)
    NEXT("watches")
#embed "../../docs/types/watches.lua" suffix(,)
    NEXT("pressure")
#embed "../../docs/types/pressure.lua" suffix(,)
    NEXT("terminals")
#embed "../../docs/types/terminals.lua" suffix(,)
    NEXT("processes")
#embed "../../docs/types/processes.lua" suffix(,)
    NEXT("tasks")
#embed "../../docs/types/tasks.lua" suffix(,)
    NEXT("channels")
#embed "../../docs/types/channels.lua" suffix(,)
    NEXT("inspection")
#embed "../../docs/types/inspection.lua" suffix(,)
    NEXT("recording")
#embed "../../docs/types/recording.lua" suffix(,)
    NEXT("reload")
#embed "../../docs/types/reload.lua" suffix(,)
    NEXT("configuration")
#embed "../../docs/types/configuration.lua" suffix(,)
    NEXT("testing")
#embed "../../docs/types/testing.lua" suffix(,)
    NEXT("test_tools")
#embed "../../docs/types/test_tools.lua" suffix(,)
    NEXT("test_programs")
#embed "../../docs/types/test_programs.lua" suffix(,)
    NEXT("compat")
#embed "../../docs/types/compat.lua" suffix(,)
    0}},
};

static const char index_of_pages[] = {
#embed "../../docs/README.md" suffix(, 0)
};

const char *cmo_pages(void) { return index_of_pages; }

const struct cmo_source *cmo_reference(size_t *count) {
  *count = sizeof pages / sizeof *pages;
  return pages;
}
