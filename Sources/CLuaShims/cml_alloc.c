// The allocator of a state, and its account. Passing the limit does not refuse: it stops the script
// at its next instruction, because liblua before 5.4.8 can corrupt its heap when an allocation that
// a table needs is refused. Only what would pass twice the limit is refused.
#include <stdlib.h>

#include "cml_internal.h"

static bool is_over(const struct cml_state *s, size_t growth) {
  return growth > s->refuse_above || s->used > s->refuse_above - growth;
}

static bool is_refused(struct cml_state *s, size_t growth) {
  if (!s->guarded) return false;
#ifdef DEBUG
  if (s->fault_countdown != 0) {
    if (s->fault_countdown > 1) {
      s->fault_countdown--;
    } else {
      if (!s->fault_for_good) s->fault_countdown = 0;
      return true;
    }
  }
#endif
  return is_over(s, growth);
}

void cml_check_memory(cml_state *s) {
  if (cml_in_use(s) > s->limit && s->stop == CML_STOP_NONE && s->depth > 0) {
    s->stop = CML_STOP_MEMORY;
    cml_arm(s, s->running);
  }
}

// Lua raises an error that a script could catch, unless it succeeds after a collection.
static void note_refusal(struct cml_state *s, size_t old_size, size_t size) {
  if (!is_over(s, size - old_size) || s->depth == 0 || s->stop != CML_STOP_NONE) return;
  s->refused = size;
  s->stop = CML_STOP_MEMORY;
  cml_arm(s, s->running);
}

static void tell_others(struct cml_state *s) {
  atomic_store_explicit(&s->held->own, s->used + s->native, memory_order_relaxed);
}

static void note_growth(struct cml_state *s, size_t size) {
  s->allocations++;
  tell_others(s);
  if (UNLIKELY(s->refused != 0) && size >= s->refused) {
    s->refused = 0;
    if (s->stop == CML_STOP_MEMORY) s->stop = CML_STOP_NONE;
  }
  cml_check_memory(s);
}

void *cml_allocate(void *ud, void *block, size_t old_size, size_t new_size) {
  struct cml_state *s = ud;
  if (block == NULL) old_size = 0;  // then it tells the kind of object
  if (new_size == 0) {
    if (s->arena != NULL) cml_arena_resize(s->arena, block, old_size, 0);
    else free(block);
    s->used -= old_size;
    return NULL;
  }
  if (new_size > old_size && is_refused(s, new_size - old_size)) {
    note_refusal(s, old_size, new_size);
    return NULL;
  }
  void *result = s->arena == NULL ? realloc(block, new_size)
                                  : cml_arena_resize(s->arena, block, old_size, new_size);
  if (result == NULL) return NULL;
  s->used += new_size - old_size;
  if (new_size > old_size) note_growth(s, new_size);
  return result;
}

size_t cml_bytes(cml_state *s) { return cml_in_use(s); }

void cml_add_native(cml_state *s, size_t bytes) {
  s->native += bytes;
  cml_check_memory(s);
}

cml_held *cml_held_of(cml_state *s) { return s->held; }

void cml_held_add(cml_held *held, long long growth) {
  atomic_fetch_add_explicit(&held->bytes, (size_t)growth, memory_order_relaxed);
}

size_t cml_held_bytes(cml_held *held) {
  return atomic_load_explicit(&held->bytes, memory_order_relaxed);
}

size_t cml_held_left(cml_held *held) {
  size_t limit = atomic_load_explicit(&held->limit, memory_order_relaxed);
  size_t own = atomic_load_explicit(&held->own, memory_order_relaxed);
  if (limit == SIZE_MAX) return SIZE_MAX;
  own += cml_held_bytes(held);
  return own < limit ? limit - own : 0;
}

void cml_held_free(cml_held *held) { free(held); }

void cml_set_memory_limit(cml_state *s, size_t limit) {
  s->limit = limit == 0 ? SIZE_MAX : limit;
  atomic_store_explicit(&s->held->limit, s->limit, memory_order_relaxed);
  s->refuse_above = limit == 0 || limit > SIZE_MAX / 2 ? SIZE_MAX : limit * 2;
}


bool cml_fail_allocation(cml_state *s, uint64_t n, bool for_good) {
#ifdef DEBUG
  s->fault_countdown = n;
  s->fault_for_good = for_good;
  return true;
#else
  (void)s, (void)n, (void)for_good;
  return false;
#endif
}

uint64_t cml_fault_countdown(cml_state *s) { return s->fault_countdown; }

static int step(lua_State *L) {
  lua_gc(L, LUA_GCSTEP, 16);
  return 0;
}

static int collect(lua_State *L) {
  lua_gc(L, LUA_GCCOLLECT);
  lua_gc(L, LUA_GCCOLLECT);
  return 0;
}

// Finalizers are script code: they run behind the door, under the limits of a call-out, which this
// is not.
static void run_collector(cml_state *s, lua_CFunction work) {
  if (atomic_load_explicit(&s->dispatch, memory_order_relaxed) == 0) s->works++;
  int task = cml_task_take(s);
  lua_pushcfunction(cml_task_state(s, task), work);
  struct cml_result result = cml_run(s, task, 0, true);
  if (result.outcome == CML_FAILED || result.outcome == CML_STOPPED) cml_task_close(s, task);
  cml_task_give_back(s, task);
  tell_others(s);
}

// Not only after some KiB: a loop that then sleeps for long would keep what was dropped, such as
// a connection whose peer waits for its end.
bool cml_idle_collect(cml_state *s) {
  if (s->allocations == s->collected_at) return false;
  run_collector(s, step);
  s->collected_at = s->allocations;
  return true;
}

void cml_collect(cml_state *s) { run_collector(s, collect); }

void cml_pause_collector(cml_state *s, bool pauses) {
  lua_gc(s->main, pauses ? LUA_GCSTOP : LUA_GCRESTART);
}
