// Modules with the APIs of other libraries, luv and LuaSocket: `require "moonloop.compat.…"`.
#ifndef MOONLOOPCOMPAT_H
#define MOONLOOPCOMPAT_H

#include "MoonloopLua.h"

// All of them, and their number. Any thread.
const struct cmo_source *cmo_compat_sources(size_t *count);

#endif
