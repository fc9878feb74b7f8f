// Shared by the C files of the binding, and private to them.
#pragma once
#include "cml_state.h"

// ThreadSanitizer delays a signal until the thread makes a call it knows, which a script's loop
// never does. In its builds the watchdog thread does the handler's work itself; the functions it
// runs are not checked.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CML_HOLDS_SIGNALS 1
#endif
#if __has_feature(address_sanitizer)
#define CML_FINDS_LEAKS 1
#endif
#endif
#ifdef CML_HOLDS_SIGNALS
#define CML_UNCHECKED __attribute__((no_sanitize("thread")))
#else
#define CML_UNCHECKED
#endif

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

// Runs the C function on top of the stack under protection, before there is any task. (cml_call.c)
int cml_protected_set_up(lua_State *L);
// The same for a function with arguments. [-(arguments + 1), +0, -]
int cml_protected_call(lua_State *L, int arguments);

// Makes a hook call the host in the call-out with this number. Async-signal-safe on the owner
// thread. (state.c)
void cml_arm_visit(struct cml_state *s, uint64_t number);
// Lets hooks run in this coroutine even below a hook or a finalizer; false if we may not.
bool cml_allow_hooks(struct cml_state *s, lua_State *L);

// The host's own work outside of call-outs: allocating may run finalizers, which are script code.
// Between these it is charged, and can be stopped, as its own call-out. (cml_call.c)
struct cml_work {
  lua_State *running;
  uint64_t dispatch;
};
// Whether the coroutine's work is already charged.
static inline bool cml_is_charged(struct cml_state *s, lua_State *L) {
  return s->running == L && atomic_load_explicit(&s->dispatch, memory_order_relaxed) != 0;
}
void cml_begin_work(struct cml_state *s, lua_State *L, struct cml_work *work);
void cml_end_work(struct cml_state *s, lua_State *L, struct cml_work *work);

// Calls the function of a library that ours replaces, with the arguments on the stack: in this
// frame, so that its messages name the function as the script did. (cml_program.c)
int cml_call_original(lua_State *L, int upvalue);

// Refuses zero bytes in the first arguments, which name something to the system. [-0, +0, v]
void cml_check_names(lua_State *L, int names);
// Whether a value is one of liblua's functions behind such a check; then that function, with the
// arguments on the stack checked. (cml_named.c)
bool cml_is_named(lua_State *L, int index);
lua_CFunction cml_original_of_named(lua_State *L, int index);
void cml_install_named(lua_State *L);

// In a state that hides addresses, puts a name and a number in the place of an argument that would
// show one. [-0, +0, m] (cml_safe.c)
void cml_hide_address(lua_State *L, int arg);

// Sets `print`. (cml_output.c)
void cml_install_print(lua_State *L);

// Warnings and errors in finalizers. (cml_warning.c)
void cml_install_warn(lua_State *L);
// Called when a call-out has ended although a finalizer in it was stopped.
void cml_note_swallowed_stop(struct cml_state *s);
// Reports the errors in finalizers since the last call to the host.
void cml_tell_finalizer_errors(struct cml_state *s);
void cml_warnings_close(struct cml_state *s);

// Our pcall. (cml_call.c)
void cml_install_pcall(lua_State *L);

// Metatables and keys that the files need; called once, protected. [-0, +0, e]
void cml_function_set_up(lua_State *L);
void cml_where_set_up(lua_State *L);
void cml_userdata_set_up(lua_State *L);
void cml_identity_set_up(lua_State *L);
// Makes a weak table of the registry, of mode "k" or "v". [-0, +0, m]
void cml_make_weak(lua_State *L, const char *mode, void *key);

// Frees the kinds, after the last object.
void cml_userdata_close(struct cml_state *s);

// Calls the member (a raw function as light userdata, or a cell) on top of the stack with the
// values from 1 to `arguments`, as the tail of a C function. [-?, +?, e]
int cml_call_member(lua_State *L, int arguments);

// Sets the states open on this thread, for the signal handler.
void cml_watchdog_opened(struct cml_state *s);
// Whether what runs on this thread must stop now. For C code that is called back by a library.
bool cml_is_stopping(void);
void cml_watchdog_closed(struct cml_state *s);

// Ends the watchdog thread, if there is one.
void cml_watchdog_stop(struct cml_state *s);

// Memory at reproducible addresses; NULL if unavailable. (cml_arena.c)
struct cml_arena *cml_arena_make(void);
void cml_arena_free(struct cml_arena *arena);
void *cml_arena_resize(struct cml_arena *arena, void *block, size_t old_size, size_t new_size);
// Opens Lua with our allocator and the requested seed. (cml_seed.c)
lua_State *cml_new_state(struct cml_state *s);
