// The door: the only place where Lua code is entered. Whatever runs, runs on a coroutine of the
// pool; a finished coroutine that is resumed with a new function costs what a protected call costs.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cml_internal.h"

enum { POOL_BOUND = 64 };  // idle coroutines that are kept; about 1 kB each

int cml_protected_set_up(lua_State *L) {
  return lua_pcallk(L, 0, 0, 0, 0, NULL);  // door: set-up
}

int cml_protected_call(lua_State *L, int arguments) {
  int status = lua_pcallk(L, arguments, 0, 0, 0, NULL);  // door: set-up
  if (status != LUA_OK) lua_settop(L, -2);
  return status;
}

bool cml_set_up(cml_state *s, int (*body)(lua_State *L)) {
  lua_pushcfunction(s->main, body);
  return cml_protected_call(s->main, 0) == LUA_OK;
}

// Tasks -------------------------------------------------------------------------------------------

static int new_record(struct cml_state *s) {
  if (s->tasks_count == s->tasks_capacity) {
    int capacity = s->tasks_capacity == 0 ? 16 : s->tasks_capacity * 2;
    struct cml_task *tasks = realloc(s->tasks, (size_t)capacity * sizeof *tasks);
    if (tasks == NULL) abort();  // nothing below could handle it
    s->tasks = tasks;
    s->tasks_capacity = capacity;
  }
  memset(&s->tasks[s->tasks_count], 0, sizeof *s->tasks);
  return s->tasks_count++;
}

// Makes a coroutine and returns its reference. A finalizer may run in here and take or give back
// tasks itself.
static lua_State *make_coroutine(struct cml_state *s, int *ref) {
  lua_State *L = s->running;
  struct cml_work work;
  cml_begin_work(s, L, &work);
  lua_checkstack(L, 2);
  lua_State *co = lua_newthread(L);
  *ref = luaL_ref(L, LUA_REGISTRYINDEX);
  cml_end_work(s, L, &work);
  cml_mark_task(co);
  lua_sethook(co, NULL, 0, 0);  // a coroutine inherits the hook of its maker
  return co;
}

static inline int take(struct cml_state *s) {
  int task = s->tasks_free;
  if (UNLIKELY(task < 0 || s->tasks[task].L == NULL)) return -1;
  struct cml_task *t = &s->tasks[task];
  s->tasks_free = t->next_free;
  t->yielded = 0;
  s->pooled--;
  t->generation++;
  t->phase = CML_PHASE_RUNNING;
  return task;
}

int cml_task_take(cml_state *s) {
  int task = take(s);
  if (LIKELY(task >= 0)) return task;
  int ref;
  lua_State *co = make_coroutine(s, &ref);
  // Free records with a coroutine come first, in case a finalizer gave one back.
  int *link = &s->tasks_free;
  while (*link >= 0 && s->tasks[*link].L != NULL) link = &s->tasks[*link].next_free;
  task = *link;
  if (task >= 0)
    *link = s->tasks[task].next_free;  // a record without a coroutine
  else
    task = new_record(s);
  s->tasks[task].L = co;
  s->tasks[task].ref = ref;
  s->tasks[task].generation++;
  s->tasks[task].phase = CML_PHASE_RUNNING;
  return task;
}

lua_State *cml_task_take_with(cml_state *s, int ref, int *task) {
  *task = take(s);
  if (UNLIKELY(*task < 0)) *task = cml_task_take(s);
  lua_State *co = s->tasks[*task].L;
  lua_rawgeti(co, LUA_REGISTRYINDEX, ref);
  return co;
}

// The coroutine is as new: its stack is empty.
static inline void give_back(struct cml_state *s, int task) {
  struct cml_task *t = &s->tasks[task];
  t->phase = CML_PHASE_FREE;
  t->awaits = 0;
  t->next_free = s->tasks_free;
  s->tasks_free = task;
  if (LIKELY(t->L != NULL)) s->pooled++;
}

static void discard(struct cml_state *s, int task) {
  luaL_unref(s->main, LUA_REGISTRYINDEX, s->tasks[task].ref);
  s->tasks[task].L = NULL;
  s->tasks[task].ref = LUA_NOREF;
}

lua_State *cml_task_state(cml_state *s, int task) { return s->tasks[task].L; }
uint32_t cml_task_generation(cml_state *s, int task) { return s->tasks[task].generation; }

bool cml_task_is_suspended(cml_state *s, int task) {
  return task >= 0 && task < s->tasks_count && s->tasks[task].phase == CML_PHASE_SUSPENDED;
}

void cml_task_note(cml_state *s, int task, const void *host) { s->tasks[task].host = host; }

void cml_task_prefetch(cml_state *s, int task, bool is_next) {
  enum { LINE = 64, LINES = 4 };  // a lua_State takes 200 bytes
  if (task < 0 || task >= s->tasks_count) return;
  if (!is_next) return __builtin_prefetch(&s->tasks[task], 1);
  const char *coroutine = (const char *)s->tasks[task].L, *host = s->tasks[task].host;
  for (int line = 0; line < LINES; line++) {
    __builtin_prefetch(coroutine + line * LINE, 1);
    __builtin_prefetch(host + line * LINE, 1);
  }
}

lua_State *cml_callout_state(cml_state *s) { return s->task < 0 ? NULL : s->tasks[s->task].L; }

int cml_task_current(cml_state *s, lua_State *L) {
  return s->task >= 0 && s->tasks[s->task].L == L ? s->task : -1;
}

int cml_task_waiting(cml_state *s, lua_State *L) {
  return !s->synchronous && lua_isyieldable(L) ? cml_task_current(s, L) : -1;
}

int cml_tasks_in_use(cml_state *s) {
  int count = 0;
  for (int i = 0; i < s->tasks_count; i++) count += s->tasks[i].phase != CML_PHASE_FREE;
  return count;
}

// The frame of one entry --------------------------------------------------------------------------

struct frame {
  lua_State *running;
  uint64_t dispatch;
  int task;
  bool guarded, synchronous;
};

static inline void begin_dispatch(struct cml_state *s) {
  atomic_store_explicit(&s->dispatch, ++s->dispatches << 6 | (unsigned)s->depth,
                        memory_order_relaxed);
  if (UNLIKELY(atomic_load_explicit(&s->parked, memory_order_relaxed))) cml_unpark(s);
}

static inline void enter(struct cml_state *s, struct frame *f, int task, lua_State *co,
                         bool synchronous) {
  *f = (struct frame){s->running, atomic_load_explicit(&s->dispatch, memory_order_relaxed), s->task,
                      s->guarded, s->synchronous};
  s->depth++;
  s->task = task;
  s->synchronous = synchronous;
  s->guarded = true;
  s->running = co;
  if (f->dispatch == 0) begin_dispatch(s);  // a call-out of the host, not a call inside one
  if (UNLIKELY(s->instructions != 0)) cml_count(s, co);
  // After `running` is set, so that a stop that came just before still finds its coroutine.
  if (UNLIKELY(s->stop != CML_STOP_NONE)) cml_arm(s, co);
}

// The end of a stopped call, or of stopped work of the host; `outer` is the call-out that contains
// it, or 0.
static void leave_stopped(struct cml_state *s, uint64_t outer, lua_State *co, bool swallowed) {
  if (co != NULL) cml_disarm(s, co);
  s->stopped = (uint8_t)s->stop;
  if (outer == 0) {
    if (swallowed) cml_note_swallowed_stop(s);
    s->finalizer_stopped = CML_STOP_NONE;
    s->stop = CML_STOP_NONE;
    s->collected = false;
    s->refused = 0;
  } else {
    cml_arm(s, s->running);  // the call-out is not over: the stop remains in force
  }
}

static __attribute__((noinline)) void leave_unusual(struct cml_state *s, struct frame *f,
                                                    lua_State *co, int status) {
  if (s->stop != CML_STOP_NONE) leave_stopped(s, f->dispatch, co, status <= LUA_YIELD);
  if (s->untold != 0) cml_tell_finalizer_errors(s);
}

static inline void leave(struct cml_state *s, struct frame *f, lua_State *co, int status) {
  s->running = f->running;
  s->guarded = f->guarded;
  s->synchronous = f->synchronous;
  s->task = f->task;
  s->depth--;
  atomic_store_explicit(&s->dispatch, f->dispatch, memory_order_relaxed);
  if (UNLIKELY((s->stop | s->untold) != 0)) leave_unusual(s, f, co, status);
}

void cml_begin_work(struct cml_state *s, lua_State *L, struct cml_work *work) {
  *work = (struct cml_work){s->running, atomic_load_explicit(&s->dispatch, memory_order_relaxed)};
  s->running = L;
  if (work->dispatch == 0) {
    begin_dispatch(s);
    s->works++;
  }
}

// Errors from finalizers are reported at the end of the next call: the host is busy now.
void cml_end_work(struct cml_state *s, lua_State *L, struct cml_work *work) {
  s->running = work->running;
  if (work->dispatch == 0) atomic_store_explicit(&s->dispatch, 0, memory_order_relaxed);
  if (UNLIKELY(s->stop != CML_STOP_NONE)) leave_stopped(s, work->dispatch, L, true);
}

bool cml_is_stop(cml_state *s, lua_State *co) {
  return lua_type(co, -1) == LUA_TLIGHTUSERDATA && lua_touserdata(co, -1) == (void *)s;
}

static struct cml_result classify(struct cml_state *s, int task, lua_State *co, int status,
                                  int count) {
  struct cml_task *t = &s->tasks[task];  // not before: the array may have moved
  if (status == LUA_OK) return (struct cml_result){CML_RETURNED, task, lua_gettop(co)};
  if (status == LUA_YIELD && t->awaits) {
    t->phase = CML_PHASE_SUSPENDED;
    t->yielded = count;
    return (struct cml_result){CML_SUSPENDED, task, count};
  }
  t->phase = CML_PHASE_ENDED;
  if (status == LUA_YIELD) {
    lua_checkstack(co, 1);
    lua_pushliteral(co, CML_YIELD_OUTSIDE);
    return (struct cml_result){CML_FAILED, task, 1};
  }
  if (status == LUA_ERRMEM) {  // the same message for both
    lua_pushlightuserdata(co, s);
    s->stopped = CML_STOP_MEMORY;
    return (struct cml_result){CML_STOPPED, task, 1};
  }
  return (struct cml_result){cml_is_stop(s, co) ? CML_STOPPED : CML_FAILED, task, 1};
}

// Every entry into Lua goes through here.
static inline int resume(struct cml_state *s, int task, lua_State *co, int arguments,
                         bool synchronous, int *count) {
  struct frame f;
  enter(s, &f, task, co, synchronous);
  int status = lua_resume(co, f.running, arguments, count);  // door: the door
  leave(s, &f, co, status);
  return status;
}

struct cml_result cml_run(cml_state *s, int task, int arguments, bool synchronous) {
  if (UNLIKELY(s->depth >= s->depth_limit)) return (struct cml_result){CML_NESTED, task, 0};
  lua_State *co = s->tasks[task].L;
  int count = 0;
  s->tasks[task].phase = CML_PHASE_RUNNING;
  s->tasks[task].awaits = 0;
  int status = resume(s, task, co, arguments, synchronous, &count);
  if (LIKELY(status == LUA_OK)) return (struct cml_result){CML_RETURNED, task, count};
  return classify(s, task, co, status, count);
}

void cml_task_drop_yielded(cml_state *s, int task) {
  struct cml_task *t = &s->tasks[task];
  lua_settop(t->L, -t->yielded - 1);
  t->yielded = 0;
}

struct cml_result cml_run_raising(cml_state *s, int task) {
  s->raises = true;
  struct cml_result result = cml_run(s, task, 1, false);
  s->raises = false;
  return result;
}

static int reset(lua_State *co, lua_State *from) {
#if LUA_VERSION_RELEASE_NUM >= 50406
  return lua_closethread(co, from);  // door: the door
#else
  (void)from;
  return lua_resetthread(co);  // door: the door
#endif
}

struct cml_result cml_task_close(cml_state *s, int task) {
  lua_State *co = s->tasks[task].L;
  bool failed = s->tasks[task].phase == CML_PHASE_ENDED;
  const void *before = failed ? lua_topointer(co, -1) : NULL;
  struct frame f;
  enter(s, &f, task, co, true);
  cml_allow_hooks(s, co);  // an error in a hook leaves them off, and `<close>` must be bounded too
  int status = reset(co, f.running);  // door: the door
  leave(s, &f, co, status);
  lua_sethook(co, NULL, 0, 0);
  s->tasks[task].phase = CML_PHASE_RUNNING;
  s->tasks[task].yielded = 0;
  // A failed coroutine reports its first error again, unless closing raised another.
  if (status == LUA_OK || status == LUA_ERRMEM ||
      (failed && lua_topointer(co, -1) == before))
    return (struct cml_result){CML_RETURNED, task, 0};
  return classify(s, task, co, status, 1);
}

void cml_task_give_back(cml_state *s, int task) {
  lua_State *co = s->tasks[task].L;
  lua_settop(co, 0);
  // Unless hooks can be allowed again, a coroutine that a hook killed is useless.
  if (s->pooled >= POOL_BOUND || !cml_allow_hooks(s, co)) discard(s, task);
  give_back(s, task);
}

void cml_task_abandon(cml_state *s, int task) {
  s->tasks[task].yielded = 0;
  discard(s, task);
  give_back(s, task);
}

// Handlers ----------------------------------------------------------------------------------------

static inline lua_State *begin(struct cml_state *s, int ref, int slot, int *task,
                               bool gives_handle) {
  *task = take(s);
  if (UNLIKELY(*task < 0)) *task = cml_task_take(s);
  lua_State *co = s->tasks[*task].L;
  lua_rawgeti(co, LUA_REGISTRYINDEX, ref);
  lua_getiuservalue(co, 1, slot);
  if (gives_handle) lua_pushvalue(co, 1);
  return co;
}

static inline struct cml_result finish(struct cml_state *s, int task, lua_State *co,
                                       int arguments) {
  int count = 0;
  int status = resume(s, task, co, arguments, false, &count);
  if (LIKELY(status == LUA_OK)) {
    if (count > 0) lua_settop(co, 0);  // the handler's results; nothing else is left
    give_back(s, task);
    return (struct cml_result){CML_RETURNED, -1, 0};
  }
  return classify(s, task, co, status, count);
}

static struct cml_result refused(void) { return (struct cml_result){CML_NESTED, -1, 0}; }

struct cml_result cml_dispatch(cml_state *s, int ref, int slot) {
  if (UNLIKELY(s->depth >= s->depth_limit)) return refused();
  int task;
  lua_State *co = begin(s, ref, slot, &task, true);
  return finish(s, task, co, 1);
}

struct cml_result cml_dispatch_ref(cml_state *s, int ref, int slot, int argument) {
  if (UNLIKELY(s->depth >= s->depth_limit)) return refused();
  int task;
  lua_State *co = begin(s, ref, slot, &task, true);
  lua_rawgeti(co, LUA_REGISTRYINDEX, argument);
  return finish(s, task, co, 2);
}

struct cml_result cml_dispatch_held(cml_state *s, int ref, long long argument) {
  if (UNLIKELY(s->depth >= s->depth_limit)) return refused();
  int task = take(s);
  if (UNLIKELY(task < 0)) task = cml_task_take(s);
  lua_State *co = s->tasks[task].L;
  lua_rawgeti(co, LUA_REGISTRYINDEX, ref + 1);
  lua_rawgeti(co, LUA_REGISTRYINDEX, ref);
  lua_pushinteger(co, argument);
  return finish(s, task, co, 2);
}

int cml_dispatch_begin(cml_state *s, int ref, int slot, bool gives_handle) {
  int task;
  begin(s, ref, slot, &task, gives_handle);
  return task;
}

// Budget ------------------------------------------------------------------------------------------

int cml_stop_reason(cml_state *s) { return s->stopped; }

uint64_t cml_budget_suspend(cml_state *s) {
  uint64_t token = atomic_load_explicit(&s->dispatch, memory_order_relaxed);
  atomic_store_explicit(&s->dispatch, 0, memory_order_relaxed);
  return token;
}

void cml_budget_resume(cml_state *s, uint64_t token) {
  atomic_store_explicit(&s->dispatch, token, memory_order_relaxed);
  if (UNLIKELY(atomic_load_explicit(&s->parked, memory_order_relaxed))) cml_unpark(s);
}

static int to_string(lua_State *L) {
  luaL_tolstring(L, 1, NULL);
  return 1;
}

bool cml_has_metafield(lua_State *L, int i, const char *name) {
  if (luaL_getmetafield(L, i, name) == LUA_TNIL) return false;
  lua_pop(L, 1);
  return true;
}

void cml_push_tostring(lua_State *L) { lua_pushcclosure(L, to_string, 0); }

int32_t cml_thread_id(void) {
  static _Thread_local int32_t id;
  if (UNLIKELY(id == 0)) id = (int32_t)syscall(SYS_gettid);
  return id;
}

// `pcall` as in stock Lua, except that it passes on a stop at once. The hook alone is not enough:
// in a finalizer, stock pcall turns hooks off again each time it catches.
static int after_pcall(lua_State *L, int status, lua_KContext extra) {
  if (LIKELY(status == LUA_OK || status == LUA_YIELD)) return lua_gettop(L) - (int)extra;
  cml_poll(L);
  lua_pushboolean(L, 0);
  lua_pushvalue(L, -2);
  return 2;
}

static int protected_call(lua_State *L) {
  luaL_checkany(L, 1);
  lua_pushboolean(L, 1);
  lua_insert(L, 1);
  int status = lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, 0, after_pcall);  // door: script's
  return after_pcall(L, status, 0);
}

void cml_install_pcall(lua_State *L) { lua_register(L, "pcall", protected_call); }
