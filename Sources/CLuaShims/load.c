// `load`, adapted to stops and limits, and `xpcall`, whose message handler does not run for a stop.
#include <string.h>

#include "libraries.h"

enum {
  // Limit for all that a reader function returns; text in one string has no limit of ours.
  LOAD_BYTES_MAX = 256 << 20,
  // How much text the parser gets at once: it cannot be stopped in between.
  PIECE_BYTES = 1024,
  // How much of a name that is the text itself liblua shows.
  SHOWN_BYTES = LUA_IDSIZE,
};

// ── load ────────────────────────────────────────────────────────────────────────────────────────

struct text {
  const char *rest;
  size_t length;
};

// Passes the text to the parser in pieces; a stop ends the parser, and `fail` raises it again.
static const char *next_piece(lua_State *L, void *context, size_t *size) {
  struct text *text = context;
  cml_poll(L);
  const char *piece = text->rest;
  *size = text->length < PIECE_BYTES ? text->length : PIECE_BYTES;
  text->rest += *size;
  text->length -= *size;
  return piece;
}

static bool is_control(char c) { return ((unsigned char)c < ' ' && c != '\t') || c == 0x7f; }

// Replaces control bytes in the part of a chunk's name that error messages show: all of it after
// '=' or '@', otherwise the beginning of the first line. [-0, +0, m]
static const char *clean_name(lua_State *L, int arg, const char *name) {
  bool is_text = *name != '=' && *name != '@';
  size_t shown = is_text ? strnlen(name, SHOWN_BYTES) : strlen(name);
  if (is_text) {
    const char *line_end = memchr(name, '\n', shown);
    if (line_end) shown = (size_t)(line_end - name);
  }
  size_t i = 0;
  while (i < shown && !is_control(name[i])) i++;
  if (i == shown) return name;

  size_t length = strlen(name);
  luaL_Buffer buffer;
  char *copy = luaL_buffinitsize(L, &buffer, length);
  memcpy(copy, name, length);
  for (; i < shown; i++) {
    if (is_control(copy[i])) copy[i] = '?';
  }
  luaL_pushresultsize(&buffer, length);
  lua_replace(L, arg);
  return lua_tostring(L, arg);
}

// Collects what a reader function returns, outside of the parser, where it may take its time. A
// protected C function: the reader's error is the result of `load`.
static int read_all(lua_State *L) {
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  size_t total = 0;
  for (;;) {
    cml_poll(L);
    lua_pushvalue(L, 1);
    lua_call(L, 0, 1);  // door: script's, below load
    if (lua_isnil(L, -1)) break;
    if (!lua_isstring(L, -1)) {
      luaL_where(L, 2);
      lua_pushliteral(L, "reader function must return a string");
      lua_concat(L, 2);
      return lua_error(L);
    }
    size_t length;
    lua_tolstring(L, -1, &length);
    if (length == 0) break;
    total += length;
    if (total > LOAD_BYTES_MAX)
      return luaL_error(L, "chunk is too large (limit %d bytes)", LOAD_BYTES_MAX);
    luaL_addvalue(&buffer);
  }
  lua_pop(L, 1);
  luaL_pushresult(&buffer);
  return 1;
}

// Returns the error on top as the result of `load`, unless it is a stop's.
static int fail(lua_State *L) {
  if (cml_is_stop(cml_of(L), L)) cml_raise_stop(L);
  cml_poll(L);
  luaL_pushfail(L);
  lua_insert(L, -2);
  return 2;
}

static int load(lua_State *L) {
  struct text text;
  const char *name;
  bool has_environment = !lua_isnone(L, 4);
  const char *mode = luaL_optstring(L, 3, "bt");
  text.rest = lua_tolstring(L, 1, &text.length);
  if (text.rest) {
    name = luaL_optstring(L, 2, text.rest);
  } else {
    name = luaL_optstring(L, 2, "=(load)");
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 4);
    lua_pushcfunction(L, read_all);
    lua_pushvalue(L, 1);
    if (lua_pcall(L, 1, 1, 0) != LUA_OK) return fail(L);  // door: script's
    lua_replace(L, 1);
    text.rest = lua_tolstring(L, 1, &text.length);
  }
  lua_settop(L, 4);
  name = clean_name(L, 2, name);
  if (cml_of(L)->text_only) mode = strchr(mode, 't') ? "t" : "";
  if (lua_load(L, next_piece, &text, name, mode) != LUA_OK) return fail(L);
  cml_poll(L);
  if (has_environment) {
    lua_pushvalue(L, 4);
    if (!lua_setupvalue(L, -2, 1)) lua_pop(L, 1);
  }
  return 1;
}

// ── xpcall ──────────────────────────────────────────────────────────────────────────────────────

// During a stop none of the script's code runs: the error stays as it is. Called by the guards of
// message handlers.
static int is_stopping(lua_State *L) {
  lua_pushboolean(L, cml_of(L)->stop != CML_STOP_NONE);
  return 1;
}

// The guard of a handler that is a plain C function, such as debug.traceback: calls it within its
// own frame, so that levels and tracebacks are as if it were called directly.
static int guarded_c_handler(lua_State *L) {
  if (cml_of(L)->stop != CML_STOP_NONE) return 1;
  return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

// The guard of any other handler, for the same reason a tail call: written in Lua. The outer
// function makes the guard of one handler.
static const char guard_text[] =
    "local is_stopping = ...\n"
    "return function(handler)\n"
    "  return function(message)\n"
    "    if is_stopping() then return message end\n"
    "    return handler(message)\n"
    "  end\n"
    "end\n";

// Pushes the guard of the message handler at index 2. [-0, +1, e]
static void push_guard(lua_State *L) {
  lua_pushvalue(L, 2);
  if (lua_iscfunction(L, 2)) {
    if (!lua_getupvalue(L, 2, 1)) {
      lua_pushcclosure(L, guarded_c_handler, 1);
      return;
    }
    lua_pop(L, 1);
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, -2);
  lua_call(L, 1, 1);  // door: the guard's maker
}

// The end of xpcall, also after a yield: everything except the guard and the function below it is a
// result.
static int finish_xpcall(lua_State *L, int status, lua_KContext below) {
  if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(L) - (int)below;
  cml_poll(L);
  lua_pushboolean(L, false);
  lua_insert(L, -2);
  return 2;
}

static int xpcall(lua_State *L) {
  int arguments = lua_gettop(L) - 2;
  luaL_checktype(L, 2, LUA_TFUNCTION);
  push_guard(L);
  lua_replace(L, 2);
  lua_pushboolean(L, true);
  lua_pushvalue(L, 1);
  lua_rotate(L, 3, 2);
  int status = lua_pcallk(L, arguments, LUA_MULTRET, 2, 2, finish_xpcall);  // door: script's
  return finish_xpcall(L, status, 2);
}

void cml_install_load(lua_State *L) {
  static const luaL_Reg functions[] = {{"load", load}, {NULL, NULL}};
  cml_replace_functions(L, LUA_GNAME, functions);
  if (luaL_loadbufferx(L, guard_text, sizeof guard_text - 1, "=xpcall", "t") != LUA_OK)
    lua_error(L);
  lua_pushcfunction(L, is_stopping);
  lua_call(L, 1, 1);  // door: the guard's maker
  lua_pushcclosure(L, xpcall, 1);
  lua_setglobal(L, "xpcall");
}
