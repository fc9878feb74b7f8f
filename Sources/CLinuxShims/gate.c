// A one-word gate over futex: threads wait, any thread opens.
#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct cmx_gate {
  _Atomic uint32_t open;
};

struct cmx_gate *cmx_gate_make(void) {
  struct cmx_gate *gate = malloc(sizeof *gate);
  if (!gate) abort();
  atomic_init(&gate->open, 0);
  return gate;
}

void cmx_gate_free(struct cmx_gate *gate) { free(gate); }

void cmx_gate_open(struct cmx_gate *gate) {
  if (atomic_exchange_explicit(&gate->open, 1, memory_order_release) != 0) return;
  syscall(SYS_futex, &gate->open, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void cmx_gate_shut(struct cmx_gate *gate) {
  atomic_store_explicit(&gate->open, 0, memory_order_relaxed);
}

static struct timespec deadline_after(int64_t nanoseconds) {
  int64_t now = cmx_monotonic(), then;
  if (__builtin_add_overflow(now, nanoseconds, &then)) then = INT64_MAX;
  return (struct timespec){then / 1000000000, then % 1000000000};
}

bool cmx_gate_wait(struct cmx_gate *gate, int64_t timeout_ns) {
  if (atomic_load_explicit(&gate->open, memory_order_acquire)) return true;
  if (timeout_ns == 0) return false;
  // Absolute, so that a signal does not prolong the wait.
  struct timespec deadline = deadline_after(timeout_ns < 0 ? 0 : timeout_ns);
  const struct timespec *limit = timeout_ns < 0 ? NULL : &deadline;
  while (!atomic_load_explicit(&gate->open, memory_order_acquire)) {
    long result = syscall(
        SYS_futex, &gate->open, FUTEX_WAIT_BITSET_PRIVATE, 0, limit, NULL,
        FUTEX_BITSET_MATCH_ANY);
    if (result < 0 && errno == ETIMEDOUT)
      return atomic_load_explicit(&gate->open, memory_order_acquire);
  }
  return true;
}
