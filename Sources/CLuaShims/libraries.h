// Replaces functions of liblua's libraries with ours.
#pragma once
#include "cml_state.h"

// Sets functions in an open library; its other functions stay as they are. [-0, +0, m]
static inline void cml_replace_functions(lua_State *L, const char *library,
                                         const luaL_Reg *functions) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, library);
  luaL_setfuncs(L, functions, 0);
  lua_pop(L, 2);
}
