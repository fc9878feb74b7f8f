// Modules that speak as other libraries do, luv and LuaSocket: `require "moonloop.compat.…"`.
#ifndef MOONLOOPCOMPAT_H
#define MOONLOOPCOMPAT_H

#include "MoonloopLua.h"

// All of them, and how many there are. Any thread.
const struct cmo_source *cmo_compat_sources(size_t *count);

#endif
