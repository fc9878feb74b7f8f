// Stops what runs too long. A call-out costs one store: its number. One thread of ours, for all
// states of the process, checks the numbers from time to time; if it sees the same one for too
// long, it signals the owner thread, whose handler sets a hook on the running coroutine. A state
// that is idle is parked: its next call-out wakes the thread, which sleeps without a time limit
// when all are.
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
  IDLE_SAMPLES = 3,    // how often to see nothing running before a state is parked
  NAP_MIN_NS = 1000000,
  NAP_MAX_NS = 50000000,
};

// The watch over one state.
struct cml_watchdog {
  struct cml_watchdog *next, **place;  // what follows, and what points here; NULL: it is parked
  struct cml_watchdog *next_woken;
  struct cml_state *s;
  uint64_t limit_ns, nap_ns;
  uint64_t last, then;        // what the last look saw, and when it was
  uint64_t due;               // when to look again
  int idle;                   // how often nothing was running
  // What each depth's call-out was charged so far.
  struct { uint64_t number, charged_ns; } charges[DEPTHS];
};

// The thread that watches; it ends when no state is left.
struct watcher {
  pthread_t thread;
  bool ends;
};

// The lock protects all of these except `woken` and `bell`.
static struct {
  pthread_mutex_t lock;
  struct watcher *watcher;
  size_t count;                          // of all watches
  struct cml_watchdog *busy;             // those that are not parked
  bool is_fenced;
  _Atomic(struct cml_watchdog *) woken;  // parked ones whose states run again
  _Atomic uint32_t bell;                 // counts what the thread must not sleep through
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

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
    atomic_store(&s->late, now);  // so that the watchdog, if there is one, follows up
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

bool cml_is_stopping(void) {
  for (struct cml_state *s = open_states; s != NULL; s = s->next_of_thread)
    if (s->stop != CML_STOP_NONE) return true;
  return false;
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
  if (open_states != NULL) open_states->previous_of_thread = s;
  open_states = s;
}

void cml_watchdog_closed(struct cml_state *s) {
  struct cml_state *next = s->next_of_thread, *previous = s->previous_of_thread;
  if (next != NULL) next->previous_of_thread = previous;
  if (previous != NULL) previous->next_of_thread = next;
  else if (open_states == s) open_states = next;
}

// Async-signal-safe, which glibc does not promise for its functions that do this.
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

bool cml_thread_interrupt(cml_state *s) {
  if ((int)syscall(SYS_gettid) != s->tid) return cml_interrupt(s);
  bool runs = false;
  for (struct cml_state *o = open_states; o != NULL; o = o->next_of_thread)
    if (cml_interrupt(o)) runs = true;
  return runs;
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

uint64_t cml_thread_callouts(cml_state *s) {
  if ((int)syscall(SYS_gettid) != s->tid) return cml_callout(s);
  uint64_t all = 0;
  for (struct cml_state *o = open_states; o != NULL; o = o->next_of_thread)
    all = all * 31 + cml_callout(o);
  return all;
}

// The thread -----------------------------------------------------------------------------------

uint64_t cml_clock_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void ring(void) {
  atomic_fetch_add(&all.bell, 1);
  syscall(SYS_futex, &all.bell, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

// Sleeps until a time, or until the bell has rung since it was `heard`.
static void sleep_until(uint64_t due, uint64_t now, uint32_t heard) {
  uint64_t ns = due > now ? due - now : 0;
  struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  syscall(SYS_futex, &all.bell, FUTEX_WAIT_PRIVATE, heard, due == UINT64_MAX ? NULL : &t, NULL, 0);
}

// On the owner thread, when a call-out of a parked state begins. A watch is on the stack only once:
// the watcher marks its state as parked again, after it has taken the watch from there.
void cml_unpark(struct cml_state *s) {
  if (atomic_exchange(&s->parked, 0) == 0) return;
  struct cml_watchdog *w = s->watchdog, *first = atomic_load(&all.woken);
  do w->next_woken = first;
  while (!atomic_compare_exchange_weak(&all.woken, &first, w));
  ring();
}

// Earlier time is not charged.
static void make_busy(struct cml_watchdog *w, uint64_t now) {
  w->last = 0;
  w->idle = 0;
  w->then = now;
  w->due = now + w->nap_ns;
  w->next = all.busy;
  w->place = &all.busy;
  if (w->next != NULL) w->next->place = &w->next;
  all.busy = w;
}

static void remove_busy(struct cml_watchdog *w) {
  *w->place = w->next;
  if (w->next != NULL) w->next->place = w->place;
  w->place = NULL;
}

static void take_woken(uint64_t now) {
  struct cml_watchdog *next, *w = atomic_exchange(&all.woken, NULL);
  for (; w != NULL; w = next) {
    next = w->next_woken;
    make_busy(w, now);
  }
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
  signal_owner(s);  // again at each look, until the call-out has ended
}

static void look(struct cml_watchdog *w, uint64_t now) {
  uint64_t number = atomic_load_explicit(&w->s->dispatch, memory_order_relaxed);
  w->idle = number == 0 ? w->idle + 1 : 0;
  if (number != 0 && number == w->last) charge(w, number, now - w->then);
  bool is_stopping = number != 0 && number == atomic_load(&w->s->late);
  w->last = number;
  w->then = now;
  w->due = now + (is_stopping ? NAP_MIN_NS : w->nap_ns);
}

// Looks at all whose time has come, and takes those that stay idle out, as parked.
static struct cml_watchdog *look_at_busy(uint64_t now) {
  struct cml_watchdog *parked = NULL;
  for (struct cml_watchdog *next, *w = all.busy; w != NULL; w = next) {
    next = w->next;
    if (w->due <= now) look(w, now);
    if (w->idle < IDLE_SAMPLES || !all.is_fenced) continue;
    atomic_store(&w->s->parked, 1);
    remove_busy(w);
    w->next = parked;
    parked = w;
  }
  return parked;
}

// An owner stores the number of its call-out and then reads `parked` without a fence, which would
// cost each call-out some nanoseconds; the barrier on all threads here replaces it: either we see
// the number, or the owner sees `parked`. (A kernel without the barrier: nothing is ever parked.)
static void settle(struct cml_watchdog *parked, uint64_t now) {
  if (parked == NULL) return;
  syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  for (struct cml_watchdog *next, *w = parked; w != NULL; w = next) {
    next = w->next;
    if (atomic_load(&w->s->dispatch) != 0 && atomic_exchange(&w->s->parked, 0) != 0)
      make_busy(w, now);
  }
}

static void *watch(void *argument) {
  struct watcher *me = argument;
  pthread_mutex_lock(&all.lock);
  while (!me->ends) {
    uint32_t heard = atomic_load(&all.bell);
    uint64_t now = cml_clock_ns(), due = UINT64_MAX;
    take_woken(now);
    settle(look_at_busy(now), now);
    for (struct cml_watchdog *w = all.busy; w != NULL; w = w->next)
      if (w->due < due) due = w->due;
    pthread_mutex_unlock(&all.lock);
    sleep_until(due, now, heard);
    pthread_mutex_lock(&all.lock);
  }
  pthread_mutex_unlock(&all.lock);
  return NULL;
}

// All of it counts where a process may have little memory; a sanitizer takes most of this.
enum { WATCHER_STACK = 256 << 10 };

// Starts the thread if there is none; under the lock.
static bool start_watcher(void) {
  if (all.watcher != NULL) return true;
  struct watcher *watcher = calloc(1, sizeof *watcher);
  if (watcher == NULL) return false;
  all.is_fenced = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  sigset_t every, old;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &old);  // the host's signals must not come to this thread
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, WATCHER_STACK);
  bool started = pthread_create(&watcher->thread, &attributes, watch, watcher) == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (!started) {
    free(watcher);
    return false;
  }
  pthread_setname_np(watcher->thread, "lua-watchdog");
  all.watcher = watcher;
  return true;
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
  pthread_mutex_lock(&all.lock);
  bool started = start_watcher();
  if (started) {
    s->watchdog = w;
    make_busy(w, cml_clock_ns());
    all.count++;
  }
  pthread_mutex_unlock(&all.lock);
  if (started) ring();
  else free(w);
  return started;
}

bool cml_set_watchdog(cml_state *s, uint64_t limit_ns) {
  cml_watchdog_stop(s);
  return limit_ns == 0 || start(s, limit_ns);
}

void cml_watchdog_stop(struct cml_state *s) {
  struct cml_watchdog *w = s->watchdog;
  if (w == NULL) return;
  s->watchdog = NULL;
  struct watcher *last = NULL;
  pthread_mutex_lock(&all.lock);
  take_woken(cml_clock_ns());  // it may be among them
  if (w->place != NULL) remove_busy(w);
  atomic_store(&s->parked, 0);
  if (--all.count == 0) {
    last = all.watcher;
    last->ends = true;
    all.watcher = NULL;
  }
  pthread_mutex_unlock(&all.lock);
  free(w);
  if (last == NULL) return;
  ring();
  pthread_join(last->thread, NULL);
  free(last);
}
