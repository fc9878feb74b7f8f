// The floor: the least a loop that calls Lua handlers can cost. A host program for Lua scripts; its
// module `floor` is epoll, an eventfd, a heap of timers, a ring for what is due at once, and
// lua_pcallk with the message handler at a fixed stack slot. No modes, no observers, no error
// recovery.
#define _GNU_SOURCE
#include <errno.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "crossings.h"
#include "timers.h"

// One loop per process, so that no function has to find it: a real one pays for that.
static struct {
  struct timers timers;
  uint64_t now;  // Read once after each wait.
  int epoll;
  uint32_t descriptors;
  uint32_t *pending, *performing;  // Signalled sources, and those of the pass that runs.
  uint32_t pending_count, pending_capacity, performing_capacity;
  unsigned poll_every;  // Busy passes per question to the kernel (FLOOR_POLL, default 1).
  bool stopped;
} loop;

// Upvalues of the module's functions, and the first stack slots of the frame that runs the loop.
enum { UP_HANDLERS = 1, UP_OBJECTS, UP_METATABLE, UP_COUNT = UP_METATABLE };
enum { AT_MESSAGE_HANDLER = 1, AT_HANDLERS, AT_OBJECTS };

static uint64_t clock_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int message_handler(lua_State *L) {
  luaL_traceback(L, L, lua_tostring(L, 1), 1);
  return 1;
}

// ---- dispatch ----

static void report(lua_State *L) {
  fprintf(stderr, "floor: %s\n", lua_tostring(L, -1));
  exit(1);
}

static void call_handler(lua_State *L, uint32_t slot, bool is_object) {
  lua_rawgeti(L, AT_HANDLERS, slot);
  if (is_object) lua_rawgeti(L, AT_OBJECTS, slot);
  if (lua_pcallk(L, is_object, 0, AT_MESSAGE_HANDLER, 0, NULL) != LUA_OK) report(L);
}

static void release(lua_State *L, uint32_t slot, int handlers, int objects) {
  if (loop.timers.slots[slot].is_object) {
    lua_pushnil(L);
    lua_rawseti(L, objects, slot);
  }
  lua_pushnil(L);
  lua_rawseti(L, handlers, slot);
  slot_free(&loop.timers, slot);
}

static void resume_task(lua_State *L, uint32_t slot) {
  lua_rawgeti(L, AT_HANDLERS, slot);
  lua_State *task = lua_tothread(L, -1);
  lua_pop(L, 1);  // The handler table keeps it.
  int results, status = lua_resume(task, L, lua_status(task) == LUA_OK ? 1 : 0, &results);
  if (status == LUA_OK) release(L, slot, AT_HANDLERS, AT_OBJECTS);
  else if (status != LUA_YIELD) {
    lua_xmove(task, L, 1);
    report(L);
  }
}

static void fire_timer(lua_State *L, uint32_t slot) {
  struct slot *s = &loop.timers.slots[slot];
  if (s->kind == KIND_TASK) return resume_task(L, slot);
  uint32_t generation = s->generation;
  call_handler(L, slot, s->is_object);
  s = &loop.timers.slots[slot];  // The handler may have made the table of slots grow.
  if (s->place == PLACE_IDLE && s->generation == generation)
    release(L, slot, AT_HANDLERS, AT_OBJECTS);
}

static void run_ring(lua_State *L) {
  struct timers *t = &loop.timers;
  for (uint32_t end = t->ring_tail; t->ring_head != end;) {
    struct ring_entry e = t->ring[t->ring_head++ & (t->ring_capacity - 1)];
    struct slot *s = &t->slots[e.slot];
    if (s->place != PLACE_RING || s->ticket != e.ticket) continue;
    s->place = PLACE_IDLE;
    fire_timer(L, e.slot);
  }
}

static void run_sources(lua_State *L) {
  uint32_t count = loop.pending_count, *list = loop.pending;
  if (!count) return;
  loop.pending = loop.performing;
  loop.performing = list;
  uint32_t capacity = loop.pending_capacity;
  loop.pending_capacity = loop.performing_capacity;
  loop.performing_capacity = capacity;
  loop.pending_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    struct slot *s = &loop.timers.slots[list[i]];
    s->is_pending = false;
    call_handler(L, list[i], s->is_object);
  }
}

static void run_due(lua_State *L) {
  for (uint32_t slot; (slot = timer_next_fire(&loop.timers, loop.now)) != SLOT_NONE;)
    fire_timer(L, slot);
}

// Waits until `deadline` (0: not at all) and serves the descriptors that are ready.
static void poll_kernel(lua_State *L, uint64_t deadline) {
  static struct epoll_event events[1024];
  int count;
  if (deadline == 0 || deadline == UINT64_MAX) {
    count = epoll_wait(loop.epoll, events, 1024, deadline ? -1 : 0);
  } else {
    uint64_t left = deadline > loop.now ? deadline - loop.now : 0;
    struct timespec timeout = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    count = epoll_pwait2(loop.epoll, events, 1024, &timeout, NULL);
  }
  loop.now = clock_now();
  for (int i = 0; i < count; i++) {
    uint32_t slot = (uint32_t)events[i].data.u64;
    if (!slot) continue;  // The eventfd, edge-triggered: there is nothing to read.
    struct slot *s = &loop.timers.slots[slot];
    if (s->generation == events[i].data.u64 >> 32) call_handler(L, slot, s->is_object);
  }
}

static int floor_run(lua_State *L) {
  lua_settop(L, 0);
  lua_pushcfunction(L, message_handler);
  lua_pushvalue(L, lua_upvalueindex(UP_HANDLERS));
  lua_pushvalue(L, lua_upvalueindex(UP_OBJECTS));
  loop.stopped = false;
  struct timers *t = &loop.timers;
  for (unsigned busy = 0; !loop.stopped;) {
    run_ring(L);
    run_due(L);
    run_sources(L);
    if (loop.stopped) break;
    if (t->ring_head != t->ring_tail || loop.pending_count) {
      if (++busy % loop.poll_every == 0) poll_kernel(L, 0);
      continue;
    }
    uint64_t deadline = timer_first_date(t);
    if (deadline == UINT64_MAX && !loop.descriptors) break;
    poll_kernel(L, deadline);
  }
  return 0;
}

static int floor_stop(lua_State *L) {
  (void)L;
  loop.stopped = true;
  return 0;
}

// ---- what scripts make ----

static uint64_t check_delay(lua_State *L, int index) {
  return (uint64_t)(luaL_checknumber(L, index) * 1e9);
}

// Takes a slot for the handler at `index` of the stack.
static uint32_t new_slot(lua_State *L, enum kind kind, int index) {
  uint32_t slot = slot_take(&loop.timers, kind);
  lua_pushvalue(L, index);
  lua_rawseti(L, lua_upvalueindex(UP_HANDLERS), slot);
  return slot;
}

static int push_handle(lua_State *L, uint32_t slot) {
  lua_pushinteger(L, (lua_Integer)loop.timers.slots[slot].generation << 32 | slot);
  return 1;
}

static uint32_t check_handle(lua_State *L) {
  lua_Integer handle = luaL_checkinteger(L, 1);
  uint32_t slot = (uint32_t)handle;
  bool is_live = slot && slot <= loop.timers.slot_count
                 && loop.timers.slots[slot].generation == handle >> 32;
  return is_live ? slot : SLOT_NONE;
}

// after(delay, handler): a one-shot timer, as an integer handle.
static int floor_after(lua_State *L) {
  uint64_t delay = check_delay(L, 1);
  uint32_t slot = new_slot(L, KIND_TIMER, 2);
  timer_schedule(&loop.timers, slot, loop.now + delay, loop.now);
  return push_handle(L, slot);
}

// every(interval, handler): a repeating timer on a fixed grid.
static int floor_every(lua_State *L) {
  uint64_t every = check_delay(L, 1);
  uint32_t slot = new_slot(L, KIND_TIMER, 2);
  loop.timers.slots[slot].every_us = (uint32_t)(every / 1000);
  timer_schedule(&loop.timers, slot, loop.now + every, loop.now);
  return push_handle(L, slot);
}

// again(handle, delay): moves the next fire.
static int floor_again(lua_State *L) {
  uint32_t slot = check_handle(L);
  if (slot != SLOT_NONE)
    timer_rearm(&loop.timers, slot, loop.now + check_delay(L, 2), loop.now);
  return 0;
}

static int floor_cancel(lua_State *L) {
  uint32_t slot = check_handle(L);
  if (slot == SLOT_NONE) return 0;
  timer_unschedule(&loop.timers, slot);
  release(L, slot, lua_upvalueindex(UP_HANDLERS), lua_upvalueindex(UP_OBJECTS));
  return 0;
}

static int floor_source(lua_State *L) { return push_handle(L, new_slot(L, KIND_SOURCE, 1)); }

static void signal_slot(uint32_t slot) {
  struct slot *s = &loop.timers.slots[slot];
  if (s->is_pending) return;
  s->is_pending = true;
  if (loop.pending_count == loop.pending_capacity) {
    loop.pending_capacity = loop.pending_capacity ? loop.pending_capacity * 2 : 64;
    loop.pending = realloc(loop.pending, loop.pending_capacity * sizeof *loop.pending);
    if (!loop.pending) abort();
  }
  loop.pending[loop.pending_count++] = slot;
}

static int floor_signal(lua_State *L) {
  uint32_t slot = check_handle(L);
  if (slot != SLOT_NONE) signal_slot(slot);
  return 0;
}

// readable(fd, handler): calls the handler as long as the descriptor has something to read.
static int floor_readable(lua_State *L) {
  int fd = (int)luaL_checkinteger(L, 1);
  uint32_t slot = new_slot(L, KIND_DESCRIPTOR, 2);
  uint64_t name = (uint64_t)loop.timers.slots[slot].generation << 32 | slot;
  struct epoll_event event = {.events = EPOLLIN, .data.u64 = name};
  if (epoll_ctl(loop.epoll, EPOLL_CTL_ADD, fd, &event))
    return luaL_error(L, "epoll_ctl: %s", strerror(errno));
  loop.descriptors++;
  return push_handle(L, slot);
}

// task(f): starts a coroutine in the next pass; its extra space knows its slot.
static int floor_task(lua_State *L) {
  lua_State *task = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_pushinteger(L, 0);
  lua_xmove(L, task, 2);
  uint32_t slot = new_slot(L, KIND_TASK, 2);
  *(uint32_t *)lua_getextraspace(task) = slot;
  timer_schedule(&loop.timers, slot, loop.now, loop.now);
  return 0;
}

static int floor_sleep(lua_State *L) {
  uint32_t slot = *(uint32_t *)lua_getextraspace(L);
  timer_schedule(&loop.timers, slot, loop.now + check_delay(L, 1), loop.now);
  return lua_yieldk(L, 0, 0, NULL);
}

// ---- the floor with objects: a userdata for each handle ----

struct object { uint32_t slot, generation; };

static int push_object(lua_State *L, uint32_t slot) {
  struct object *o = lua_newuserdatauv(L, sizeof *o, 0);
  *o = (struct object){slot, loop.timers.slots[slot].generation};
  loop.timers.slots[slot].is_object = true;
  lua_pushvalue(L, lua_upvalueindex(UP_METATABLE));
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_rawseti(L, lua_upvalueindex(UP_OBJECTS), slot);
  return 1;
}

// The object's slot by the identity of its metatable: cheaper than a registry look-up by name.
static uint32_t check_object(lua_State *L) {
  struct object *o = lua_touserdata(L, 1);
  if (!o || !lua_getmetatable(L, 1)) luaL_typeerror(L, 1, "floor object");
  if (!lua_rawequal(L, -1, lua_upvalueindex(UP_METATABLE))) luaL_typeerror(L, 1, "floor object");
  lua_pop(L, 1);
  return loop.timers.slots[o->slot].generation == o->generation ? o->slot : SLOT_NONE;
}

static int objects_after(lua_State *L) {
  uint64_t delay = check_delay(L, 1);
  uint32_t slot = new_slot(L, KIND_TIMER, 2);
  timer_schedule(&loop.timers, slot, loop.now + delay, loop.now);
  return push_object(L, slot);
}

static int objects_source(lua_State *L) { return push_object(L, new_slot(L, KIND_SOURCE, 1)); }

static int object_again(lua_State *L) {
  uint32_t slot = check_object(L);
  if (slot != SLOT_NONE)
    timer_rearm(&loop.timers, slot, loop.now + check_delay(L, 2), loop.now);
  return 0;
}

static int object_cancel(lua_State *L) {
  uint32_t slot = check_object(L);
  if (slot == SLOT_NONE) return 0;
  timer_unschedule(&loop.timers, slot);
  release(L, slot, lua_upvalueindex(UP_HANDLERS), lua_upvalueindex(UP_OBJECTS));
  return 0;
}

static int object_signal(lua_State *L) {
  uint32_t slot = check_object(L);
  if (slot != SLOT_NONE) signal_slot(slot);
  return 0;
}

static int object_is_valid(lua_State *L) {
  lua_pushboolean(L, check_object(L) != SLOT_NONE);
  return 1;
}

// ---- calls into the host, for W11 ----

static int floor_nothing(lua_State *L) {
  (void)L;
  return 0;
}

static int floor_now(lua_State *L) {
  lua_pushnumber(L, (lua_Number)loop.now * 1e-9);
  return 1;
}

static int floor_add(lua_State *L) {
  lua_pushinteger(L, luaL_checkinteger(L, 1) + luaL_checkinteger(L, 2));
  return 1;
}

// ---- module and program ----

static const luaL_Reg functions[] = {
  {"run", floor_run}, {"stop", floor_stop}, {"after", floor_after}, {"every", floor_every},
  {"again", floor_again}, {"cancel", floor_cancel}, {"source", floor_source},
  {"signal", floor_signal}, {"readable", floor_readable}, {"task", floor_task},
  {"sleep", floor_sleep}, {"object_after", objects_after}, {"object_source", objects_source},
  {"nothing", floor_nothing}, {"now", floor_now}, {"add", floor_add}, {NULL, NULL}};

static const luaL_Reg methods[] = {
  {"again", object_again}, {"cancel", object_cancel}, {"signal", object_signal},
  {"is_valid", object_is_valid}, {NULL, NULL}};

static int open_floor(lua_State *L) {
  lua_settop(L, 0);
  lua_newtable(L);  // handlers
  lua_newtable(L);  // objects
  lua_newtable(L);  // metatable
  lua_newtable(L);
  for (int i = 1; i <= UP_COUNT; i++) lua_pushvalue(L, i);
  luaL_setfuncs(L, methods, UP_COUNT);
  lua_setfield(L, UP_METATABLE, "__index");
  lua_newtable(L);
  for (int i = 1; i <= UP_COUNT; i++) lua_pushvalue(L, i);
  luaL_setfuncs(L, functions, UP_COUNT);
  open_crossings(L);
  return 1;
}

static unsigned number_from_environment(const char *name, unsigned otherwise) {
  const char *text = getenv(name);
  return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static void open_loop(void) {
  timers_init(&loop.timers);
  loop.epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = 0};
  epoll_ctl(loop.epoll, EPOLL_CTL_ADD, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), &event);
  loop.now = clock_now();
  loop.poll_every = number_from_environment("FLOOR_POLL", 1);
  prctl(PR_SET_TIMERSLACK, number_from_environment("FLOOR_SLACK", 50000), 0, 0, 0);
}

// lua_pcallk'ed, because opening libraries and reading a script can raise.
static int run_script(lua_State *L) {
  char **argv = lua_touserdata(L, 1);
  lua_settop(L, 0);
  luaL_openlibs(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, open_floor);
  lua_setfield(L, -2, "floor");
  lua_newtable(L);
  for (int i = 1; argv[i]; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i - 1);
  }
  lua_setglobal(L, "arg");
  lua_settop(L, 0);
  if (luaL_loadfile(L, argv[1]) != LUA_OK) lua_error(L);
  lua_call(L, 0, 0);
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 2) return fprintf(stderr, "usage: floor SCRIPT [ARGS]\n"), 2;
  lua_State *L = luaL_newstate();
  open_loop();
  lua_pushcfunction(L, message_handler);
  lua_pushcfunction(L, run_script);
  lua_pushlightuserdata(L, argv);
  if (lua_pcall(L, 1, 0, 1) != LUA_OK) report(L);
  lua_close(L);
  return 0;
}
