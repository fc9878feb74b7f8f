// Operations on tables that raise only if misused, made safe to call from Swift.
#include "cml_internal.h"

bool cml_next(lua_State *L, int i) {
  // The key came from the previous call, and nothing was set since: lua_next cannot raise.
  return lua_next(L, i) != 0;
}

void cml_set_metatable(lua_State *L, int i) {
  lua_setmetatable(L, i);  // raises only for a metatable with __gc, which has to be remembered
}

void cml_set_loaded(lua_State *L, const char *name) {
  lua_pushstring(L, LUA_LOADED_TABLE);
  lua_rawget(L, LUA_REGISTRYINDEX);
  lua_pushstring(L, name);
  lua_rotate(L, -3, -1);  // the loaded table, the name, the value
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

void cml_set_environment(lua_State *L) {
  // The only upvalue of a chunk; text that uses no global has it as well.
  if (lua_setupvalue(L, -2, 1) == NULL) lua_pop(L, 1);
}
