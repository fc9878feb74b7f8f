// The functions of the module `probe` that start threads.
#pragma once
#include <lua.h>

int probe_ticker(lua_State *L);
int probe_flood(lua_State *L);
int probe_take(lua_State *L);
