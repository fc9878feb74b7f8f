// `os.time`, `os.date` and `os.clock` of a state whose clock need not be the machine's.
#include <time.h>

#include "cml_internal.h"

enum { UP_ORIGINAL = 1, UP_FUNCTION, UP_CONTEXT };

// Whether the host's clock differs from the machine's; then what it shows.
static bool shows(lua_State *L, struct cml_shown_time *time) {
  cml_clock shown = (cml_clock)lua_tocfunction(L, lua_upvalueindex(UP_FUNCTION));
  return shown(lua_touserdata(L, lua_upvalueindex(UP_CONTEXT)), time);
}

// With a table it converts a date, as usual.
static int time_of_day(lua_State *L) {
  struct cml_shown_time time;
  if (!lua_isnoneornil(L, 1) || !shows(L, &time)) return cml_call_original(L, UP_ORIGINAL);
  lua_pushinteger(L, time.epoch);
  return 1;
}

static int date(lua_State *L) {
  struct cml_shown_time time;
  if (lua_isnoneornil(L, 2) && shows(L, &time)) {
    lua_settop(L, 1);
    lua_pushinteger(L, time.epoch);
  }
  return cml_call_original(L, UP_ORIGINAL);
}

// Processor time counts too: a loop that waits for it ends with any clock.
static int seconds(lua_State *L) {
  struct cml_shown_time time;
  if (!shows(L, &time)) return cml_call_original(L, UP_ORIGINAL);
  lua_pushnumber(L, time.elapsed + (lua_Number)clock() / CLOCKS_PER_SEC);
  return 1;
}

static int install(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"time", time_of_day}, {"date", date}, {"clock", seconds}, {NULL, NULL}};
  if (lua_getglobal(L, "os") != LUA_TTABLE) return 0;
  for (const luaL_Reg *one = functions; one->name != NULL; one++) {
    if (lua_getfield(L, 3, one->name) == LUA_TFUNCTION) {
      lua_pushvalue(L, 1);
      lua_pushvalue(L, 2);
      lua_pushcclosure(L, one->func, 3);
      lua_setfield(L, 3, one->name);
    }
    lua_settop(L, 3);
  }
  return 0;
}

bool cml_follow_clock(cml_state *s, cml_clock clock, void *context) {
  lua_State *L = s->main;
  lua_pushcfunction(L, install);
  lua_pushcfunction(L, (lua_CFunction)clock);
  lua_pushlightuserdata(L, context);
  return cml_protected_call(L, 2) == LUA_OK;
}
