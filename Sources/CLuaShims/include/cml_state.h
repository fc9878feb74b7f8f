// The record that goes with each Lua state: found through the state's extra space, which every
// coroutine inherits. The stop flag in it is how a limit or an interrupt ends a script: whoever
// sets it makes every polling function, and the hook, raise until control is back in the host.
#pragma once
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum cml_stop {
  CML_STOP_NONE = 0,
  CML_STOP_TIME = 1,       // a call-out took longer than its limit
  CML_STOP_MEMORY = 2,     // the script holds more memory than its limit
  CML_STOP_INTERRUPT = 3,  // SIGINT, or the host asked for it
};

struct cml_state {
  // Why the script must stop now, or CML_STOP_NONE. Written by the loop thread and by the signal
  // handler that runs on it.
  volatile sig_atomic_t stop;
  // The coroutine that runs Lua code at this moment, so that a hook can be put on it. Kept by every
  // resume (the host's and the scripts').
  lua_State *volatile running;
  // How many coroutine.close calls are active, bounded.
  int closing;
  lua_State *main;
};

static inline struct cml_state *cml_of(lua_State *L) {
  return *(struct cml_state **)lua_getextraspace(L);
}

// Raises the error of a stop; never returns. The value is a light userdata that no script can make
// and that the host recognises; defined in state.c.
_Noreturn void cml_raise_stop(lua_State *L);

// Call often in anything that can run long in C. One load when nothing is wrong.
static inline void cml_poll(lua_State *L) {
  if (__builtin_expect(cml_of(L)->stop != CML_STOP_NONE, 0)) cml_raise_stop(L);
}

// Replaces the functions of the standard libraries that run long in one C call, or that would lose
// the running coroutine, by ours; call after luaL_openlibs. [-0, +0, e]
void cml_install_string(lua_State *L);     // find match gmatch gsub rep (and the string metatable)
void cml_install_table(lua_State *L);      // insert remove move concat sort
void cml_install_coroutine(lua_State *L);  // resume wrap close
void cml_install_load(lua_State *L);       // load xpcall
