// Brings in the reference, docs/types/*.lua: `help` and completion read it when they are asked.
#include "MoonloopLua.h"

static const char moonloop[] = {
#embed "../../docs/types/moonloop.lua"
};
static const char loop[] = {
#embed "../../docs/types/loop.lua"
};
static const char items[] = {
#embed "../../docs/types/items.lua"
};
static const char timers[] = {
#embed "../../docs/types/timers.lua"
};
static const char sources[] = {
#embed "../../docs/types/sources.lua"
};
static const char descriptors[] = {
#embed "../../docs/types/descriptors.lua"
};
static const char streams[] = {
#embed "../../docs/types/streams.lua"
};
static const char net[] = {
#embed "../../docs/types/net.lua"
};
static const char files[] = {
#embed "../../docs/types/files.lua"
};
static const char fs[] = {
#embed "../../docs/types/fs.lua"
};
static const char http[] = {
#embed "../../docs/types/http.lua"
};
static const char json[] = {
#embed "../../docs/types/json.lua"
};
static const char http_messages[] = {
#embed "../../docs/types/http_messages.lua"
};
static const char log_page[] = {
#embed "../../docs/types/log.lua"
};
static const char observers[] = {
#embed "../../docs/types/observers.lua"
};
static const char ports[] = {
#embed "../../docs/types/ports.lua"
};
static const char brokers[] = {
#embed "../../docs/types/brokers.lua"
};
static const char workers[] = {
#embed "../../docs/types/workers.lua"
};
static const char signals[] = {
#embed "../../docs/types/signals.lua"
};
static const char watches[] = {
#embed "../../docs/types/watches.lua"
};
static const char sockets[] = {
#embed "../../docs/types/sockets.lua"
};
static const char notifications[] = {
#embed "../../docs/types/notifications.lua"
};
static const char guests[] = {
#embed "../../docs/types/guests.lua"
};
static const char pressure[] = {
#embed "../../docs/types/pressure.lua"
};
static const char terminals[] = {
#embed "../../docs/types/terminals.lua"
};
static const char processes[] = {
#embed "../../docs/types/processes.lua"
};
static const char tasks[] = {
#embed "../../docs/types/tasks.lua"
};
static const char channels[] = {
#embed "../../docs/types/channels.lua"
};
static const char inspection[] = {
#embed "../../docs/types/inspection.lua"
};
static const char recording[] = {
#embed "../../docs/types/recording.lua"
};
static const char reload[] = {
#embed "../../docs/types/reload.lua"
};
static const char configuration[] = {
#embed "../../docs/types/configuration.lua"
};
static const char testing[] = {
#embed "../../docs/types/testing.lua"
};
static const char test_programs[] = {
#embed "../../docs/types/test_programs.lua"
};
static const char test_tools[] = {
#embed "../../docs/types/test_tools.lua"
};
static const char compat[] = {
#embed "../../docs/types/compat.lua"
};

#define FILE(name) {#name, "docs/types/" #name ".lua", name, sizeof name}

// In the order of the reference.
static const struct cmo_source pages[] = {
    FILE(moonloop), FILE(loop), FILE(items), FILE(timers), FILE(sources), FILE(descriptors),
    FILE(sockets), FILE(streams), FILE(net), FILE(http), FILE(http_messages), FILE(json),
    {"log", "docs/types/log.lua", log_page, sizeof log_page}, FILE(fs), FILE(files),
    FILE(observers), FILE(notifications),
    FILE(ports), FILE(brokers), FILE(workers), FILE(guests), FILE(signals), FILE(watches),
    FILE(pressure),
    FILE(terminals), FILE(processes), FILE(tasks), FILE(channels), FILE(inspection),
    FILE(recording), FILE(reload), FILE(configuration), FILE(testing), FILE(test_tools),
    FILE(test_programs),
    FILE(compat),
};

const struct cmo_source *cmo_reference(size_t *count) {
  *count = sizeof pages / sizeof *pages;
  return pages;
}
