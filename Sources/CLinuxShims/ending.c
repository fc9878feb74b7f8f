// The end of the program by SIGINT, SIGTERM, or a standard output without a reader: one word that
// every loop checks, a wake-up for a sleeping loop, and a stop for a busy call-out. All of it is
// safe in a signal handler.
#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// How long the current call-out, and each one after it, may run before it is stopped; and how long
// once so many had to be: a thousand tasks whose ends are busy must not take minutes.
enum { GRACE_NS = 300000000, STOPS = 2, SHORT_GRACE_NS = 1000000 };
// After so long the call-out has not noticed the stop, and will not: it is outside Lua.
enum { DEAF_MS = 3000 };

volatile int cmx_ending_word;
volatile bool cmx_ending_waits;
// What a signal asked for in the meantime.
static volatile int deferred;

static struct {
  struct cmx_callouts callouts;
  int wake_fd;
  timer_t ticks;
  bool ticks_exist;
  volatile uint64_t seen;  // the call-out at the last tick
  volatile int busy_ms;         // for how long it has been the same
  volatile int stops;           // how many call-outs had to be stopped
  volatile int signal;          // the first one that asked
  volatile int heard;      // the signal that the program took over, to end in its own time
  atomic_bool was_asked;   // by a signal, even if the program was already ending on its own
} ending;

static uint64_t callout_now(void) {
  return ending.callouts.number == NULL ? 0 : ending.callouts.number(ending.callouts.context);
}

// Where the user's limit of pending signals is used up, the system refuses a new timer; the
// process's built-in one always works.
static void set_ticks(long interval_ns) {
  if (ending.ticks_exist) {
    struct itimerspec ticks = {{0, interval_ns}, {0, interval_ns}};
    timer_settime(ending.ticks, 0, &ticks, NULL);
  } else {
    struct itimerval ticks = {{0, interval_ns / 1000}, {0, interval_ns / 1000}};
    setitimer(ITIMER_REAL, &ticks, NULL);
  }
}

static void hasten(void) {
  if (ending.wake_fd > 0) cmx_eventfd_signal(ending.wake_fd);
  ending.seen = callout_now();
  ending.stops = 0;
  set_ticks(GRACE_NS);
}

uint64_t cmx_ending_callout(void) { return callout_now(); }

int cmx_ending_hear(void) {
  int reason = cmx_ending_word;
  if (reason != SIGINT && reason != SIGTERM && reason != SIGHUP) return ending.heard;
  ending.heard = reason;  // first, so that a second signal always finds one of the two
  set_ticks(0);
  cmx_ending_word = 0;
  return reason;
}

// Called from signal handlers and from the loop's thread.
void cmx_ending_begin(int reason) {
  if (cmx_ending_word != 0) return;
  cmx_ending_word = reason;
  hasten();
}

static void ask_from_handler(int reason) {
  if (!cmx_ending_waits) return cmx_ending_begin(reason);
  if (cmx_ending_word != 0 || deferred != 0) return;
  deferred = reason;
  hasten();
}

void cmx_ending_take_deferred(void) {
  if (deferred == 0) return;
  if (cmx_ending_word == 0) cmx_ending_word = deferred;
  deferred = 0;
}

void cmx_ending_stop_callout(void) {
  if (ending.callouts.stop != NULL) ending.callouts.stop(ending.callouts.context);
}

void cmx_ending_visit_callout(void) {
  if (ending.callouts.visit != NULL) ending.callouts.visit(ending.callouts.context);
}

// The default action of a signal, delivered when the handler returns.
static void die(int number) {
  cmx_terminals_restore();
  cmx_log_write_out();
  signal(number, SIG_DFL);
  kill(getpid(), number);
}

// The first one asks; the second, of either kind, kills at once, as if never caught. They may
// arrive together: one handler interrupts the other, or they run in two threads.
static void on_request(int number, siginfo_t *info, void *state) {
  (void)state;
  if (number == SIGINT && info->si_code == SI_KERNEL && cmx_command_takes_interrupt()) return;
  int saved = errno;
  bool is_second = atomic_exchange(&ending.was_asked, true);
  if (is_second || cmx_ending_word > 0 || deferred > 0 || ending.heard > 0) {
    die(number);
  } else {
    ending.signal = number;
    ask_from_handler(number);
  }
  errno = saved;
}

static void give_up(void) {
  static const char text[] =
      "moonloop: killed by the signal: busy outside Lua for 3 s, where it cannot be stopped\n";
  ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
  (void)written;
  die(ending.signal);
}

// A call-out that is still the same as at the last tick has used up its time.
static void on_tick(int number) {
  (void)number;
  int saved = errno;
  uint64_t now = callout_now();
  bool is_same = now != 0 && now == ending.seen;
  if (is_same) {
    int grace = ending.stops < STOPS ? GRACE_NS : SHORT_GRACE_NS;
    if (ending.busy_ms == 0 && ++ending.stops == STOPS) set_ticks(SHORT_GRACE_NS);
    ending.busy_ms += grace / 1000000;
    cmx_ending_stop_callout();
    if (ending.busy_ms >= DEAF_MS && ending.signal != 0) give_up();
  } else {
    ending.busy_ms = 0;
  }
  ending.seen = now;
  errno = saved;
}

// Any broken stream is just an error, but a broken standard output ends the program. The handler
// cannot know which one broke, so it checks the standard output. A replay has nothing to end in
// order, and would leave the way of its recording.
static void on_broken_pipe(int number) {
  int saved = errno;
  struct pollfd out = {.fd = STDOUT_FILENO};
  if (poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP))) {
    if (cmx_intake_is_replayed) die(number);
    ask_from_handler(number);
  }
  errno = saved;
}

// Also for signals ignored at start: a program started in a script's background, or by a program
// that ignores SIGPIPE, must end in the same way. A script's blocking read is interrupted, not
// restarted, or ending would have to wait for input.
static void catch(int number, void (*handler)(int)) {
  struct sigaction new = {.sa_handler = handler};
  sigemptyset(&new.sa_mask);
  sigaction(number, &new, NULL);
}

static void catch_request(int number) {
  struct sigaction new = {.sa_sigaction = on_request, .sa_flags = SA_SIGINFO};
  sigemptyset(&new.sa_mask);
  sigaction(number, &new, NULL);
}

void cmx_ending_catch(struct cmx_callouts callouts, int wake_fd) {
  ending.callouts = callouts;
  ending.wake_fd = wake_fd;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
  ending.ticks_exist = timer_create(CLOCK_MONOTONIC, &event, &ending.ticks) == 0;
  // A thread of libdispatch starts programs with a mask that blocks nearly all signals.
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, NULL);
  catch(SIGALRM, on_tick);
  catch_request(SIGINT);
  catch_request(SIGTERM);
  catch(SIGPIPE, on_broken_pipe);
  cmx_attention_ignore_strays();
}

void cmx_ending_catch_hang_up(void) {
  struct sigaction old;
  if (sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler == SIG_DFL) catch_request(SIGHUP);
}

bool cmx_ending_is_caught(void) { return ending.wake_fd > 0; }

int cmx_ending_wake(int fd) {
  int old = ending.wake_fd;
  ending.wake_fd = fd;
  return old;
}

void cmx_ending_forget_callouts(void) { ending.callouts = (struct cmx_callouts){0}; }
