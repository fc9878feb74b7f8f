// The functions of the module `probe` that start threads and serve sockets.
#pragma once
#include <lua.h>

int probe_ticker(lua_State *L);
int probe_flood(lua_State *L);
int probe_take(lua_State *L);
int probe_burst(lua_State *L);
int probe_sends(lua_State *L);
int probe_taken(lua_State *L);

int probe_listen(lua_State *L);
int probe_accept(lua_State *L);
int probe_close(lua_State *L);
