// Host functions: Swift returns a status, and C raises or yields after the Swift frame has gone.
#include "cml_internal.h"

struct cell {
  cml_function call;
  void *context;
  cml_release release;
};

static int cell_metatable;  // its address is the registry key

// After a wait: the values of the resume are on the stack, above what was there before.
static int continue_after_wait(lua_State *L, int status, lua_KContext base) {
  (void)status;
  struct cml_state *s = cml_of(L);
  if (s->raises) {
    s->raises = false;
    return lua_error(L);
  }
  return lua_gettop(L) - (int)base;
}

static void note_wait(lua_State *L, struct cml_state *s) {
  int task = cml_task_current(s, L);
  if (task >= 0) s->tasks[task].awaits = 1;
}

static int wait(lua_State *L, struct cml_state *s, int count) {
  int base = lua_gettop(L) - count;
  note_wait(L, s);
  return lua_yieldk(L, count, base, continue_after_wait);
}

// Calls into Swift; nothing raises before its frame has gone.
static inline int32_t enter_host(lua_State *L, struct cml_state *s, cml_function call,
                                 void *context) {
  lua_State *running = s->running;
  bool guarded = s->guarded;
  s->running = L;  // right even if a C module resumed L by itself
  s->guarded = false;
  int32_t result = call(L, context);
  s->guarded = guarded;
  s->running = running;
  return result;
}

// The function may have raised because its call must be stopped, which is then reported
// instead.
static int raise_error(lua_State *L) {
  cml_poll(L);
  return lua_error(L);
}

static inline int call_out(lua_State *L, struct cml_state *s, cml_function call, void *context) {
  int32_t result = enter_host(L, s, call, context);
  if (LIKELY(result >= 0)) return result;
  if (result == CML_RAISE) return raise_error(L);
  return wait(L, s, CML_YIELD - result);
}

// Upvalues: 1 the address of the cell, which is found faster than the cell itself, 2 the cell.
static int call_cell(lua_State *L) {
  struct cell *c = lua_touserdata(L, lua_upvalueindex(1));
  return call_out(L, cml_of(L), c->call, c->context);
}

static int call_raw(lua_State *L) {
  struct cml_state *s = cml_of(L);
  return call_out(L, s, (cml_function)lua_touserdata(L, lua_upvalueindex(1)), s->host);
}

static int after_guarded(lua_State *L, int status, lua_KContext base) {
  (void)status;
  return lua_gettop(L) - (int)base;  // closes what was guarded: a C function's end does
}

// Calls the function below this many arguments; closes the value below it afterwards.
static int call_guarded(lua_State *L, int count) {
  int base = lua_gettop(L) - count - 1;
  lua_toclose(L, base);
  lua_callk(L, count, LUA_MULTRET, base, after_guarded);  // door: the script's own call
  return after_guarded(L, LUA_OK, base);
}

static int second_half(lua_State *L, int status, lua_KContext context) {
  (void)status, (void)context;
  struct cml_state *s = cml_of(L);
  int32_t result = enter_host(L, s, lua_touserdata(L, lua_upvalueindex(2)), s->host);
  if (LIKELY(result >= 0)) return result;
  if (result == CML_RAISE) return raise_error(L);
  if (result <= CML_GUARD) return call_guarded(L, CML_GUARD - result);
  return wait(L, s, CML_YIELD - result);
}

// After a wait of the first half: the second half also gets the values of the resume.
static int second_after_wait(lua_State *L, int status, lua_KContext context) {
  struct cml_state *s = cml_of(L);
  if (!s->raises) return second_half(L, status, context);
  s->raises = false;
  return lua_error(L);
}

static int call_halves(lua_State *L) {
  struct cml_state *s = cml_of(L);
  int32_t result = enter_host(L, s, lua_touserdata(L, lua_upvalueindex(1)), s->host);
  if (result >= 0) return result;
  if (result == CML_RAISE) return raise_error(L);
  if (result <= CML_GUARD) return call_guarded(L, CML_GUARD - result);
  if (result > CML_CALL) {
    note_wait(L, s);
    return lua_yieldk(L, 0, 0, second_after_wait);
  }
  lua_callk(L, CML_CALL - result, LUA_MULTRET, 0, second_half);  // door: the script's own call
  return second_half(L, LUA_OK, 0);
}

// Makes a closure of the values on top. [-values, +1, m]
static void push_closure(lua_State *L, lua_CFunction function, int values) {
  struct cml_state *s = cml_of(L);
  struct cml_work work;
  cml_begin_work(s, L, &work);
  lua_pushcclosure(L, function, values);
  cml_end_work(s, L, &work);
}

void cml_push_raw_halves(lua_State *L, cml_function first, cml_function second) {
  lua_pushlightuserdata(L, (void *)first);
  lua_pushlightuserdata(L, (void *)second);
  push_closure(L, call_halves, 2);
}

// What a function does whose cell was collected: only the finalizer of a value that held it, and
// was collected with it, can call it then.
static int32_t refuse_collected(lua_State *L, void *context) {
  (void)context;
  luaL_where(L, 1);
  lua_pushliteral(L, "this function of the host was collected before the finalizer that calls it");
  lua_concat(L, 2);
  return CML_RAISE;
}

static int release_cell(lua_State *L) {
  struct cell *c = lua_touserdata(L, 1);
  cml_release release = c->release;
  void *context = c->context;
  *c = (struct cell){.call = refuse_collected};
  if (release != NULL) release(context);
  return 0;
}

int cml_call_member(lua_State *L, int arguments) {
  struct cml_state *s = cml_of(L);
  if (lua_type(L, -1) == LUA_TLIGHTUSERDATA) {
    cml_function call = (cml_function)lua_touserdata(L, -1);
    lua_settop(L, arguments);
    return call_out(L, s, call, s->host);
  }
  struct cell *c = lua_touserdata(L, -1);  // kept by its table
  lua_settop(L, arguments);
  return call_out(L, s, c->call, c->context);
}

void cml_push_cell(lua_State *L, cml_function call, void *context, cml_release release) {
  struct cml_state *s = cml_of(L);
  struct cml_work work;
  cml_begin_work(s, L, &work);
  struct cell *c = lua_newuserdatauv(L, sizeof *c, 0);
  *c = (struct cell){call, context, NULL};
  lua_rawgetp(L, LUA_REGISTRYINDEX, &cell_metatable);
  lua_setmetatable(L, -2);
  c->release = release;  // only now: before, an error would have to release it twice
  cml_end_work(s, L, &work);
  if (UNLIKELY(s->is_ending) && release != NULL) {
    *c = (struct cell){.call = refuse_collected};
    release(context);
  }
}

void cml_push_function(lua_State *L, cml_function call, void *context, cml_release release) {
  cml_push_cell(L, call, context, release);
  lua_pushlightuserdata(L, lua_touserdata(L, -1));
  lua_insert(L, -2);
  push_closure(L, call_cell, 2);
}

void cml_push_raw_function(lua_State *L, cml_function call) {
  lua_pushlightuserdata(L, (void *)call);
  push_closure(L, call_raw, 1);
}

void cml_function_set_up(lua_State *L) {
  lua_createtable(L, 0, 2);
  lua_pushcfunction(L, release_cell);
  lua_setfield(L, -2, "__gc");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &cell_metatable);
}
