// References to Lua values from the host: places in the registry, with a list of the free ones kept
// in C, which costs a third of what luaL_ref does. Both may be used side by side: a free place of
// ours holds false, never nil, so that the length of the registry stays what luaL_ref relies on.
#include <stdlib.h>

#include "cml_internal.h"

int cml_ref(lua_State *L) {
  struct cml_state *s = cml_of(L);
  if (s->refs_free_count == 0 || lua_isnil(L, -1)) return luaL_ref(L, LUA_REGISTRYINDEX);
  int ref = s->refs_free[--s->refs_free_count];
  lua_rawseti(L, LUA_REGISTRYINDEX, ref);
  return ref;
}

static bool grow(struct cml_state *s) {
  int capacity = s->refs_free_capacity == 0 ? 64 : s->refs_free_capacity * 2;
  int *refs = realloc(s->refs_free, (size_t)capacity * sizeof *refs);
  if (refs == NULL) return false;
  s->refs_free = refs;
  s->refs_free_capacity = capacity;
  return true;
}

void cml_unref(lua_State *L, int ref) {
  struct cml_state *s = cml_of(L);
  if (ref < 0) return;  // LUA_NOREF, or the reference of nil
  if (UNLIKELY(s->refs_free_count == s->refs_free_capacity) && !grow(s))
    return luaL_unref(L, LUA_REGISTRYINDEX, ref);
  lua_pushboolean(L, 0);
  lua_rawseti(L, LUA_REGISTRYINDEX, ref);
  s->refs_free[s->refs_free_count++] = ref;
}
