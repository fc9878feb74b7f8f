// Operations on tables that raise only if misused, made safe to call from Swift.
#include <string.h>

#include "cml_internal.h"

bool cml_next(lua_State *L, int i) {
  // The key came from the previous call, and nothing was set since: lua_next cannot raise.
  return lua_next(L, i) != 0;
}

bool cml_only_number(lua_State *L, int i, const char *name, size_t length, double *number) {
  if (!lua_istable(L, i)) return false;
  int table = lua_absindex(L, i);
  lua_pushnil(L);
  if (lua_next(L, table) == 0) return false;
  size_t given = 0;
  const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tolstring(L, -2, &given) : NULL;
  if (key == NULL || given != length || memcmp(key, name, length) != 0 ||
      lua_type(L, -1) != LUA_TNUMBER) {
    lua_pop(L, 2);
    return false;
  }
  *number = lua_tonumberx(L, -1, NULL);
  lua_pop(L, 1);
  if (lua_next(L, table) == 0) return true;
  lua_pop(L, 2);
  return false;
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
