// Brings in the reference, docs/types/*.lua, and the list of pages, docs/README.md: `help` and
// completion read them when they are asked.
#include "MoonloopLua.h"

#define PAGE(name) {name, "docs/types/" name ".lua", (const char[]) {
#define END }}

// In the order of the reference.
static const struct cmo_source pages[] = {
    PAGE("moonloop")
#embed "../../docs/types/moonloop.lua" suffix(, 0)
    END,
    PAGE("loop")
#embed "../../docs/types/loop.lua" suffix(, 0)
    END,
    PAGE("items")
#embed "../../docs/types/items.lua" suffix(, 0)
    END,
    PAGE("timers")
#embed "../../docs/types/timers.lua" suffix(, 0)
    END,
    PAGE("sources")
#embed "../../docs/types/sources.lua" suffix(, 0)
    END,
    PAGE("descriptors")
#embed "../../docs/types/descriptors.lua" suffix(, 0)
    END,
    PAGE("sockets")
#embed "../../docs/types/sockets.lua" suffix(, 0)
    END,
    PAGE("streams")
#embed "../../docs/types/streams.lua" suffix(, 0)
    END,
    PAGE("net")
#embed "../../docs/types/net.lua" suffix(, 0)
    END,
    PAGE("http")
#embed "../../docs/types/http.lua" suffix(, 0)
    END,
    PAGE("http_messages")
#embed "../../docs/types/http_messages.lua" suffix(, 0)
    END,
    PAGE("json")
#embed "../../docs/types/json.lua" suffix(, 0)
    END,
    PAGE("log")
#embed "../../docs/types/log.lua" suffix(, 0)
    END,
    PAGE("fs")
#embed "../../docs/types/fs.lua" suffix(, 0)
    END,
    PAGE("files")
#embed "../../docs/types/files.lua" suffix(, 0)
    END,
    PAGE("observers")
#embed "../../docs/types/observers.lua" suffix(, 0)
    END,
    PAGE("notifications")
#embed "../../docs/types/notifications.lua" suffix(, 0)
    END,
    PAGE("ports")
#embed "../../docs/types/ports.lua" suffix(, 0)
    END,
    PAGE("brokers")
#embed "../../docs/types/brokers.lua" suffix(, 0)
    END,
    PAGE("workers")
#embed "../../docs/types/workers.lua" suffix(, 0)
    END,
    PAGE("guests")
#embed "../../docs/types/guests.lua" suffix(, 0)
    END,
    PAGE("signals")
#embed "../../docs/types/signals.lua" suffix(, 0)
    END,
    PAGE("watches")
#embed "../../docs/types/watches.lua" suffix(, 0)
    END,
    PAGE("pressure")
#embed "../../docs/types/pressure.lua" suffix(, 0)
    END,
    PAGE("terminals")
#embed "../../docs/types/terminals.lua" suffix(, 0)
    END,
    PAGE("processes")
#embed "../../docs/types/processes.lua" suffix(, 0)
    END,
    PAGE("tasks")
#embed "../../docs/types/tasks.lua" suffix(, 0)
    END,
    PAGE("channels")
#embed "../../docs/types/channels.lua" suffix(, 0)
    END,
    PAGE("inspection")
#embed "../../docs/types/inspection.lua" suffix(, 0)
    END,
    PAGE("recording")
#embed "../../docs/types/recording.lua" suffix(, 0)
    END,
    PAGE("reload")
#embed "../../docs/types/reload.lua" suffix(, 0)
    END,
    PAGE("configuration")
#embed "../../docs/types/configuration.lua" suffix(, 0)
    END,
    PAGE("testing")
#embed "../../docs/types/testing.lua" suffix(, 0)
    END,
    PAGE("test_tools")
#embed "../../docs/types/test_tools.lua" suffix(, 0)
    END,
    PAGE("test_programs")
#embed "../../docs/types/test_programs.lua" suffix(, 0)
    END,
    PAGE("compat")
#embed "../../docs/types/compat.lua" suffix(, 0)
    END,
};

static const char index_of_pages[] = {
#embed "../../docs/README.md" suffix(, 0)
};

const char *cmo_pages(void) { return index_of_pages; }

const struct cmo_source *cmo_reference(size_t *count) {
  *count = sizeof pages / sizeof *pages;
  return pages;
}
