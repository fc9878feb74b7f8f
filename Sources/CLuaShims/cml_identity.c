// One userdata for one object of the host: known again by a pointer, as long as Lua has it.
#include "cml_internal.h"

static int identities;  // its address is the registry key of the weak table: pointer -> userdata

bool cml_push_known(lua_State *L, void *pointer) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &identities);
  if (lua_rawgetp(L, -1, pointer) == LUA_TNIL) {
    lua_pop(L, 2);
    return false;
  }
  lua_remove(L, -2);
  return true;
}

cml_object *cml_push_retained(lua_State *L, cml_kind *k) {
  cml_object *o = cml_push_object(L, k);
  return UNLIKELY(cml_of(L)->is_ending) ? NULL : o;
}

void cml_make_known(lua_State *L, void *pointer) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &identities);
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, pointer);
  lua_pop(L, 1);
}

void cml_make_weak(lua_State *L, const char *mode, void *key) {
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushstring(L, mode);
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}

void cml_identity_set_up(lua_State *L) { cml_make_weak(L, "v", &identities); }
