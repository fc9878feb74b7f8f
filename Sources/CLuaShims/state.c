// The life of a state: opens it with our allocator, libraries and collector; applies stops.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cml_internal.h"

// "Hooks are allowed" is a byte of Lua's own thread record: Lua clears it while a hook or a
// finalizer runs, and leaves it cleared in a coroutine killed by a hook's error. A stop must reach
// those too, so we set it. Its place is the same in all releases of 5.4 (a pointer, two bytes of
// header, the status, then this); `probe` checks it in the actual library before any use.
enum { ALLOW_HOOK_OFFSET = sizeof(void *) + 3 };

static volatile unsigned char *allow_hook(lua_State *L) {
  return (volatile unsigned char *)L + ALLOW_HOOK_OFFSET;
}

struct probe { unsigned char inside[ALLOW_HOOK_OFFSET + 1]; bool ran; };

static void probe_hook(lua_State *L, lua_Debug *ar) {
  (void)ar;
  struct probe *p = cml_of(L)->host;
  if (p->ran) return;
  memcpy(p->inside, (void *)L, sizeof p->inside);
  p->ran = true;
}

// True if this byte is the first that is 1 outside and 0 inside a hook.
static bool probe(lua_State *L) {
  struct cml_state *s = cml_of(L);
  unsigned char outside[ALLOW_HOOK_OFFSET + 1];
  struct probe p = {.ran = false};
  memcpy(outside, (void *)L, sizeof outside);
  void *host = s->host;
  s->host = &p;
  lua_sethook(L, probe_hook, LUA_MASKCOUNT, 1);
  bool loaded = luaL_loadbufferx(L, "local x = 1 x = x + 1", 21, "=probe", "t") == LUA_OK;
  if (loaded) lua_call(L, 0, 0);  // door: set-up, below cml_open's protected call
  lua_sethook(L, NULL, 0, 0);
  s->host = host;
  return loaded && p.ran && outside[ALLOW_HOOK_OFFSET] == 1 && p.inside[ALLOW_HOOK_OFFSET] == 0 &&
         memcmp(outside, p.inside, ALLOW_HOOK_OFFSET) == 0;
}

CML_UNCHECKED bool cml_allow_hooks(struct cml_state *s, lua_State *L) {
  if (s->can_allow_hooks) *allow_hook(L) = 1;
  return s->can_allow_hooks;
}

// Our own modules are not interrupted during their bookkeeping.
static bool is_scripts(lua_State *L, lua_Debug *ar) {
  lua_getinfo(L, "S", ar);
  return strncmp(ar->source, "@moonloop/", 10) != 0 && strcmp(ar->source, "=moonloop") != 0;
}

// Returns true if the host must be called again, at another instruction.
static bool visit(struct cml_state *s, lua_State *L, lua_Debug *ar) {
  bool is_over = s->visited != atomic_load_explicit(&s->dispatch, memory_order_relaxed);
  if (!is_over && !is_scripts(L, ar)) return true;
  s->visited = 0;
  if (is_over || s->on_visit == NULL) return false;
  // Lua counts nested C calls from the resuming coroutine: the main one has none, so the host is
  // not refused where the script is at its limit. The C stack is not nearly used up there, since
  // 200 calls take little of it.
  lua_State *running = s->running;
  s->running = s->main;
  bool stops = s->on_visit(s->on_visit_context, L);
  cml_disarm(s, s->main);  // of a stop that came meanwhile; continues below
  s->running = running;
  if (stops && s->stop == CML_STOP_NONE) s->stop = CML_STOP_INTERRUPT;
  return false;
}

static void stop_hook(lua_State *L, lua_Debug *ar) {
  struct cml_state *s = cml_of(L);
  if (s->stop != CML_STOP_NONE) cml_stopped(L);
  bool is_kept = s->visited != 0 && visit(s, L, ar);
  if (s->stop != CML_STOP_NONE) cml_stopped(L);
  if (!is_kept) cml_disarm(s, L);
}

// Keeps a coroutine's hook, or drops one that was kept for another at the same address.
CML_UNCHECKED static void keep_hook(struct cml_state *s, struct cml_hook hook) {
  int place = -1;
  for (int i = 0; i < CML_DISPLACED_HOOKS; i++)
    if (s->displaced[i].L == hook.L) place = i;
  if (place < 0 && hook.hook == NULL) return;
  if (place < 0) {
    place = s->displaced_next;
    s->displaced_next = (place + 1) % CML_DISPLACED_HOOKS;
  }
  s->displaced[place] = hook;
}

CML_UNCHECKED static void set_stop_hook(struct cml_state *s, lua_State *L) {
  lua_Hook hook = lua_gethook(L);
  if (hook == stop_hook) return;
  keep_hook(s, (struct cml_hook){L, hook, lua_gethookmask(L), lua_gethookcount(L)});
  lua_sethook(L, stop_hook, LUA_MASKCOUNT, 1);
}

CML_UNCHECKED void cml_arm(struct cml_state *s, lua_State *L) {
  set_stop_hook(s, L);
  cml_allow_hooks(s, L);
}

CML_UNCHECKED void cml_arm_visit(struct cml_state *s, uint64_t number) {
  if (s->on_visit == NULL) return;
  s->visited = number;
  set_stop_hook(s, s->running);
}

void cml_on_visit(cml_state *s, bool (*visit)(void *context, lua_State *L), void *context) {
  s->on_visit = visit;
  s->on_visit_context = context;
}

void cml_disarm(struct cml_state *s, lua_State *L) {
  if (lua_gethook(L) != stop_hook) return;
  struct cml_hook hook = {L, NULL, 0, 0};
  for (int i = 0; i < CML_DISPLACED_HOOKS; i++) {
    if (s->displaced[i].L != L) continue;
    hook = s->displaced[i];
    s->displaced[i].L = NULL;
  }
  lua_sethook(L, hook.hook, hook.mask, hook.count);
}

// Instructions are counted in pieces of PIECE, PIECE + 1, ..., and a last one, larger than these,
// that ends at the limit: so the size of a piece, which Lua keeps for each coroutine, says which
// one it is, and the count that is kept is at most a piece behind.
enum { PIECE = 250 };

static void plan_pieces(struct cml_state *s) {
  int rest = s->instructions, size = PIECE;
  for (; rest > 2 * size; size++) rest -= size;
  s->last_but_one = size - 1;
  s->last_piece = rest;
}

static void count_hook(lua_State *L, lua_Debug *ar) {
  (void)ar;
  struct cml_state *s = cml_of(L);
  int piece = lua_gethookcount(L);
  s->counted += (uint64_t)piece;
  if (piece < s->last_piece) {
    int next = piece < s->last_but_one ? piece + 1 : s->last_piece;
    lua_sethook(L, count_hook, LUA_MASKCOUNT, next);
    return;
  }
  if (s->stop == CML_STOP_NONE) s->stop = CML_STOP_COUNT;
  cml_arm(s, L);
}

// Like debug.sethook calls its function, which looks at the level above its own.
static void line_hook(lua_State *L, lua_Debug *ar) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, cml_of(L)->follower);
  lua_pushliteral(L, "line");
  lua_pushinteger(L, ar->currentline);
  lua_call(L, 2, 0);  // door: below it, as the line that runs
}

// Coroutines that the script makes meanwhile get the hook, each with its own count.
void cml_count(struct cml_state *s, lua_State *L) {
  if (lua_gethook(L) == stop_hook) return;
  if (s->instructions == CML_FOLLOWED)
    lua_sethook(L, line_hook, LUA_MASKLINE, 0);
  else
    lua_sethook(L, count_hook, LUA_MASKCOUNT, s->last_but_one < PIECE ? s->last_piece : PIECE);
}

void cml_count_alone(struct cml_state *s, lua_State *co) {
  if (UNLIKELY(lua_gethook(co) == count_hook)) cml_count(s, co);
}

uint64_t cml_instructions(cml_state *s) { return s->counted; }

void cml_follow_lines(cml_state *s, int ref) {
  s->follower = ref;
  s->instructions = CML_FOLLOWED;
}

void cml_set_limits(cml_state *s, const struct cml_limits *limits, int instructions) {
  cml_set_memory_limit(s, limits->memory);
  s->depth_limit = limits->nesting < 1 ? 1 : limits->nesting;
  s->instructions = instructions;
  plan_pieces(s);
}

_Noreturn void cml_raise_stop(lua_State *L) {
  cml_of(L)->collected = true;  // what is raised would be caught if it were taken back now
  // Not below our hook: hooks stay off there, so that the guard of a message handler can run.
  if (lua_gethook(L) != stop_hook) cml_arm(cml_of(L), L);
  lua_pushlightuserdata(L, (void *)cml_of(L));
  lua_error(L);
  __builtin_unreachable();
}

// Perhaps what passed the limit of memory is all garbage. Tried once in a call-out, and it must
// free some room, or a script at its limit would collect all the time.
static bool is_garbage(lua_State *L, struct cml_state *s) {
  if (s->stop != CML_STOP_MEMORY || s->collected || s->refused != 0) return false;
  s->collected = true;
  lua_gc(L, LUA_GCCOLLECT);
  if (s->stop != CML_STOP_MEMORY || cml_in_use(s) > s->limit - s->limit / 16) return false;
  s->stop = CML_STOP_NONE;
  s->collected = false;
  return true;
}

// Who gives up because of it gives back what was charged, and must not be the reason to go on.
bool cml_must_stop(cml_state *s) {
  return s->stop != CML_STOP_NONE && !is_garbage(s->running, s);
}

void cml_stopped(lua_State *L) {
  if (!is_garbage(L, cml_of(L))) cml_raise_stop(L);
}

static int panic(lua_State *L) {
  const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "no memory";
  fprintf(stderr, "moonloop: Lua failed outside of any protected call: %s\n", text);
  return 0;  // Lua aborts
}

// Makes liblua set up what it would make at the first large string. If memory ran out during that,
// no large string could ever be made in this state.
static void make_buffer_box(lua_State *L) {
  luaL_Buffer buffer;
  luaL_buffinitsize(L, &buffer, LUAL_BUFFERSIZE + 1);
  luaL_pushresultsize(&buffer, 0);
  lua_pop(L, 1);
}

static int set_up(lua_State *L) {
  struct cml_state *s = cml_of(L);
  lua_gc(L, LUA_GCSTOP);
  luaL_openlibs(L);
  make_buffer_box(L);
  cml_where_set_up(L);
  cml_install_string(L);
  cml_install_table(L);
  cml_install_coroutine(L);
  cml_install_load(L);
  cml_install_pcall(L);
  cml_install_warn(L);
  cml_install_print(L);
  cml_install_named(L);
  cml_function_set_up(L);
  cml_userdata_set_up(L);
  s->can_allow_hooks = probe(L);
  lua_gc(L, LUA_GCINC, 0, 0, 0);
  lua_gc(L, LUA_GCRESTART);
  return 0;
}

cml_state *cml_open(const struct cml_limits *limits) {
  struct cml_state *s = calloc(1, sizeof *s);
  if (s == NULL) return NULL;
  s->held = calloc(1, sizeof *s->held);
  if (s->held == NULL) {
    free(s);
    return NULL;
  }
  cml_set_memory_limit(s, 0);
  s->depth_limit = limits->nesting < 1 ? 1 : limits->nesting;
  s->task = -1;
  s->tasks_free = -1;
  s->tid = cml_thread_id();
  lua_State *L = cml_new_state(s);
  if (L == NULL) {
    cml_arena_free(s->arena);
    free(s->held);
    free(s);
    return NULL;
  }
  *(struct cml_state **)lua_getextraspace(L) = s;
  s->main = s->running = L;
  cml_watchdog_opened(s);
  lua_atpanic(L, panic);
  lua_pushcfunction(L, set_up);
  if (cml_protected_set_up(L) != LUA_OK) {
    cml_close(s);
    free(s->held);
    cml_free(s);
    return NULL;
  }
  cml_set_memory_limit(s, limits->memory);
  return s;
}

// The allocator of a state that is being closed. The main coroutine goes last, after all
// finalizers; from then on no stop may reach it.
static void *allocate_closing(void *ud, void *block, size_t old_size, size_t new_size) {
  struct cml_state *s = ud;
  uintptr_t offset = (uintptr_t)s->main - (uintptr_t)block;
  if (new_size == 0 && block != NULL && offset < old_size) {
    atomic_store(&s->dispatch, 0);
    s->running = NULL;
    cml_watchdog_stop(s);
  }
  void *result = cml_allocate(ud, block, old_size, new_size);
  // Each finalizer starts with hooks off, so one stop is not enough for all of them.
  if (new_size > old_size && s->stop != CML_STOP_NONE && s->running != NULL) cml_arm(s, s->main);
  return result;
}

// Finalizers run as one call-out under its limits; those left when it is stopped are stopped one by
// one.
void cml_close(cml_state *s) {
  struct cml_work work;
  cml_begin_work(s, s->main, &work);
  s->depth++;
  lua_setallocf(s->main, allocate_closing, s);
  s->is_ending = true;
  lua_close(s->main);  // door: finalizers, charged as a call-out
  s->depth--;
  if (s->stop != CML_STOP_NONE) {
    s->stopped = (uint8_t)s->stop;
    cml_note_swallowed_stop(s);
  }
  cml_watchdog_closed(s);
}

void cml_free(cml_state *s) {
  cml_tell_finalizer_errors(s);
  cml_warnings_close(s);
  cml_userdata_close(s);
  free(s->known);
  free(s->tasks);
  free(s->names);
  free(s->refs.free);
  free(s->pairs.free);
  cml_arena_free(s->arena);
  free(s);
}

lua_State *cml_running(cml_state *s) { return s->running; }
cml_state *cml_state_of(lua_State *L) { return cml_of(L); }
void cml_set_host(cml_state *s, void *host) { s->host = host; }
void cml_set_owner(cml_state *s, void *owner) { s->owner = owner; }
void *cml_owner(cml_state *s) { return s->owner; }
int cml_depth(cml_state *s) { return s->depth; }

bool cml_is_busy(cml_state *s) {
  return s->depth > 0 || s->telling ||
         atomic_load_explicit(&s->dispatch, memory_order_relaxed) != 0;
}

uint64_t cml_callouts(cml_state *s) { return s->dispatches - s->works; }
bool cml_is_synchronous(cml_state *s) { return s->synchronous; }
void cml_set_text_only(cml_state *s) { s->text_only = true; }
const char *cml_lua_version_text(void) { return LUA_RELEASE; }

const char *cml_lua_library(void) {
  static const char here;
  Dl_info lua, own;
  if (!dladdr((void *)lua_newstate, &lua) || !dladdr(&here, &own)) return NULL;
  return lua.dli_fbase == own.dli_fbase ? NULL : lua.dli_fname;
}

double cml_number(lua_State *L, int i, bool *ok) {
  *ok = lua_type(L, i) == LUA_TNUMBER;
  return *ok ? lua_tonumberx(L, i, NULL) : 0;
}
