// Lua for Swift: functions that never raise, or only for lack of memory, which is always granted
// below a frame of the host; and the one door through which Lua code runs. lua.h itself is not
// visible: an error raised under a Swift frame would jump over it and hang the process.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lua_State lua_State;
typedef struct cml_state cml_state;

enum { CML_REGISTRY = -1000000 - 1000, CML_MULTIPLE = -1 };
enum { CML_TNONE = -1, CML_TNIL, CML_TBOOLEAN, CML_TLIGHT, CML_TNUMBER, CML_TSTRING, CML_TTABLE,
       CML_TFUNCTION, CML_TUSERDATA, CML_TTHREAD };

// Lua's own functions under our names, without a wrapper's cost: [-pops, +pushes, raises].
int cml_type(lua_State *L, int i) __asm__("lua_type");                            // [-0, +0, -]
int cml_gettop(lua_State *L) __asm__("lua_gettop");                               // [-0, +0, -]
int cml_absindex(lua_State *L, int i) __asm__("lua_absindex");                    // [-0, +0, -]
void cml_settop(lua_State *L, int i) __asm__("lua_settop");                       // [-?, +?, -]
int cml_checkstack(lua_State *L, int n) __asm__("lua_checkstack");                // [-0, +0, -]
void cml_copy(lua_State *L, int from, int to) __asm__("lua_copy");                  // [-0, +0, -]
void cml_pushvalue(lua_State *L, int i) __asm__("lua_pushvalue");                 // [-0, +1, -]
void cml_rotate(lua_State *L, int i, int n) __asm__("lua_rotate");                // [-0, +0, -]
int cml_pushthread(lua_State *L) __asm__("lua_pushthread");  // [-0, +1, -]
void cml_xmove(lua_State *from, lua_State *to, int n) __asm__("lua_xmove");       // [-n, +n, -]
void cml_pushnil(lua_State *L) __asm__("lua_pushnil");                            // [-0, +1, -]
void cml_pushboolean(lua_State *L, int b) __asm__("lua_pushboolean");             // [-0, +1, -]
void cml_pushinteger(lua_State *L, long long n) __asm__("lua_pushinteger");       // [-0, +1, -]
void cml_pushnumber(lua_State *L, double n) __asm__("lua_pushnumber");            // [-0, +1, -]
void cml_pushlight(lua_State *L, void *p) __asm__("lua_pushlightuserdata");       // [-0, +1, -]
int cml_toboolean(lua_State *L, int i) __asm__("lua_toboolean");                  // [-0, +0, -]
long long cml_tointeger(lua_State *L, int i, int *ok) __asm__("lua_tointegerx");  // [-0, +0, -]
double cml_tonumber(lua_State *L, int i, int *ok) __asm__("lua_tonumberx");       // [-0, +0, -]
// Changes a number on the stack into a string: not for keys of a table that is being walked.
// [-0, +0, m]
const char *cml_tolstring(lua_State *L, int i, size_t *count) __asm__("lua_tolstring");
int cml_isinteger(lua_State *L, int i) __asm__("lua_isinteger");                  // [-0, +0, -]
const void *cml_topointer(lua_State *L, int i) __asm__("lua_topointer");          // [-0, +0, -]
unsigned long long cml_rawlen(lua_State *L, int i) __asm__("lua_rawlen");         // [-0, +0, -]
int cml_rawequal(lua_State *L, int i, int j) __asm__("lua_rawequal");             // [-0, +0, -]
int cml_getmetatable(lua_State *L, int i) __asm__("lua_getmetatable");           // [-0, +(0|1), -]
int cml_rawget(lua_State *L, int i) __asm__("lua_rawget");                        // [-1, +1, -]
int cml_rawgeti(lua_State *L, int i, long long n) __asm__("lua_rawgeti");         // [-0, +1, -]
void cml_rawset(lua_State *L, int i) __asm__("lua_rawset");                       // [-2, +0, m]
void cml_rawseti(lua_State *L, int i, long long n) __asm__("lua_rawseti");        // [-1, +0, m]
int cml_getuservalue(lua_State *L, int i, int n) __asm__("lua_getiuservalue");    // [-0, +1, -]
int cml_setuservalue(lua_State *L, int i, int n) __asm__("lua_setiuservalue");    // [-1, +0, -]
int cml_isyieldable(lua_State *L) __asm__("lua_isyieldable");                     // [-0, +0, -]

// May run finalizers, which count as a call-out when none is active.
// [-0, +1, m]
const char *cml_pushbytes(lua_State *L, const void *bytes, size_t count);
void cml_newtable(lua_State *L, int items, int fields);  // [-0, +1, m]
// [-0, +1, -]
int cml_load(lua_State *L, const char *text, size_t size, const char *name, const char *mode);
// [-0, +1, m]
int cml_load_file(lua_State *L, const char *path, const char *mode);

// The items of a list from 1 on, as Lua converts them, up to the first that is no number of the
// kind; returns how many were read. [-0, +0, -]
size_t cml_get_integers(lua_State *L, int i, intptr_t *items, size_t count);
size_t cml_get_numbers(lua_State *L, int i, double *items, size_t count);  // [-0, +0, -]
// Pushes a list. [-0, +1, m]
void cml_push_integers(lua_State *L, const intptr_t *items, size_t count);
void cml_push_numbers(lua_State *L, const double *items, size_t count);  // [-0, +1, m]
// How many fields a table has; the index counts from the bottom. [-0, +0, -]
size_t cml_count_fields(lua_State *L, int i);

// The outermost conversion counts what the host makes of a value, which may have one table many
// times; `begin` returns what is left, `make` is false if it is over the limit, or has to stop.
size_t cml_begin_making(cml_state *s);
bool cml_make(cml_state *s, size_t bytes);
void cml_end_making(cml_state *s);
bool cml_made_too_much(cml_state *s);
// Keeps the value on top in the registry until the reference is freed. Cheaper than luaL_ref.
int cml_ref(lua_State *L);             // [-1, +0, m]
void cml_unref(lua_State *L, int ref);  // [-0, +0, -]
// Keeps two values in adjacent slots: the userdata at an index, under the reference, and the
// function that handles its events, so that a call-out touches neither in memory. [-0, +0, m]
int cml_hold(lua_State *L, int userdata, int function);
void cml_unhold(lua_State *L, int ref);  // [-0, +0, -]

// Pops a loader into package.preload; no effect if a script removed the table. [-1, +0, m]
void cml_preload(lua_State *L, const char *module);
// Pops a function that returns the loaders missing from package.preload. [-1, +0, m]
void cml_preload_by(lua_State *L);
// Pushes a loader that compiles and runs static text. [-0, +1, m]
void cml_push_source(lua_State *L, const char *text, size_t count, const char *chunk);

// The bytes of a string value; otherwise NULL: a number is not converted, which would change it on
// the stack. [-0, +0, -]
const char *cml_string(lua_State *L, int i, size_t *count);
enum cml_text_kind { CML_TEXT_NONE, CML_TEXT_NEW, CML_TEXT_KNOWN };
enum {
  CML_KNOWN_LEAST = 16,    // bytes; Swift makes no object for fewer
  CML_KNOWN_MOST = 40,     // bytes; Lua has each string of so many only once
  CML_KNOWN_COUNT = 32,    // a power of two
};
struct cml_text {
  const char *bytes;
  size_t count;
  void *kept;  // where the host keeps it, or is to keep it; or NULL
  bool is_ascii;
  bool asks;   // would be kept, after cml_keep_texts
};
// The same for one that is valid UTF-8, without overlong forms and surrogates, unless the host
// keeps it: then only `kept` is set. [-0, +0, -]
enum cml_text_kind cml_text(lua_State *L, int i, struct cml_text *text);
// Gives room for CML_KNOWN_COUNT objects of 16 bytes, which the host frees.
void cml_keep_texts(cml_state *s, void *room);
void *cml_kept_texts(cml_state *s);  // or NULL
// The value of a number, and whether it is a number: a string is not converted. [-0, +0, -]
double cml_number(lua_State *L, int i, bool *ok);

// A number that belongs to the thread while it lives.
int32_t cml_thread_id(void);

// The state ---------------------------------------------------------------------------------------

struct cml_limits {
  size_t memory;  // bytes; 0 is no limit
  int nesting;    // Lua in host in Lua; at least 1
};

// Starts a thread that stops call-outs that take longer than this; 0: none. [-0, +0, -]
bool cml_set_watchdog(cml_state *s, uint64_t limit_ns);

// Changes the limits; `instructions` is the limit for one call-out on one coroutine, 0 means none.
// Counting instructions costs about half of the speed.
void cml_set_limits(cml_state *s, const struct cml_limits *limits, int instructions);
// How many instructions were counted while there was a limit, in pieces of 250 and more: what a
// call-out takes of an unfinished piece is left out.
uint64_t cml_instructions(cml_state *s);
// Whether the running call-out has to stop: for what takes long in the host.
bool cml_must_stop(cml_state *s);

// From the next call-out on a function is called for each line, as with debug.sethook, but on all
// coroutines that the host runs. Replaces the limit of instructions. [-0, +0, -]
void cml_follow_lines(cml_state *s, int ref);

// Opens a state on this thread with the standard libraries; NULL if there is no memory.
cml_state *cml_open(const struct cml_limits *limits);
// The next state on this thread has reproducible addresses and order of `pairs`, for scripts that
// do the same.
void cml_reproduce_next(uint32_t seed);
// Runs a C function that changes the state's libraries, protected, before there is any task; false
// if it raised. [-0, +0, -]
bool cml_set_up(cml_state *s, int (*body)(lua_State *L));
// Redirects what a state's scripts write to standard output (1) and standard error (2), on their
// thread. NULL if there is no memory. Free it after the state. [-0, +0, -]
typedef struct cml_output cml_output;
typedef void (*cml_output_taker)(void *context, int stream, const char *bytes, size_t count);
cml_output *cml_divert_output(cml_state *s, cml_output_taker take, void *context);
void cml_output_free(cml_output *output);
// Why `print` could first not write to the standard output since the last call, an errno; 0 if it
// could. Any thread. [-0, +0, -]
int cml_take_print_failure(void);
// Closes the state: finalizers run, under the limits of a call-out, then all of Lua is freed. Not
// below a door.
void cml_close(cml_state *s);
// Frees the record of a closed state, which must not be interrupted any more; reports errors in the
// last finalizers first.
void cml_free(cml_state *s);
// The running coroutine, or the main one.
lua_State *cml_running(cml_state *s);
cml_state *cml_state_of(lua_State *L);  // [-0, +0, -]
void cml_set_host(cml_state *s, void *host);
// The object of the binding that this state belongs to.
void cml_set_owner(cml_state *s, void *owner);
void *cml_owner(cml_state *s);
int cml_depth(cml_state *s);
// Whether code of the state is running, including finalizers started by an allocation and reports
// of their errors: the state must not be closed now.
bool cml_is_busy(cml_state *s);
// How many call-outs there were.
uint64_t cml_callouts(cml_state *s);
// What counts towards the memory limit.
size_t cml_bytes(cml_state *s);
// Counts memory of the host that stays until the state goes.
void cml_add_native(cml_state *s, size_t bytes);
void cml_set_memory_limit(cml_state *s, size_t limit);
// What the host holds for a state's scripts counts towards their memory limit. The account
// outlives the state: the host frees it.
typedef struct cml_held cml_held;
cml_held *cml_held_of(cml_state *s);
// Any thread. Follow growth with cml_check_memory.
void cml_held_add(cml_held *held, long long growth);
size_t cml_held_bytes(cml_held *held);
// What the limit leaves, 0 where it is passed, SIZE_MAX without a limit.
size_t cml_held_left(cml_held *held);
void cml_held_free(cml_held *held);
// Stops the call-out that runs if the limit was passed. Owner thread.
void cml_check_memory(cml_state *s);
// A small step of the collector, if as much was allocated since the last; true if it did one.
bool cml_idle_collect(cml_state *s);
// A full collection, twice, so that finalized objects go too.
void cml_collect(cml_state *s);
// During the host's set-up there is no garbage: no collection starts by itself.
void cml_pause_collector(cml_state *s, bool pauses);
// Called when a finalizer raised an error, at the end of the call in which it did: with the text,
// or the reason for the stop that ended it. It may call Lua, unless the state is closed.
void cml_on_finalizer_error(cml_state *s, void (*tell)(void *context, const char *text, int reason),
                            void *context);
// From now on `load` accepts only text, whatever its mode.
void cml_set_text_only(cml_state *s);
// The same; and no function of the libraries reaches outside of the state, shows an address, or
// gives a value a finalizer, and string methods
// cannot be replaced. Once; false if there is no memory. [-0, +0, -]
bool cml_make_safe(cml_state *s);
// A monotonic clock.
uint64_t cml_clock_ns(void);
// Such as "Lua 5.4.4".
const char *cml_lua_version_text(void);
// The file that Lua is loaded from; NULL if it is linked in. Lives as long as the program.
const char *cml_lua_library(void);
// Debug builds: the n-th guarded allocation from now fails, alone or with all after it; 0 is off.
bool cml_fail_allocation(cml_state *s, uint64_t n, bool for_good);
// What is left of it: 0 when it has failed, or is off.
uint64_t cml_fault_countdown(cml_state *s);

// The door ----------------------------------------------------------------------------------------

enum cml_outcome {
  CML_RETURNED = 0,   // results are on the task's stack
  CML_SUSPENDED = 1,  // what it yielded is on the task's stack
  CML_FAILED = 2,     // the error is on top of the task's stack, which still shows where it was
  CML_STOPPED = 3,    // like failed, by a limit or an interrupt: see cml_stop_reason
  CML_NESTED = 4,     // refused: host and Lua calls are nested too deeply; nothing ran
};

struct cml_result {
  int32_t outcome;
  int32_t task;   // the index of the coroutine; -1 when it is back in the pool
  int32_t count;  // values on its stack
};

// Takes a coroutine from the pool, or makes one. [-0, +0, m]
int cml_task_take(cml_state *s);
// The same, with the value of a reference on it. [-0, +0, m]
lua_State *cml_task_take_with(cml_state *s, int ref, int *task);
// Ends a task that failed, was stopped or is suspended: closes its pending variables, under the
// same limits. If that raises, the error is on top of the task's stack. Then the task must be given
// back.
struct cml_result cml_task_close(cml_state *s, int task);
// Gives back a task whose function has returned, or which was closed or never started.
void cml_task_give_back(cml_state *s, int task);
// The same for a suspended task, whose coroutine is dropped as it is.
void cml_task_abandon(cml_state *s, int task);
lua_State *cml_task_state(cml_state *s, int task);
uint32_t cml_task_generation(cml_state *s, int task);
bool cml_task_is_suspended(cml_state *s, int task);
// The index of the innermost running task, if its coroutine is L, or -1: then L is a coroutine of
// the script's own.
int cml_task_current(cml_state *s, lua_State *L);

// The same if it can be suspended; -1 too if something is in the way.
int cml_task_waiting(cml_state *s, lua_State *L);
// The coroutine of the innermost running task, or NULL.
lua_State *cml_callout_state(cml_state *s);
int cml_tasks_in_use(cml_state *s);
// Remembers where the host's part of a task is, for the prefetch only.
void cml_task_note(cml_state *s, int task, const void *host);
// Prefetches the memory of a task that will soon be resumed: the record and, from the second call
// on, its coroutine and the host's part.
void cml_task_prefetch(cml_state *s, int task, bool is_next);

// Runs the function and its `arguments` that lie on the task's stack, or resumes it with them.
// `synchronous`: the caller needs the results at once, so nothing inside may wait.
struct cml_result cml_run(cml_state *s, int task, int arguments, bool synchronous);
// Takes what a suspended task yielded from its stack; before the values of a resume are pushed.
void cml_task_drop_yielded(cml_state *s, int task);
// Resumes a waiting task so that the value on top of its stack is raised where it waits.
struct cml_result cml_run_raising(cml_state *s, int task);

// How a handler is called: the userdata `ref` is its first argument, its user value `slot` the
// function. One call, no allocation.
struct cml_result cml_dispatch(cml_state *s, int ref, int slot);
struct cml_result cml_dispatch_ref(cml_state *s, int ref, int slot, int argument);
// The same in two steps: the function is pushed on the task, and the handle if that is wanted; the
// caller pushes more arguments, and calls cml_run with the count of all.
int cml_dispatch_begin(cml_state *s, int ref, int slot, bool gives_handle);
// The same for a userdata held together with its function: `ref` is from cml_hold.
struct cml_result cml_dispatch_held(cml_state *s, int ref, long long argument);

// Stops the running call-out; no effect on an idle state. From any thread while the state is open,
// and from a signal handler. False if nothing runs, as far as the caller can tell.
bool cml_interrupt(cml_state *s);
// Calls the host between two instructions of the running call-out, as soon as script code runs in
// it, on the owner thread; not in a finalizer. As `cml_interrupt`. The host may call Lua and run
// anything; if it returns true, the call-out is stopped.
bool cml_visit(cml_state *s);
void cml_on_visit(cml_state *s, bool (*visit)(void *context, lua_State *L), void *context);
// The number of the running call-out, or 0. From any thread and from a signal handler.
uint64_t cml_callout(cml_state *s);
// The same two for all states of the thread of one: its guests run between its call-outs, and
// within them. On another thread, for that one alone.
bool cml_thread_interrupt(cml_state *s);
uint64_t cml_thread_callouts(cml_state *s);
// The signal by which a stop reaches the owner thread; the same in all states.
int cml_stop_signal(void);
// From now on a stop also ends the statements of SQLite's connections; to be called when a module
// in C has loaded that library, and before it opens one.
void cml_stop_sqlite(void);
// Why the last call-out was stopped: 1 time, 2 memory, 3 interrupt.
int cml_stop_reason(cml_state *s);
// Hooks for the standard libraries of a program that runs scripts.
struct cml_program_hooks {
  // `os.exit`: `closes` asks to close the state first. May return if so; the call-out must have
  // been stopped then. Must not use the stack.
  void (*exit)(int status, bool closes, void *context);
  // `name` is about to block the thread: os.execute, io.popen, io.read. True: do not report again.
  bool (*blocks)(lua_State *L, const char *name, void *context);
  // A warning, of a script that turned them on. Must not use the stack.
  void (*warns)(const char *text, void *context);
  // `os.execute`, with what `system` takes and returns; NULL: the library's own. Must not use the
  // stack.
  int (*execute)(const char *command);
  void *context;
};
// Installs these for the life of the state; false if there is no memory. [-0, +0, -]
bool cml_install_program(cml_state *s, const struct cml_program_hooks *hooks);
// A clock's reading: whole seconds since 1970, and seconds from some fixed moment.
struct cml_shown_time { long long epoch; double elapsed; };
// Whether a clock differs from the machine's now; if so, its reading.
typedef bool (*cml_clock)(void *context, struct cml_shown_time *time);
// Makes `os.time`, `os.date` and `os.clock` follow a clock for the life of the state, while it
// differs from the machine's; false if there is no memory. [-0, +0, -]
bool cml_follow_clock(cml_state *s, cml_clock clock, void *context);
// Between these the enclosing call-out is not charged: the host waits.
uint64_t cml_budget_suspend(cml_state *s);
void cml_budget_resume(cml_state *s, uint64_t token);

// Whether the value on top is the error of a stop, or the last call-out ran out of memory.
bool cml_is_stop(cml_state *s, lua_State *L);
// Whether the value has this field in its metatable. [-0, +0, m]
bool cml_has_metafield(lua_State *L, int i, const char *name);
// Pushes a function that converts any value to text like `tostring`. [-0, +1, -]
void cml_push_tostring(lua_State *L);

// Host functions ----------------------------------------------------------------------------------

enum { CML_RAISE = -1, CML_YIELD = -1000, CML_CALL = -1000000, CML_GUARD = -2000000000 };

// Returns a count of results on top of the stack; or CML_RAISE with the error on top; or
// CML_YIELD - n: waits, handing n values to the host; or, in a first half, CML_CALL - n: calls the
// function below n arguments on top, then the second half, which finds the results on top (it also
// comes after a wait of the first half); or, in either half, CML_GUARD - n: calls the function in
// the same way and returns its results, and closes the value below the function at the end.
typedef int32_t (*cml_function)(lua_State *L, void *context);
typedef void (*cml_release)(void *context);

// Pushes a function that calls `call`; `release` is called once, when Lua drops it. [-0, +1, m]
void cml_push_function(lua_State *L, cml_function call, void *context, cml_release release);
// Pushes a function whose context is the host object. [-0, +1, m]
void cml_push_raw_function(lua_State *L, cml_function call);
// The same for a function in two halves, which calls a Lua function between them; that one may
// wait, and its errors propagate. [-0, +1, m]
void cml_push_raw_halves(lua_State *L, cml_function first, cml_function second);
// The same without the function around it, for the members of a kind. [-0, +1, m]
void cml_push_cell(lua_State *L, cml_function call, void *context, cml_release release);

// Pushes a function that Lua calls without the host: it may raise. [-0, +1, -]
void cml_push_c_function(lua_State *L, int (*function)(lua_State *L));

// Userdata ----------------------------------------------------------------------------------------

typedef struct cml_kind cml_kind;
typedef struct cml_object {
  cml_kind *kind;
  void *pointer;
  uint32_t index, generation;
  uint32_t word;  // specific to the kind
  bool live;      // until released; set it when the object is whole
} cml_object;
// Called once for a live object, when it is collected or the state closes; must not use the stack.
typedef void (*cml_object_release)(cml_object *object);

// The last two are cells that read and set all fields that are not members.
enum {
  CML_METHOD = 0,
  CML_GETTER = 1,
  CML_SETTER = 2,
  CML_META = 3,
  CML_OTHERS = 4,
  CML_SET_OTHERS = 5
};

// Adds the members of a kind: begins it, sets them, seals it. [-0, +0, m]
typedef void (*cml_kind_open)(cml_kind *k, lua_State *L);

// Makes a kind; it lives as long as the state. `open` is called before the first object is made;
// without it the caller adds the members at once. [-0, +0, -]
cml_kind *cml_kind_new(cml_state *s, const char *name, int user_values,
                       cml_object_release release, cml_kind_open open, void *context);
// Makes the tables for about this many members. [-0, +0, m]
void cml_kind_begin(cml_kind *k, lua_State *L, int members);
// Gives a kind all members of another, before its own: its objects count as objects of
// that one too. [-0, +0, m]
void cml_kind_extend(cml_kind *k, lua_State *L, cml_kind *parent);
// Pops a member: a function for methods and metamethods; for getters and setters a cell, or a raw
// function as light userdata. [-1, +0, m]
void cml_kind_set(cml_kind *k, lua_State *L, int where, const char *name);
// Completes the kind: after this no getter, setter or method may be added to the first forms.
void cml_kind_seal(cml_kind *k, lua_State *L);
// Opens all kinds, so that their members can be listed. [-0, +0, m]
void cml_open_kinds(cml_state *s);
const char *cml_kind_name(cml_kind *k);
void *cml_kind_context(cml_kind *k);
// Gives a kind a number, by which its objects are found without trying all kinds.
void cml_kind_set_tag(cml_kind *k, int tag);
// Each object that is pushed whole and has a finalizer counts as this much memory of the host.
void cml_kind_set_native(cml_kind *k, size_t bytes);
// Pushes a new object; all words are zero. [-0, +1, m]
cml_object *cml_push_object(lua_State *L, cml_kind *k);
// The same for one whose pointer is released; NULL, for one without, in a state that is closing:
// nothing would release it. [-0, +1, m]
cml_object *cml_push_retained(lua_State *L, cml_kind *k);
// Pushes a new, complete object with the function at the index as its first user value, without a
// finalizer: making and ending it cost half as much. [-0, +1, m]
cml_object *cml_push_handle(lua_State *L, cml_kind *k, int function);
// The same, but held together with the function instead of having it as a user value. [-0, +1, m]
cml_object *cml_push_held(lua_State *L, cml_kind *k, int function, int *ref);
// Makes the function that the object at the index is held with its first user value.
int cml_hold_handle(lua_State *L, int i);  // [-0, +0, m]
// Pushes a held object, releases it, and makes the function its first user value again.
void cml_unhold_handle(lua_State *L, int ref);  // [-0, +1, -]
// Adds a finalizer to the object at the index, which was just made. [-0, +0, -]
void cml_finalize_handle(lua_State *L, int i, cml_kind *k);
// The same for an object of any age: Lua would look for it among all that were made since. What has
// the finalizer is another object with the same words, which is collected with it. [-0, +0, m]
void cml_guard_handle(lua_State *L, int i, cml_kind *k);
// The object at an index, or NULL if it is not of this kind. [-0, +0, -]
cml_object *cml_to_object(lua_State *L, int i, cml_kind *kind);
cml_object *cml_any_object(lua_State *L, int i);  // [-0, +0, -]
// Whether an object can no longer be used: its loan is over, or it is being collected. [-0, +0, -]
bool cml_is_over(lua_State *L, int i);
// The object at an index if its kind has a tag, and that tag. [-0, +0, -]
cml_object *cml_tagged_object(lua_State *L, int i, int *tag);
// Pushes the userdata for this address, if one is alive. [-0, +(0|1), -]
bool cml_push_known(lua_State *L, void *pointer);
// Gives the object on top of the stack another kind, which releases objects in the same way.
// [-0, +0, m]
void cml_change_kind(lua_State *L, cml_kind *k);
// Stores the userdata on top of the stack under the address. [-0, +0, m]
void cml_make_known(lua_State *L, void *pointer);

// Pops a table and makes it the metatable of a value; it must have no __gc. [-1, +0, -]
void cml_set_metatable(lua_State *L, int i);

// The next field of a table: pops a key, pushes the next and its value. The key must be nil at
// first, then the one from the call before, with no field set between. [-1, +(2|0), -]
bool cml_next(lua_State *L, int i);
// The number in a table's only field, if that has this name; else false. [-0, +0, -]
bool cml_only_number(lua_State *L, int i, const char *name, size_t length, double *number);
// Pops a table and makes it the globals of the chunk below it. [-1, +0, -]
void cml_set_environment(lua_State *L);
// Pops a value into package.loaded. [-1, +0, m]
void cml_set_loaded(lua_State *L, const char *name);
// Writes as many bytes as the descriptor takes, and returns the number; no SIGPIPE. Waits for a
// slow reader only if the descriptor blocks.
size_t cml_write_some(int fd, const void *bytes, size_t count);

// Places ------------------------------------------------------------------------------------------

enum { CML_SITE_BYTES = 100, CML_NAME_BYTES = 80 };
// Where a script called; the chunk name as a number, kept as long as the state.
struct cml_position {
  int32_t source;  // -1 if no script is on the stack
  int32_t line;
};
struct cml_frame {
  char source[60];
  char name[CML_NAME_BYTES];
  char name_kind[16];
  int line, line_defined;
  char what;  // L, C or m
  bool is_tail_call;
};
// " (app.lua:12)" for the innermost function of a script on the stack, or nothing. [-0, +0, -]
void cml_site(lua_State *L, char *text);
// What a script calls the argument at an index of the running host function: Lua does not count the
// object of `object:method()`, which is 0. [-0, +0, -]
int cml_argument_number(lua_State *L, int i);
// For a host function: where it was called. [-0, +0, -]
struct cml_position cml_position(lua_State *L);
// From now on what our own modules make counts as made at this line of a file; NULL: where they
// were called. [-0, +0, -]
void cml_set_maker(lua_State *L, const char *file, int32_t line);
const char *cml_source_name(cml_state *s, int32_t source);
// Writes the name of the C function that keeps L from being suspended, such as "table.sort"; false
// if there is none. (Calls that need their result at once are not detected here.) [-0, +0, m]
bool cml_boundary(lua_State *L, char *name);
bool cml_is_synchronous(cml_state *s);
// The frame at a level, 0 being the innermost; and how many frames there are. [-0, +0, -]
bool cml_frame_at(lua_State *L, int level, struct cml_frame *out);
int cml_frame_count(lua_State *L);  // [-0, +0, -]
// The edit distance of two words, counted up to `limit`; and the largest that counts as a typo.
int cml_distance(const char *a, const char *b, int limit);
int cml_distance_limit(const char *word);
