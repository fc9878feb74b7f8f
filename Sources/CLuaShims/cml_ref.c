// References to Lua values from the host: registry slots, with the free list kept in C, which costs
// a third of luaL_ref. Both can be used together: our free slots hold false, never nil, so that the
// length of the registry stays as luaL_ref expects.
#include <stdlib.h>

#include "cml_internal.h"

int cml_ref(lua_State *L) {
  struct cml_state *s = cml_of(L);
  if (s->refs.count == 0 || lua_isnil(L, -1)) return luaL_ref(L, LUA_REGISTRYINDEX);
  int ref = s->refs.free[--s->refs.count];
  lua_rawseti(L, LUA_REGISTRYINDEX, ref);
  return ref;
}

// Adds a reference to the free list; false if there is no memory.
static bool note_free(struct cml_refs *refs, int ref) {
  if (UNLIKELY(refs->count == refs->capacity)) {
    int capacity = refs->capacity == 0 ? 64 : refs->capacity * 2;
    int *list = realloc(refs->free, (size_t)capacity * sizeof *list);
    if (list == NULL) return false;
    refs->free = list;
    refs->capacity = capacity;
  }
  refs->free[refs->count++] = ref;
  return true;
}

void cml_unref(lua_State *L, int ref) {
  struct cml_state *s = cml_of(L);
  if (ref < 0) return;  // LUA_NOREF, or the reference of nil
  if (UNLIKELY(!note_free(&s->refs, ref))) return luaL_unref(L, LUA_REGISTRYINDEX, ref);
  lua_pushboolean(L, 0);
  lua_rawseti(L, LUA_REGISTRYINDEX, ref);
}

// Pairs: always two adjacent slots, taken and freed together.

int cml_hold(lua_State *L, int userdata, int function) {
  struct cml_state *s = cml_of(L);
  function = lua_absindex(L, function);
  lua_pushvalue(L, userdata);
  int ref = s->pairs.count > 0 ? s->pairs.free[--s->pairs.count]
                               : (int)lua_rawlen(L, LUA_REGISTRYINDEX) + 1;
  lua_rawseti(L, LUA_REGISTRYINDEX, ref);
  lua_pushvalue(L, function);
  lua_rawseti(L, LUA_REGISTRYINDEX, ref + 1);
  return ref;
}

void cml_unhold(lua_State *L, int ref) {
  struct cml_state *s = cml_of(L);
  bool noted = note_free(&s->pairs, ref);
  for (int i = 0; i < 2; i++) {
    if (UNLIKELY(!noted)) {
      luaL_unref(L, LUA_REGISTRYINDEX, ref + i);
      continue;
    }
    lua_pushboolean(L, 0);
    lua_rawseti(L, LUA_REGISTRYINDEX, ref + i);
  }
}

int cml_hold_handle(lua_State *L, int i) {
  i = lua_absindex(L, i);
  lua_getiuservalue(L, i, 1);
  int ref = cml_hold(L, i, -1);
  lua_pop(L, 1);
  lua_pushnil(L);
  lua_setiuservalue(L, i, 1);
  return ref;
}
