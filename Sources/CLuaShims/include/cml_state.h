// The record of each Lua state, found through the state's extra space, which every coroutine
// inherits. Its stop flag is how a limit or an interrupt ends a script: once set, every polling
// function, and the hook, raises until control is back in the host.
#pragma once
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "CLuaShims.h"
#include "cml_lua.h"

enum cml_stop {
  CML_STOP_NONE = 0,
  CML_STOP_TIME = 1,       // a call-out took longer than its limit
  CML_STOP_MEMORY = 2,     // the script holds more memory than its limit
  CML_STOP_COUNT = 4,      // a call-out took more instructions than its limit
  CML_STOP_INTERRUPT = 3,  // SIGINT, or the host asked for it
};

// A coroutine owned by the host. Kept in the registry, so it is never collected.
struct cml_task {
  lua_State *L;
  const void *host;     // the host's part of it, only for a prefetch
  int ref;              // in the registry
  uint32_t generation;  // counts uses, so that a stale token is recognised
  union {
    int next_free;      // while free: the index of the next in the free list; -1 ends it
    int yielded;        // while it is suspended: values it yielded, still on its stack
  };
  uint8_t phase;        // enum cml_phase
  uint8_t awaits;       // suspended by a host function, and not by a C module's lua_yield
};

enum cml_phase {
  CML_PHASE_FREE,
  CML_PHASE_RUNNING,
  CML_PHASE_SUSPENDED,
  CML_PHASE_ENDED,
};

struct cml_watchdog;

// A script's own hook that a stop displaced.
struct cml_hook {
  lua_State *L;
  lua_Hook hook;
  int mask, count;
};
enum { CML_DISPLACED_HOOKS = 16 };

// A list of registry references.
struct cml_refs {
  int *free;
  int count, capacity;
};

enum { CML_SOURCE_SLOTS = 64, CML_UNTOLD_MAX = 32 };

struct cml_state {
  // Why the script must stop now, or CML_STOP_NONE. Written by the loop thread and by the signal
  // handler that runs on it.
  volatile sig_atomic_t stop;
  // The coroutine that runs Lua code now, so that a hook can be set on it. Updated by every resume
  // (the host's and the scripts').
  lua_State *volatile running;
  // How many coroutine.close calls are active, and where the C stack was in the outermost; bounded.
  int closing;
  uintptr_t closing_from;
  // The state itself is being closed: Lua finalizes nothing that is made from now on.
  bool is_ending;
  // `load` accepts only text, whatever its mode.
  bool text_only;
  // A number is shown in place of an address (cml_safe.c).
  bool hides_addresses;
  lua_State *main;

  // The account (cml_alloc.c). An allocation is refused only while `guarded`: inside a protected
  // call, and not below a frame of the host, which could not survive the error.
  bool guarded;
  bool collected;           // a full collection cannot take the stop for memory back: it was
                            // tried in this call-out, or the stop was raised
  bool fault_for_good;      // debug builds: every allocation after the chosen one fails too
  size_t used, limit, refuse_above;
  size_t refused;           // the size of the block whose refusal has stopped the script, or 0
  size_t native;            // of the host's objects that handles and timers stand for
  struct cml_held *held;    // outlives the record: charges are given back on any thread
  struct cml_arena *arena;  // for a state that is recorded or replayed; otherwise NULL
  size_t made;              // bytes that the host has made of a script's values (cml_lists.c)
  int makers, made_values;  // how many conversions are at it, each inside another; and the parts
  uint64_t allocations;     // that grew the account: tells whether a collection is worth it
  uint64_t collected_at;    // `allocations` at the last idle collection
  uint64_t fault_countdown; // debug builds: the guarded allocation that fails; 0 is off

  // The door (cml_call.c). Owner thread only, unless said otherwise.
  int depth, depth_limit;
  int instructions;  // how many a call-out may take on a coroutine; 0: no limit; CML_FOLLOWED
  int last_piece, last_but_one;  // the sizes of the pieces in which they are counted, at the end
  uint64_t counted;  // instructions in pieces that are over, of all call-outs
  int follower;      // the reference of the function called for each line, if any
  int task;                 // the index of the task that the innermost door runs, or -1
  bool raises;              // the values of the next resume are one error to raise at the wait
  bool synchronous;         // the innermost door's caller waits for the result: no waiting inside
  uint8_t stopped;          // why the last call-out was stopped
  struct cml_task *tasks;
  int tasks_count, tasks_capacity, tasks_free;
  int pooled;               // free tasks that have a coroutine
  uint64_t dispatches;      // how many call-outs began
  uint64_t works;           // how many of them were the host's own work
  // The call-out that is charged, or 0: read by the watchdog thread.
  _Atomic uint64_t dispatch;
  _Atomic uint64_t late;    // written by the watchdog: the call-out its signal is for
  _Atomic bool interrupted; // an interrupt was requested from outside the owner thread
  // The number of the call-out in which a hook must call the host, once; 0: none. Written by the
  // owner thread and its signal handler.
  volatile uint64_t visited;
  _Atomic bool visit_asked; // from outside the owner thread
  bool (*on_visit)(void *context, lua_State *L);
  void *on_visit_context;
  struct cml_watchdog *watchdog;
  _Atomic uint32_t parked;  // 1 while the watchdog thread sleeps until the next call-out

  // Scripts' own hooks that stops displaced, to be restored when their coroutines run again; the
  // newest replace the oldest. Written by the owner thread and its signal handler.
  struct cml_hook displaced[CML_DISPLACED_HOOKS];
  volatile sig_atomic_t displaced_next;

  // Warnings (cml_warning.c).
  bool warnings_on;          // scripts' warnings are reported, after `warn "@on"`
  const struct cml_program_hooks *program_hooks;  // get the warnings; NULL: written to stderr
  bool warning_goes_on;      // the next piece belongs to the same warning
  bool warning_is_scripts;   // a script's `warn` is running, so this is not an error in a finalizer
  bool telling;              // errors in finalizers are being reported
  uint8_t finalizer_stopped; // why a finalizer was stopped in this call-out
  int untold;                // errors in finalizers not reported to the host yet
  char *warning;             // the pieces so far
  char *told[CML_UNTOLD_MAX];
  void (*on_finalizer_error)(void *context, const char *text, int reason);
  void *on_finalizer_error_context;

  // Guesses: the id of a chunk's name, by the address of its text, plus 1.
  int32_t sources[CML_SOURCE_SLOTS];
  char (*names)[LUA_IDSIZE];  // the short names of chunks, by id
  int names_count, names_capacity;
  // Where things made by our own modules count as made, if its line is not 0.
  struct cml_position maker;

  // Registry references that are free, and pairs of them (cml_ref.c).
  struct cml_refs refs, pairs;

  int tid;                  // the thread that the state belongs to
  // The open states of a thread, for the signal handler, which goes forward.
  struct cml_state *next_of_thread, *previous_of_thread;
  bool can_allow_hooks;     // the private byte is where we expect it (state.c)
  struct cml_known *known;  // strings that the host keeps (cml_text.c); NULL at first
  void *kept;               // the host's objects of them
  struct cml_kinds *kinds;  // all kinds of userdata (cml_userdata.c)
  void *host;               // the embedding object, for raw host functions
  void *owner;              // the binding's object for this state
};

// The bytes that the host holds for the scripts of a state. For other threads also what they have
// otherwise, as of the last growth or collection, and their limit.
struct cml_held {
  _Atomic size_t bytes;
  _Atomic size_t own;
  _Atomic size_t limit;
};

// What counts towards the memory limit: Lua's memory, and what the host holds.
static inline size_t cml_in_use(struct cml_state *s) {
  return s->used + s->native + atomic_load_explicit(&s->held->bytes, memory_order_relaxed);
}

// The record of a state, from any of its coroutines. [-0, +0, -]
static inline struct cml_state *cml_of(lua_State *L) {
  return (struct cml_state *)(*(uintptr_t *)lua_getextraspace(L) & ~(uintptr_t)1);
}

// A coroutine of the host: the low bit of its own copy of the pointer is set. To scripts it looks
// like the main one. They can get it from coroutine.running, but coroutine.resume and close refuse
// it unless it is running or empty. New coroutines get the main one's copy: no mark is inherited.
static inline void cml_mark_task(lua_State *co) { *(uintptr_t *)lua_getextraspace(co) |= 1; }
static inline bool cml_is_task(lua_State *co) { return *(uintptr_t *)lua_getextraspace(co) & 1; }

// What liblua says when the main coroutine yields.
#define CML_YIELD_OUTSIDE "attempt to yield from outside a coroutine"

// Raises the error of a stop; never returns. The value is a light userdata that no script can make
// and that the host recognises; defined in state.c. Arms the coroutine first, so that the stop
// stays in force in each coroutine that it passes. [-0, +0, e]
_Noreturn void cml_raise_stop(lua_State *L);

// The poll when the flag is set: raises, unless a collection brings the script back under its
// memory limit. [-0, +0, e]
void cml_stopped(lua_State *L);

// Makes the coroutine raise at its next instruction. Async-signal-safe on the owner thread.
void cml_arm(struct cml_state *s, lua_State *L);

// Restores what cml_arm displaced.
void cml_disarm(struct cml_state *s, lua_State *L);

// Instead of a limit of instructions: a function is called for each line.
enum { CML_FOLLOWED = -1 };

// A new coroutine counts from the start, not from where its maker is.
void cml_count_alone(struct cml_state *s, lua_State *co);
// Sets the instruction limit's hook on a coroutine, which starts to count again; or the hook for
// lines.
void cml_count(struct cml_state *s, lua_State *L);

// Call often in anything that can run long in C. One load if there is no stop. [-0, +0, e]
static inline void cml_poll(lua_State *L) {
  if (__builtin_expect(cml_of(L)->stop != CML_STOP_NONE, 0)) cml_stopped(L);
}

// Replaces the standard library functions that run long in one C call, or would lose the running
// coroutine; call after luaL_openlibs. [-0, +0, e]
void cml_install_string(lua_State *L);     // find match gmatch gsub rep
void cml_install_table(lua_State *L);      // insert remove move concat sort; [-0, +0, e]
void cml_install_coroutine(lua_State *L);  // all but create and status; [-0, +0, e]
void cml_install_load(lua_State *L);       // load xpcall; [-0, +0, e]

// The allocator; `ud` is the record. (cml_alloc.c)
void *cml_allocate(void *ud, void *block, size_t old_size, size_t new_size);

// Wakes the parked watchdog thread. (cml_watchdog.c)
void cml_unpark(struct cml_state *s);
