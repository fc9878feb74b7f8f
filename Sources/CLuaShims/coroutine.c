// The functions of Lua's coroutine library that switch between coroutines, or look at them.
//
// Same results and messages as in liblua 5.4. In addition, the record always knows the running
// coroutine, so that a stop finds it; a stop passes through every switch; a coroutine killed by a
// stop is never closed; closing is bounded; the host's coroutines are out of reach, and look like
// the main one.
#include "libraries.h"

enum {
  // Nested calls of coroutine.close. Up to release 5.4.5 liblua restarts its count of C calls in
  // each, so that a chain of them overflows the C stack; hence also a bound on bytes, which leaves
  // room for one more full chain of C calls on a 1 MiB stack.
  CLOSING_MAX = 100,
  CLOSING_STACK_BYTES = 192 * 1024,
};

static lua_State *check_coroutine(lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  luaL_argexpected(L, co, 1, "thread");
  return co;
}

// ── status ──────────────────────────────────────────────────────────────────────────────────────

enum status { SUSPENDED, DEAD, NORMAL, RUNNING };

static enum status status_of(lua_State *L, lua_State *co) {
  if (L == co) return RUNNING;
  switch (lua_status(co)) {
    case LUA_YIELD: return SUSPENDED;
    case LUA_OK: {
      lua_Debug frame;
      if (lua_getstack(co, 0, &frame)) return NORMAL;
      return lua_gettop(co) == 0 ? DEAD : SUSPENDED;  // suspended: not started yet
    }
    default: return DEAD;  // by an error
  }
}

// A coroutine that died of a stop keeps the stop's error on its stack.
static bool is_stopped(lua_State *co) {
  return lua_status(co) > LUA_YIELD && cml_is_stop(cml_of(co), co);
}

// Whether the coroutine is the host's and still has something to do or to report.
static bool is_held_task(lua_State *L, lua_State *co) {
  if (!cml_is_task(co)) return false;
  enum status status = status_of(L, co);
  return status == SUSPENDED || (status == DEAD && lua_status(co) != LUA_OK);
}

// ── running, yield ──────────────────────────────────────────────────────────────────────────────

static int coroutine_running(lua_State *L) {
  bool is_main = lua_pushthread(L);
  lua_pushboolean(L, is_main || cml_is_task(L));
  return 2;
}

static int coroutine_isyieldable(lua_State *L) {
  lua_State *co = lua_isnone(L, 1) ? L : check_coroutine(L);
  lua_pushboolean(L, !cml_is_task(co) && lua_isyieldable(co));
  return 1;
}

static int coroutine_yield(lua_State *L) {
  if (!cml_is_task(L)) return lua_yield(L, lua_gettop(L));
  lua_pushliteral(L, CML_YIELD_OUTSIDE);
  return lua_error(L);
}

// ── resume ──────────────────────────────────────────────────────────────────────────────────────

// Resumes with the values on top of the stack. Pushes what the coroutine returned or yielded and
// returns their count, or pushes an error and returns -1. [-arguments, +?, only stops]
static int resume(lua_State *L, lua_State *co, int arguments) {
  if (is_held_task(L, co)) {
    lua_pushliteral(L, "cannot resume a task of the loop; await it or cancel it");
    return -1;
  }
  if (!lua_checkstack(co, arguments)) {
    lua_pushliteral(L, "too many arguments to resume");
    return -1;
  }
  lua_xmove(L, co, arguments);
  struct cml_state *s = cml_of(L);
  int count = 0;
  s->running = co;
  int status = lua_resume(co, L, arguments, &count);  // door: script's
  s->running = L;
  if (status > LUA_YIELD) {
    if (cml_is_stop(s, co)) cml_raise_stop(L);
    cml_poll(L);
    lua_xmove(co, L, 1);
    return -1;
  }
  // A stop may have come after the last check of `running`, or be meant for all.
  cml_poll(L);
  if (!lua_checkstack(L, count + 1)) {
    lua_pop(co, count);
    lua_pushliteral(L, "too many results to resume");
    return -1;
  }
  lua_xmove(co, L, count);
  return count;
}

static int coroutine_resume(lua_State *L) {
  lua_State *co = check_coroutine(L);
  int count = resume(L, co, lua_gettop(L) - 1);
  lua_pushboolean(L, count >= 0);
  if (count < 0) count = 1;  // the error
  lua_insert(L, -(count + 1));
  return count + 1;
}

// ── close ───────────────────────────────────────────────────────────────────────────────────────

static void check_room_to_close(lua_State *L) {
  struct cml_state *s = cml_of(L);
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (s->closing == 0) s->closing_from = here;
  uintptr_t used = here < s->closing_from ? s->closing_from - here : here - s->closing_from;
  if (s->closing >= CLOSING_MAX || used > CLOSING_STACK_BYTES)
    luaL_error(L, "too many coroutines closed in one another (limit %d)", CLOSING_MAX);
}

// Closes the pending variables of a coroutine that is not running. Returns LUA_OK, or the status of
// the error it pushes: the coroutine's own, or the last one of a `__close`. [-0, +(0|1), v]
static int close(lua_State *L, lua_State *co) {
  cml_poll(L);
  if (is_stopped(co)) {
    lua_pushliteral(L, "coroutine was stopped by a limit");
    return LUA_ERRRUN;
  }
  check_room_to_close(L);
  struct cml_state *s = cml_of(L);
  s->closing++;
  s->running = co;
#if LUA_VERSION_RELEASE_NUM >= 50406
  int status = lua_closethread(co, L);  // door: script's
#else
  int status = lua_resetthread(co);  // door: script's
#endif
  s->running = L;
  s->closing--;
  if (status != LUA_OK) {
    lua_xmove(co, L, 1);
    if (cml_is_stop(s, L)) cml_raise_stop(L);
  }
  cml_poll(L);
  return status;
}

static int coroutine_close(lua_State *L) {
  lua_State *co = check_coroutine(L);
  enum status status = status_of(L, co);
  if (status == RUNNING || status == NORMAL)
    return luaL_error(L, "cannot close a %s coroutine", status == RUNNING ? "running" : "normal");
  if (is_held_task(L, co))
    return luaL_error(L, "cannot close a task of the loop; await it or cancel it");
  bool is_closed = close(L, co) == LUA_OK;
  lua_pushboolean(L, is_closed);
  if (is_closed) return 1;
  lua_insert(L, -2);
  return 2;
}

// ── wrap ────────────────────────────────────────────────────────────────────────────────────────

static int wrapped(lua_State *L) {
  lua_State *co = lua_tothread(L, lua_upvalueindex(1));
  int count = resume(L, co, lua_gettop(L));
  if (count >= 0) return count;
  int status = lua_status(co);
  if (status > LUA_YIELD) status = close(L, co);
  if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

static int coroutine_create(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_State *co = lua_newthread(L);
  cml_count_alone(cml_of(L), co);
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  return 1;
}

static int coroutine_wrap(lua_State *L) {
  coroutine_create(L);
  lua_pushcclosure(L, wrapped, 1);
  return 1;
}

void cml_install_coroutine(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"running", coroutine_running}, {"isyieldable", coroutine_isyieldable},
      {"yield", coroutine_yield},     {"resume", coroutine_resume},
      {"create", coroutine_create},   {"wrap", coroutine_wrap},
      {"close", coroutine_close},     {NULL, NULL},
  };
  cml_replace_functions(L, LUA_COLIBNAME, functions);
}
