// The standard libraries for untrusted scripts: nothing reaches outside of the state, shows an
// address, or gives a value a finalizer.
#include <string.h>

#include "cml_internal.h"
#include "libraries.h"

// The registry key of the table that gives each value its number.
static const char numbers;

// Pushes the number of a value, counted from 1 in the order of asking. [-0, +1, m]
static lua_Integer number_of(lua_State *L, int arg) {
  luaL_checkstack(L, 4, NULL);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &numbers);
  lua_pushvalue(L, arg);
  if (lua_rawget(L, -2) == LUA_TNIL) {
    lua_rawgeti(L, -2, 0);
    lua_Integer next = lua_tointeger(L, -1) + 1;
    lua_pop(L, 2);
    lua_pushinteger(L, next);
    lua_rawseti(L, -2, 0);
    lua_pushvalue(L, arg);
    lua_pushinteger(L, next);
    lua_rawset(L, -3);
    lua_pushinteger(L, next);
  }
  lua_Integer number = lua_tointeger(L, -1);
  lua_pop(L, 2);
  return number;
}

void cml_hide_address(lua_State *L, int arg) {
  if (!cml_of(L)->hides_addresses) return;
  int type = lua_type(L, arg);
  if (type < LUA_TTABLE && type != LUA_TLIGHTUSERDATA) return;
  if (luaL_getmetafield(L, arg, "__tostring") != LUA_TNIL) {
    lua_pop(L, 1);
    return;
  }
  lua_Integer number = number_of(L, arg);
  int field = luaL_getmetafield(L, arg, "__name");
  const char *name = field == LUA_TSTRING ? lua_tostring(L, -1) : luaL_typename(L, arg);
  lua_pushfstring(L, "%s: %I", name, (LUAI_UACINT)number);
  lua_replace(L, arg);
  if (field != LUA_TNIL) lua_pop(L, 1);
}

static int to_string(lua_State *L) {
  luaL_checkany(L, 1);
  cml_hide_address(L, 1);
  return cml_call_original(L, 1);
}

// The values that '%s' shows are replaced; '%p' always shows an address.
static int format(lua_State *L) {
  size_t length = 0;
  const char *text = lua_type(L, 1) == LUA_TSTRING ? lua_tolstring(L, 1, &length) : "";
  const char *end = text + length;  // there may be zeros in it
  int arg = 1, count = lua_gettop(L);
  while ((text = memchr(text, '%', (size_t)(end - text))) != NULL) {
    text += 1 + strspn(text + 1, "-+ #0.123456789");
    if (text == end) break;
    if (*text++ == '%') continue;
    arg++;
    if (text[-1] == 'p')
      return luaL_error(L, "format: this script may not use '%%p', which shows addresses");
    if (text[-1] == 's' && arg <= count) cml_hide_address(L, arg);
  }
  return cml_call_original(L, 1);
}

static int set_metatable(lua_State *L) {
  if (lua_type(L, 2) == LUA_TTABLE) {
    lua_pushliteral(L, "__gc");
    if (lua_rawget(L, 2) != LUA_TNIL)
      return luaL_error(L, "setmetatable: this script may not use '__gc'; a <close> variable is "
                           "closed at the end of its block");
    lua_pop(L, 1);
  }
  return cml_call_original(L, 1);
}

// Without arguments liblua's own gives an address.
static int seed_random(lua_State *L) {
  cml_call_original(L, 1);
  return 0;
}

static int collect(lua_State *L) {
  const char *what = luaL_optstring(L, 1, "collect");
  if (strcmp(what, "collect") != 0 && strcmp(what, "count") != 0 && strcmp(what, "step") != 0)
    return luaL_error(L, "collectgarbage: this script may not use '%s'", what);
  return cml_call_original(L, 1);
}

// Removes all fields of a library but these. [-0, +0, m]
static void keep(lua_State *L, const char *library, const char *const *words) {
  lua_getglobal(L, library);
  for (lua_pushnil(L); lua_next(L, -2) != 0;) {
    lua_pop(L, 1);
    const char *const *word = words;
    while (*word != NULL && strcmp(*word, lua_tostring(L, -1)) != 0) word++;
    if (*word != NULL) continue;
    lua_pushvalue(L, -1);
    lua_pushnil(L);
    lua_rawset(L, -4);
  }
  lua_pop(L, 1);
}

// Removes what reaches outside of the state. [-0, +0, m]
static void remove_system(lua_State *L) {
  keep(L, LUA_OSLIBNAME, (const char *const[]){"clock", "date", "difftime", "time", NULL});
  keep(L, LUA_DBLIBNAME, (const char *const[]){"traceback", NULL});
  keep(L, LUA_LOADLIBNAME, (const char *const[]){"loaded", "preload", "searchers", NULL});
  lua_getglobal(L, LUA_LOADLIBNAME);
  lua_getfield(L, -1, "searchers");
  for (lua_Integer place = (lua_Integer)lua_rawlen(L, -1); place > 1; place--) {
    lua_pushnil(L);
    lua_rawseti(L, -2, place);
  }
  lua_getfield(L, -2, "loaded");
  static const char *const globals[] = {LUA_IOLIBNAME, "dofile", "loadfile"};
  for (size_t i = 0; i < sizeof globals / sizeof *globals; i++) {
    lua_pushnil(L);
    lua_setglobal(L, globals[i]);
    lua_pushnil(L);
    lua_setfield(L, -2, globals[i]);
  }
  lua_pop(L, 3);
}

// Wraps the function of the table on top. [-0, +0, m]
static void wrap(lua_State *L, const char *name, lua_CFunction wrapper) {
  lua_getfield(L, -1, name);
  lua_pushcclosure(L, wrapper, 1);
  lua_setfield(L, -2, name);
}

// Methods of strings are the library's own, whatever a script does to the library; but what it adds
// there is found too. The metatable is out of reach. [-0, +0, m]
static void close_strings(lua_State *L) {
  lua_pushliteral(L, "");
  lua_getmetatable(L, -1);
  lua_getglobal(L, LUA_STRLIBNAME);
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, -3) != 0; lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, -5);
  }
  lua_newtable(L);
  lua_pushvalue(L, -3);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_setfield(L, -3, "__index");
  lua_pushliteral(L, "string");
  lua_setfield(L, -3, "__metatable");
  lua_pop(L, 3);
}

static int make_safe(lua_State *L) {
  lua_newtable(L);
  lua_newtable(L);
  lua_pushliteral(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &numbers);
  lua_pushglobaltable(L);
  wrap(L, "tostring", to_string);
  wrap(L, "setmetatable", set_metatable);
  wrap(L, "collectgarbage", collect);
  remove_system(L);
  lua_getfield(L, -1, LUA_MATHLIBNAME);
  wrap(L, "randomseed", seed_random);
  lua_getfield(L, -2, LUA_STRLIBNAME);
  lua_pushnil(L);
  lua_setfield(L, -2, "dump");
  wrap(L, "format", format);
  close_strings(L);
  lua_pop(L, 3);
  cml_of(L)->hides_addresses = true;
  return 0;
}

bool cml_make_safe(cml_state *s) {
  s->text_only = true;
  lua_pushcfunction(s->main, make_safe);
  return cml_protected_call(s->main, 0) == LUA_OK;
}
