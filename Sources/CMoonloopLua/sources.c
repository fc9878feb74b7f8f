// Brings in the Lua sources by C23's #embed: one array and one row of the table for each.
#include "CMoonloopLua.h"

static const char bed[] = {
#embed "lua/bed.lua"
};
static const char compat_socket[] = {
#embed "lua/compat/socket.lua"
};

#define SOURCE(module, name) {"moonloop." module, "@moonloop/" module, name, sizeof name}

static const struct cmo_source sources[] = {
    SOURCE("bed", bed),
    SOURCE("compat.socket", compat_socket),
};

const struct cmo_source *cmo_sources(size_t *count) {
  *count = sizeof sources / sizeof *sources;
  return sources;
}
