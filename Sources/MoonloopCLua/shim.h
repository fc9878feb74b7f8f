// The stock Lua 5.4 headers, as Debian's liblua5.4-dev has them; the flags come from pkg-config.
#pragma once
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
