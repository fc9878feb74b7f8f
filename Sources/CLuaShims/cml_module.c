// Modules whose Lua text the host holds, and text that leaves the program.
#define _GNU_SOURCE
#include <errno.h>
#include <unistd.h>

#include "cml_internal.h"

// Upvalues: 1 the text, 2 its length, 3 the chunk's name. Called by `require`, which cannot be
// suspended in any case.
static int load_source(lua_State *L) {
  int arguments = lua_gettop(L);
  const char *text = lua_touserdata(L, lua_upvalueindex(1));
  size_t count = (size_t)lua_tointeger(L, lua_upvalueindex(2));
  if (luaL_loadbufferx(L, text, count, lua_tostring(L, lua_upvalueindex(3)), "t") != LUA_OK)
    return lua_error(L);
  lua_insert(L, 1);
  lua_call(L, arguments, 1);  // door: script's, below require
  return 1;
}

void cml_preload(lua_State *L, const char *module) {
  struct cml_state *s = cml_of(L);
  struct cml_work work;
  cml_begin_work(s, L, &work);
  lua_pushliteral(L, LUA_PRELOAD_TABLE);
  if (lua_rawget(L, LUA_REGISTRYINDEX) == LUA_TTABLE) {
    lua_pushstring(L, module);
    lua_rotate(L, -3, -1);  // table, name, loader
    lua_rawset(L, -3);
    lua_pop(L, 1);
  } else {
    lua_pop(L, 2);
  }
  cml_end_work(s, L, &work);
}

void cml_preload_by(lua_State *L) {
  struct cml_state *s = cml_of(L);
  struct cml_work work;
  cml_begin_work(s, L, &work);
  lua_pushliteral(L, LUA_PRELOAD_TABLE);
  lua_rawget(L, LUA_REGISTRYINDEX);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "__index");
  lua_pushvalue(L, -4);
  lua_rawset(L, -3);
  lua_setmetatable(L, -2);
  lua_pop(L, 2);
  cml_end_work(s, L, &work);
}

void cml_push_source(lua_State *L, const char *text, size_t count, const char *chunk) {
  struct cml_state *s = cml_of(L);
  struct cml_work work;
  cml_begin_work(s, L, &work);
  lua_pushlightuserdata(L, (void *)text);
  lua_pushinteger(L, (lua_Integer)count);
  lua_pushstring(L, chunk);
  lua_pushcclosure(L, load_source, 3);
  cml_end_work(s, L, &work);
}

void cml_push_c_function(lua_State *L, int (*function)(lua_State *L)) {
  lua_pushcclosure(L, function, 0);
}

size_t cml_write_some(int fd, const void *bytes, size_t count) {
  sigset_t pipe, old, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  bool was_pending = sigismember(&pending, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &old);
  size_t done = 0;
  ssize_t written;
  do {
    written = write(fd, (const char *)bytes + done, count - done);
    if (written > 0) done += (size_t)written;
  } while (done < count && (written > 0 || (written < 0 && errno == EINTR)));
  if (written < 0 && errno == EPIPE && !was_pending) {
    struct timespec none = {0, 0};
    sigtimedwait(&pipe, NULL, &none);
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return done;
}
