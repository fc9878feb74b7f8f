// Functions of liblua that name something to the system: they would cut a name at a zero byte, and
// take another one than was given.
#include <string.h>

#include "cml_internal.h"

// The first is where liblua's `require` and its like look for their own.
enum { UP_OWN = 1, UP_ORIGINAL, UP_NAMES };

void cml_check_names(lua_State *L, int names) {
  for (int i = 1; i <= names; i++) {
    size_t length;
    const char *name = lua_type(L, i) == LUA_TSTRING ? lua_tolstring(L, i, &length) : NULL;
    if (name != NULL && memchr(name, 0, length) != NULL)
      luaL_argerror(L, i, "must not contain a zero byte");
  }
}

static int call_named(lua_State *L) {
  cml_check_names(L, (int)lua_tointeger(L, lua_upvalueindex(UP_NAMES)));
  return lua_tocfunction(L, lua_upvalueindex(UP_ORIGINAL))(L);
}

bool cml_is_named(lua_State *L, int index) { return lua_tocfunction(L, index) == call_named; }

lua_CFunction cml_original_of_named(lua_State *L, int index) {
  lua_getupvalue(L, index, UP_NAMES);
  lua_getupvalue(L, index, UP_ORIGINAL);
  int names = (int)lua_tointeger(L, -2);
  lua_CFunction original = lua_tocfunction(L, -1);
  lua_pop(L, 2);
  cml_check_names(L, names);
  return original;
}

static const struct { const char *library, *function; int names; } named[] = {
  {"_G", "require", 1}, {"_G", "loadfile", 1}, {"_G", "dofile", 1},
  {"package", "searchpath", 2}, {"package", "loadlib", 2},
  {"io", "open", 1}, {"io", "lines", 1}, {"io", "input", 1}, {"io", "output", 1},
  {"io", "popen", 1}, {"os", "execute", 1}, {"os", "getenv", 1}, {"os", "remove", 1},
  {"os", "rename", 2},
};

void cml_install_named(lua_State *L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
    lua_getfield(L, -1, named[i].library);
    lua_getfield(L, -1, named[i].function);
    if (lua_getupvalue(L, -1, 1) == NULL) lua_pushnil(L);
    lua_insert(L, -2);
    lua_pushinteger(L, named[i].names);
    lua_pushcclosure(L, call_named, 3);
    lua_setfield(L, -2, named[i].function);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}
