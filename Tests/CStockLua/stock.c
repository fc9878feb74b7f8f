// Stock Lua beside ours: its functions come from a state that is opened as any program does.
#include "CStockLua.h"
#include "cml_lua.h"

#include <stdlib.h>
#include <string.h>

// Copies the C functions of the library on top of `stock` into a new table on `L`.
static void copy_library(lua_State *stock, lua_State *L) {
  lua_newtable(L);
  for (lua_pushnil(stock); lua_next(stock, -2); lua_pop(stock, 1)) {
    lua_CFunction function = lua_tocfunction(stock, -1);
    if (function == NULL || lua_type(stock, -2) != LUA_TSTRING) continue;
    if (lua_getupvalue(stock, -1, 1) != NULL) {  // `require` and the like, bound to their state
      lua_pop(stock, 1);
      continue;
    }
    lua_pushcfunction(L, function);
    lua_setfield(L, -2, lua_tostring(stock, -2));
  }
}

void cts_push_stock(void *ours) {
  lua_State *L = ours, *stock = luaL_newstate();
  luaL_openlibs(stock);
  lua_newtable(L);
  luaL_getsubtable(stock, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  for (lua_pushnil(stock); lua_next(stock, -2); lua_pop(stock, 1)) {
    copy_library(stock, L);
    lua_setfield(L, -2, lua_tostring(stock, -2));
  }
  lua_close(stock);
}

char *cts_run(const char *text, size_t size, const char *name) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  int status = luaL_loadbufferx(L, text, size, name, "t");
  if (status == LUA_OK) status = lua_pcall(L, 0, 1, 0);
  size_t length;
  const char *result = luaL_tolstring(L, -1, &length);
  char *copy = malloc(length + 2);
  if (status == LUA_OK && lua_isnil(L, -2)) strcpy(copy, "");
  else strcat(strcpy(copy, status == LUA_OK ? "" : "!"), result);
  lua_close(L);
  return copy;
}
