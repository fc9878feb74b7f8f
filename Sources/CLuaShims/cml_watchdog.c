// Stops what runs too long. A call-out costs one store: its number. A thread of ours checks the
// number from time to time; if it sees the same one for too long, it signals the owner thread,
// whose handler sets a hook on the running coroutine. While the host is idle, the thread sleeps
// without a time limit.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cml_internal.h"

enum {
  DEPTHS = 64,         // the low six bits of a number are the depth it began at
  IDLE_SAMPLES = 3,    // how often to see nothing running before the thread sleeps for good
  NAP_MIN_NS = 1000000,
  NAP_MAX_NS = 50000000,
};

struct cml_watchdog {
  pthread_t thread;
  struct cml_state *s;
  uint64_t limit_ns, nap_ns;
  _Atomic uint32_t ends;
  // What each depth's call-out was charged so far; the watchdog thread only.
  struct { uint64_t number, charged_ns; } charges[DEPTHS];
};

// The signal -----------------------------------------------------------------------------------

// Chosen once, by the first state; 0 before. SIGURG, as in Go for the same purpose: by default it
// is ignored, and sending it never fails. A real-time signal would be the next choice, but sending
// one fails when the user's limit of pending signals is used up.
static int stop_signal;
static pthread_once_t once = PTHREAD_ONCE_INIT;

CML_UNCHECKED static void stop_now(struct cml_state *s, int reason) {
  if (s->stop == CML_STOP_NONE) s->stop = reason;
  cml_arm(s, s->running);
}

// A signal cannot carry an address, which could be that of a state closed in the meantime: the
// handler checks all states of its thread.
static _Thread_local struct cml_state *volatile open_states;

CML_UNCHECKED static void look_at(struct cml_state *s) {
  uint64_t now = atomic_load_explicit(&s->dispatch, memory_order_relaxed);
  bool interrupted = atomic_exchange(&s->interrupted, false);
  bool visit_asked = atomic_exchange(&s->visit_asked, false);
  if (now == 0) return;  // nothing runs: the host takes care of itself
  if (visit_asked) cml_arm_visit(s, now);
  if (interrupted) {
    atomic_store(&s->late, now);  // so that the watchdog, if there is one, follows it up
    stop_now(s, CML_STOP_INTERRUPT);
  } else if (atomic_load(&s->late) == now) {
    stop_now(s, CML_STOP_TIME);
  }
}

// On the owner thread, at any moment.
static void handle(int number) {
  (void)number;
  int saved = errno;
  for (struct cml_state *s = open_states; s != NULL; s = s->next_of_thread) look_at(s);
  errno = saved;
}

static bool take_signal(int number) {
  struct sigaction old, new = {.sa_handler = handle, .sa_flags = SA_RESTART | SA_ONSTACK};
  if (sigaction(number, NULL, &old) != 0 || old.sa_handler != SIG_DFL) return false;
  sigfillset(&new.sa_mask);
  return sigaction(number, &new, NULL) == 0;
}

static void choose_signal(void) {
  if (take_signal(SIGURG)) stop_signal = SIGURG;
  for (int number = SIGRTMAX - 1; stop_signal == 0 && number >= SIGRTMIN; number--)
    if (take_signal(number)) stop_signal = number;
}

int cml_stop_signal(void) {
  pthread_once(&once, choose_signal);
  return stop_signal;
}

void cml_watchdog_opened(struct cml_state *s) {
  sigset_t set;  // threads of libdispatch block all signals
  sigemptyset(&set);
  if (cml_stop_signal() != 0) sigaddset(&set, cml_stop_signal());
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  s->next_of_thread = open_states;
  open_states = s;
}

void cml_watchdog_closed(struct cml_state *s) {
  if (open_states == s) {
    open_states = s->next_of_thread;
    return;
  }
  for (struct cml_state *o = open_states; o != NULL; o = o->next_of_thread)
    if (o->next_of_thread == s) o->next_of_thread = s->next_of_thread;
}

// Async-signal-safe, which glibc does not promise of its functions for this.
static bool signal_owner(struct cml_state *s) {
#ifdef CML_HOLDS_SIGNALS
  look_at(s);
  return true;
#else
  return syscall(SYS_tgkill, getpid(), s->tid, stop_signal) == 0;
#endif
}

bool cml_interrupt(cml_state *s) {
  if ((int)syscall(SYS_gettid) == s->tid) {
    uint64_t number = atomic_load_explicit(&s->dispatch, memory_order_relaxed);
    if (number == 0) return false;
    atomic_store(&s->late, number);
    stop_now(s, CML_STOP_INTERRUPT);
    return true;
  }
  atomic_store(&s->interrupted, true);
  return signal_owner(s);
}

bool cml_visit(cml_state *s) {
  if ((int)syscall(SYS_gettid) == s->tid) {
    uint64_t number = atomic_load_explicit(&s->dispatch, memory_order_relaxed);
    if (number != 0) cml_arm_visit(s, number);
    return number != 0;
  }
  atomic_store(&s->visit_asked, true);
  return signal_owner(s);
}

uint64_t cml_callout(cml_state *s) {
  return atomic_load_explicit(&s->dispatch, memory_order_relaxed);
}

// The thread -----------------------------------------------------------------------------------

uint64_t cml_clock_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void futex_wait(_Atomic uint32_t *word, uint32_t value, const struct timespec *timeout) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void cml_unpark(struct cml_state *s) {
  if (atomic_exchange(&s->parked, 0) != 0) futex_wake(&s->parked);
}

// Sleeps until the next call-out. The owner stores its number and then reads `parked` without a
// fence, which would cost each call-out some nanoseconds; the barrier on all threads here replaces
// it: either we see the number, or the owner sees `parked`.
static void park(struct cml_watchdog *w) {
  struct cml_state *s = w->s;
  atomic_store(&s->parked, 1);
  bool fenced = syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
  struct timespec second = {1, 0};  // a kernel without the barrier: check once a second
  if (atomic_load(&s->dispatch) == 0 && !atomic_load(&w->ends))
    futex_wait(&s->parked, 1, fenced ? NULL : &second);
  atomic_store(&s->parked, 0);
}

static void nap(struct cml_watchdog *w) {
  uint64_t number = atomic_load_explicit(&w->s->dispatch, memory_order_relaxed);
  bool is_stopping = number != 0 && number == atomic_load(&w->s->late);
  uint64_t ns = is_stopping ? NAP_MIN_NS : w->nap_ns;
  struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  futex_wait(&w->ends, 0, &t);
}

// Adds the time between two looks to the call-out that was running at both.
static void charge(struct cml_watchdog *w, uint64_t number, uint64_t elapsed_ns) {
  struct cml_state *s = w->s;
  uint64_t *seen = &w->charges[number % DEPTHS].number;
  uint64_t *charged = &w->charges[number % DEPTHS].charged_ns;
  if (*seen != number) *seen = number, *charged = 0;
  // A suspended or starved process is not charged for that time.
  *charged += elapsed_ns < 2 * w->nap_ns ? elapsed_ns : 2 * w->nap_ns;
  if (*charged < w->limit_ns && atomic_load(&s->late) != number) return;
  atomic_store(&s->late, number);
  signal_owner(s);  // again at each check, until the call-out has ended
}

static void *watch(void *argument) {
  struct cml_watchdog *w = argument;
  uint64_t last = 0, then = cml_clock_ns();
  int idle = 0;
  while (!atomic_load(&w->ends)) {
    uint64_t number = atomic_load_explicit(&w->s->dispatch, memory_order_relaxed);
    uint64_t now = cml_clock_ns();
    if (number == 0) idle++;
    else idle = 0;
    if (number != 0 && number == last) charge(w, number, now - then);
    last = number;
    then = now;
    if (idle >= IDLE_SAMPLES) {
      park(w);
      idle = 0;
      then = cml_clock_ns();
    } else {
      nap(w);
    }
  }
  return NULL;
}

static bool start(struct cml_state *s, uint64_t limit_ns) {
  struct cml_watchdog *w = calloc(1, sizeof *w);
  if (w == NULL || cml_stop_signal() == 0) {
    free(w);
    return false;
  }
  w->s = s;
  w->limit_ns = limit_ns;
  w->nap_ns = limit_ns / 8;
  if (w->nap_ns < NAP_MIN_NS) w->nap_ns = NAP_MIN_NS;
  if (w->nap_ns > NAP_MAX_NS) w->nap_ns = NAP_MAX_NS;
  syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);  // the host's signals must not come to this thread
  bool started = pthread_create(&w->thread, NULL, watch, w) == 0;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (!started) {
    free(w);
    return false;
  }
  pthread_setname_np(w->thread, "lua-watchdog");
  s->watchdog = w;
  return true;
}

bool cml_set_watchdog(cml_state *s, uint64_t limit_ns) {
  cml_watchdog_stop(s);
  return limit_ns == 0 || start(s, limit_ns);
}

void cml_watchdog_stop(struct cml_state *s) {
  struct cml_watchdog *w = s->watchdog;
  if (w == NULL) return;
  s->watchdog = NULL;
  atomic_store(&w->ends, 1);
  futex_wake(&w->ends);
  atomic_store(&s->parked, 0);
  futex_wake(&s->parked);
  pthread_join(w->thread, NULL);
  free(w);
}
