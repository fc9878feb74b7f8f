// What a script program changes in the standard libraries: `os.exit` ends the program in order;
// functions that block the thread are reported first; warnings go to the program (cml_warning.c).
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cml_internal.h"

enum { UP_ORIGINAL = 1, UP_NAME, UP_TOLD, UP_HOOKS };

static const struct cml_program_hooks *hooks_of(lua_State *L, int upvalue) {
  return lua_touserdata(L, lua_upvalueindex(upvalue));
}

// Like liblua's own, which would close the state below the host's frames.
static int exit_program(lua_State *L) {
  int status = lua_isboolean(L, 1) ? (lua_toboolean(L, 1) ? EXIT_SUCCESS : EXIT_FAILURE)
                                   : (int)luaL_optinteger(L, 1, EXIT_SUCCESS);
  const struct cml_program_hooks *hooks = hooks_of(L, 1);
  hooks->exit(status, lua_toboolean(L, 2), hooks->context);
  cml_poll(L);
  return 0;
}

// One with upvalues needs a frame of its own.
int cml_call_original(lua_State *L, int upvalue) {
  int original = lua_upvalueindex(upvalue);
  if (cml_is_named(L, original)) return cml_original_of_named(L, original)(L);
  if (lua_getupvalue(L, original, 1) == NULL) return lua_tocfunction(L, original)(L);
  lua_pop(L, 1);
  lua_pushvalue(L, original);
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);  // door: script's, of a library
  return lua_gettop(L);
}

// Like liblua's own, which ignores SIGINT while the command runs.
static int execute(lua_State *L) {
  cml_check_names(L, 1);
  const char *command = luaL_optstring(L, 1, NULL);
  errno = 0;
  int status = hooks_of(L, 1)->execute(command);
  if (command != NULL) return luaL_execresult(L, status);
  lua_pushboolean(L, status);
  return 1;
}

// A recording has a function of its own in its place, whose first upvalue is the library's.
static void replace_execute(lua_State *L, const struct cml_program_hooks *hooks) {
  if (hooks->execute != NULL && lua_getglobal(L, "os") == LUA_TTABLE &&
      lua_getfield(L, -1, "execute") == LUA_TFUNCTION) {
    bool is_recorded = !cml_is_named(L, -1) && lua_getupvalue(L, -1, 1) != NULL;
    if (is_recorded) lua_pop(L, 1);
    lua_pushlightuserdata(L, (void *)hooks);
    lua_pushcclosure(L, execute, 1);
    if (is_recorded)
      lua_setupvalue(L, -2, 1);
    else
      lua_setfield(L, -3, "execute");
  }
  lua_settop(L, 1);
}

static int blocking(lua_State *L) {
  cml_check_names(L, 1);
  if (!lua_toboolean(L, lua_upvalueindex(UP_TOLD))) {
    const struct cml_program_hooks *hooks = hooks_of(L, UP_HOOKS);
    bool told = hooks->blocks(L, lua_tostring(L, lua_upvalueindex(UP_NAME)), hooks->context);
    if (told) {
      lua_pushboolean(L, 1);
      lua_replace(L, lua_upvalueindex(UP_TOLD));
    }
  }
  return cml_call_original(L, UP_ORIGINAL);
}

// Replaces a function of a library that has no upvalues of its own. [-0, +0, m]
static void watch(lua_State *L, const char *library, const char *name, const char *full_name,
                  void *hooks) {
  if (lua_getglobal(L, library) == LUA_TTABLE && lua_getfield(L, -1, name) == LUA_TFUNCTION) {
    lua_pushstring(L, full_name);
    lua_pushboolean(L, 0);
    lua_pushlightuserdata(L, hooks);
    lua_pushcclosure(L, blocking, 4);
    lua_setfield(L, -2, name);
  }
  lua_settop(L, 1);
}

static int install(lua_State *L) {
  void *hooks = lua_touserdata(L, 1);
  lua_getglobal(L, "os");
  if (lua_getfield(L, -1, "exit") != LUA_TNIL) {  // not for scripts without it
    lua_pushlightuserdata(L, hooks);
    lua_pushcclosure(L, exit_program, 1);
    lua_setfield(L, -3, "exit");
  }
  lua_settop(L, 1);
  replace_execute(L, hooks);
  watch(L, "os", "execute", "os.execute", hooks);
  watch(L, "io", "popen", "io.popen", hooks);
  watch(L, "io", "read", "io.read", hooks);
  return 0;
}

bool cml_install_program(cml_state *s, const struct cml_program_hooks *hooks) {
  lua_State *L = s->main;
  s->program_hooks = hooks;
  lua_pushcfunction(L, install);
  lua_pushlightuserdata(L, (void *)hooks);
  return cml_protected_call(L, 1) == LUA_OK;
}
