// Outside input from the standard libraries, recorded and replayed: time, files, environment,
// seeds.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cml_state.h"
#include "shared.h"

// ---- Values as bytes -----------------------------------------------------------------------

static struct {
  char *bytes;
  size_t count, capacity;
} text;  // only one thread of a process has a tape

static void put(const void *bytes, size_t count) {
  if (text.count + count > text.capacity) {
    text.capacity = (text.count + count) * 2;
    text.bytes = realloc(text.bytes, text.capacity);
    if (text.bytes == NULL) abort();
  }
  memcpy(text.bytes + text.count, bytes, count);
  text.count += count;
}

static void put_as(char kind, const void *bytes, size_t count) {
  put(&kind, 1);
  put(bytes, count);
}

// UP_ALSO: a replay calls the function as well. UP_OUTSIDE: its effects are not recorded on their
// own.
enum { UP_ORIGINAL = 1, UP_NAME, UP_ALSO, UP_OUTSIDE, UP_COUNT = UP_OUTSIDE };
static bool plays;
static int taped(lua_State *L);

// A function returned by a library is an iterator: its results come from outside as well.
static void push_iterator(lua_State *L, int index) {
  if (index == 0) lua_pushboolean(L, 0);
  else lua_pushvalue(L, index);
  lua_pushliteral(L, "lines");
  lua_pushboolean(L, 0);
  lua_pushboolean(L, 0);
  lua_pushcclosure(L, taped, UP_COUNT);
}

static void encode(lua_State *L, int i) {
  switch (lua_type(L, i)) {
    case LUA_TBOOLEAN: put_as(lua_toboolean(L, i) ? 't' : 'f', "", 0); break;
    case LUA_TNUMBER:
      if (lua_isinteger(L, i)) put_as('i', &(lua_Integer){lua_tointeger(L, i)}, 8);
      else put_as('d', &(lua_Number){lua_tonumber(L, i)}, 8);
      break;
    case LUA_TSTRING: {
      size_t count;
      const char *bytes = lua_tolstring(L, i, &count);
      put_as('s', &(uint64_t){count}, 8);
      put(bytes, count);
      break;
    }
    case LUA_TTABLE:  // os.date "*t"
      put_as('{', "", 0);
      lua_pushnil(L);
      while (lua_next(L, i)) {
        encode(L, lua_gettop(L) - 1);
        encode(L, lua_gettop(L));
        lua_pop(L, 1);
      }
      put_as('}', "", 0);
      break;
    case LUA_TFUNCTION:
      put_as('l', "", 0);
      push_iterator(L, i);
      lua_replace(L, i);
      break;
    case LUA_TUSERDATA: put_as('h', "", 0); break;
    default: put_as('n', "", 0); break;
  }
}

static int close_null(lua_State *L) {
  luaL_Stream *stream = luaL_checkudata(L, 1, LUA_FILEHANDLE);
  fclose(stream->f);
  lua_pushboolean(L, 1);
  return 1;
}

// A file that does not exist: what is read from it is on the tape, what is written to it is lost.
static void push_null(lua_State *L) {
  luaL_Stream *stream = lua_newuserdatauv(L, sizeof *stream, 0);
  stream->closef = NULL;
  luaL_setmetatable(L, LUA_FILEHANDLE);
  stream->f = fopen("/dev/null", "r+");
  if (stream->f != NULL) stream->closef = close_null;
}

struct reader { const char *at, *end; };

static void fetch(struct reader *r, void *to, size_t count) {
  if ((size_t)(r->end - r->at) < count) {
    memset(to, 0, count);
    r->at = r->end;
    return;
  }
  memcpy(to, r->at, count);
  r->at += count;
}

// False at the end of a table, or of everything.
static bool decode(lua_State *L, struct reader *r) {
  char kind = 0;
  luaL_checkstack(L, 4, "too many values");
  fetch(r, &kind, 1);
  switch (kind) {
    case 't': lua_pushboolean(L, 1); return true;
    case 'f': lua_pushboolean(L, 0); return true;
    case 'i': {
      lua_Integer value;
      fetch(r, &value, 8);
      lua_pushinteger(L, value);
      return true;
    }
    case 'd': {
      lua_Number value;
      fetch(r, &value, 8);
      lua_pushnumber(L, value);
      return true;
    }
    case 's': {
      uint64_t count;
      fetch(r, &count, 8);
      if (count > (size_t)(r->end - r->at)) count = (size_t)(r->end - r->at);
      lua_pushlstring(L, r->at, count);
      r->at += count;
      return true;
    }
    case '{':
      lua_newtable(L);
      while (decode(L, r) && decode(L, r)) lua_rawset(L, -3);
      return true;
    case 'l': push_iterator(L, 0); return true;
    case 'h': push_null(L); return true;
    case 'n': lua_pushnil(L); return true;
    default: return false;
  }
}

// ---- Recorded functions --------------------------------------------------------------

// The error as without us: with the function's name and the script's line.
_Noreturn static void raise_again(lua_State *L) {
  if (lua_type(L, -1) == LUA_TSTRING) {
    const char *name = lua_tostring(L, lua_upvalueindex(UP_NAME));
    luaL_where(L, 1);
    if (lua_rawlen(L, -1) == 0) {
      lua_pop(L, 1);
      luaL_where(L, 2);
    }
    const char *message = lua_tostring(L, -2), *quoted = lua_pushfstring(L, "'%s'", name);
    luaL_gsub(L, message, "'?'", quoted);
    lua_remove(L, -2);  // the name in quotes
    lua_concat(L, 2);
  }
  lua_error(L);
  __builtin_unreachable();
}

static int play(lua_State *L) {
  const void *bytes;
  size_t count = cmx_intake_take(cmr_key_library, &bytes);
  struct reader reader = {bytes, (const char *)bytes + count};
  if (lua_toboolean(L, lua_upvalueindex(UP_ALSO))) {
    // Done in the replay too: what is closed here was opened here.
    lua_pushvalue(L, lua_upvalueindex(UP_ORIGINAL));
    lua_insert(L, 1);
    lua_pcall(L, lua_gettop(L) - 1, 0, 0);  // door: script's, of a library
  }
  lua_settop(L, 0);
  if (count > 0 && *reader.at == '!') {
    reader.at++;
    decode(L, &reader);
    raise_again(L);
  }
  while (decode(L, &reader)) {}
  return lua_gettop(L);
}

static int taped(lua_State *L) {
  if (plays) return play(L);
  lua_pushvalue(L, lua_upvalueindex(UP_ORIGINAL));
  lua_insert(L, 1);
  bool is_outside = lua_toboolean(L, lua_upvalueindex(UP_OUTSIDE));
  void *left = is_outside ? cmx_intake_leave() : NULL;
  int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);  // door: script's, of a library
  if (is_outside) cmx_intake_return(left);
  cml_poll(L);
  text.count = 0;
  luaL_checkstack(L, 10, "too many values");
  int count = lua_gettop(L);
  if (status != LUA_OK) put("!", 1);
  for (int i = status == LUA_OK ? 1 : count; i <= count; i++) encode(L, i);
  cmx_intake_put(cmr_key_library, text.bytes, text.count);
  if (status != LUA_OK) raise_again(L);
  return count;
}

// io.input and io.output: a named file is not opened.
static int redirected(lua_State *L) {
  if (plays && lua_type(L, 1) == LUA_TSTRING) {
    lua_pushliteral(L, "/dev/null");
    lua_replace(L, 1);
  }
  int count = lua_gettop(L);
  lua_pushvalue(L, lua_upvalueindex(UP_ORIGINAL));
  lua_insert(L, 1);
  lua_call(L, count, LUA_MULTRET);  // door: script's, of a library
  return lua_gettop(L);
}

// Called without arguments, it draws two numbers and returns them: these are a replay's seeds.
static int seeded(lua_State *L) {
  int count = lua_gettop(L);
  lua_pushvalue(L, lua_upvalueindex(UP_ORIGINAL));
  lua_insert(L, 1);
  if (count == 0) {
    uint64_t seeds[2] = {0, 0};
    if (plays) {
      const void *bytes;
      size_t count = cmx_intake_take(cmr_key_library, &bytes);
      if (count == sizeof seeds) memcpy(seeds, bytes, sizeof seeds);
    } else {
      getentropy(seeds, sizeof seeds);
      cmx_intake_put(cmr_key_library, seeds, sizeof seeds);
    }
    lua_pushinteger(L, (lua_Integer)seeds[0]);
    lua_pushinteger(L, (lua_Integer)seeds[1]);
    count = 2;
  }
  lua_call(L, count, LUA_MULTRET);  // door: script's, of a library
  return lua_gettop(L);
}

// Replaces a field of the table on top. [-0, +0, m]
static void replace(lua_State *L, const char *name, lua_CFunction with, bool also,
                    bool is_outside) {
  if (lua_getfield(L, -1, name) != LUA_TFUNCTION) {
    lua_pop(L, 1);
    return;
  }
  lua_pushstring(L, name);
  lua_pushboolean(L, also);
  lua_pushboolean(L, is_outside);
  lua_pushcclosure(L, with, UP_COUNT);
  lua_setfield(L, -2, name);
}

// wrap(function, name): one of our functions that makes its own system calls, recorded as a whole.
static int wrap(lua_State *L) {
  lua_settop(L, 2);
  lua_pushboolean(L, 0);
  lua_pushboolean(L, 1);
  lua_pushcclosure(L, taped, UP_COUNT);
  return 1;
}

int cmr_install_libraries(lua_State *L) {
  plays = cmx_intake_kind() == cmx_intake_replays;
  // They may be ours, which read the loop's clock.
  static const char *const of_time[] = {"time", "clock", "date", NULL};
  static const char *const of_os[] = {"tmpname", "remove", "rename",
                                      "execute", "getenv", NULL};
  static const char *const of_io[] = {"open", "popen", "read", "tmpfile", "lines", NULL};
  static const char *const of_files[] = {"read", "lines", "seek", NULL};
  lua_getglobal(L, "os");
  for (const char *const *name = of_time; *name != NULL; name++)
    replace(L, *name, taped, false, true);
  for (const char *const *name = of_os; *name != NULL; name++)
    replace(L, *name, taped, false, false);
  lua_getglobal(L, "io");
  for (const char *const *name = of_io; *name != NULL; name++)
    replace(L, *name, taped, false, false);
  replace(L, "input", redirected, false, false);
  replace(L, "output", redirected, false, false);
  luaL_getmetatable(L, LUA_FILEHANDLE);
  lua_getfield(L, -1, "__index");
  for (const char *const *name = of_files; *name != NULL; name++)
    replace(L, *name, taped, false, false);
  replace(L, "close", taped, true, false);
  lua_getglobal(L, "package");
  replace(L, "searchpath", taped, false, false);
  lua_getfield(L, -1, "loaded");
  lua_pushcfunction(L, wrap);
  lua_setfield(L, -2, "moonloop.taped");
  lua_getglobal(L, "math");
  replace(L, "randomseed", seeded, false, false);
  lua_getfield(L, -1, "randomseed");
  lua_call(L, 0, 0);  // door: set-up
  return 0;
}
