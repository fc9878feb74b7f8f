// Pushes that make Lua allocate. Allocating may run finalizers, which are script code: outside of
// call-outs they count as one, with its limits.
#include "cml_internal.h"

static __attribute__((noinline)) const char *push_charged(struct cml_state *s, lua_State *L,
                                                          const void *bytes, size_t count) {
  struct cml_work work;
  cml_begin_work(s, L, &work);
  const char *text = lua_pushlstring(L, bytes, count);
  cml_end_work(s, L, &work);
  return text;
}

const char *cml_pushbytes(lua_State *L, const void *bytes, size_t count) {
  struct cml_state *s = cml_of(L);
  if (LIKELY(cml_is_charged(s, L))) return lua_pushlstring(L, bytes, count);
  return push_charged(s, L, bytes, count);
}

void cml_newtable(lua_State *L, int items, int fields) {
  struct cml_state *s = cml_of(L);
  struct cml_work work;
  cml_begin_work(s, L, &work);
  lua_createtable(L, items, fields);
  cml_end_work(s, L, &work);
}

int cml_load(lua_State *L, const char *text, size_t size, const char *name, const char *mode) {
  struct cml_state *s = cml_of(L);
  struct cml_work work;
  cml_begin_work(s, L, &work);
  int status = luaL_loadbufferx(L, text, size, name, mode);
  cml_end_work(s, L, &work);
  return status;
}

int cml_load_file(lua_State *L, const char *path, const char *mode) {
  struct cml_state *s = cml_of(L);
  struct cml_work work;
  cml_begin_work(s, L, &work);
  int status = luaL_loadfilex(L, path, mode);
  cml_end_work(s, L, &work);
  return status;
}
