// Terminals. Raw mode belongs to the terminal, not to the process: a process that dies in it leaves
// an unusable keyboard. So the state to restore is kept where a signal handler and `exit` find it.
#define _GNU_SOURCE
#include "cmx_terminal.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cmx_call.h"

enum { TERMINALS = 8 };

// `fd` is our own copy, still valid when the script has closed its own.
static struct {
  _Atomic bool is_raw;  // otherwise the slot is free
  int fd;
  struct termios old, raw;
} terminals[TERMINALS];

static _Atomic int raw_count;

// The signals that end the process: requests; from SIGQUIT on, faults; and, last, the one that
// stops it. Without those that are caught or ignored elsewhere: SIGPIPE, SIGXFSZ and SIGALRM.
static const int ending[] = {SIGHUP,  SIGINT,  SIGTERM, SIGUSR1, SIGUSR2,   SIGVTALRM, SIGPROF,
                             SIGIO,   SIGPWR,  SIGXCPU, SIGSTKFLT, SIGQUIT, SIGILL,    SIGTRAP,
                             SIGABRT, SIGBUS,  SIGFPE,  SIGSEGV, SIGSYS,    SIGTSTP};
enum { ENDINGS = sizeof ending / sizeof *ending, FIRST_FAULT = 11, STOP = ENDINGS - 1 };
static struct sigaction before[ENDINGS];
static bool is_taken[ENDINGS];

bool cmx_is_terminal(int fd) {
  return CMX_TAKEN_IN(cmx_tag_is_terminal, fd, isatty(fd) == 1);
}

static int terminal_size(int fd, int32_t *columns, int32_t *rows) {
  struct winsize size;
  if (ioctl(fd, TIOCGWINSZ, &size) != 0) return -errno;
  *columns = size.ws_col;
  *rows = size.ws_row;
  return 0;
}

int cmx_terminal_size(int fd, int32_t *columns, int32_t *rows) {
  int result = CMX_TAKEN_IN(cmx_tag_terminal_size, fd, terminal_size(fd, columns, rows));
  if (result == 0) {
    CMX_DATA(columns, sizeof *columns);
    CMX_DATA(rows, sizeof *rows);
  }
  return result;
}

static int terminal_open(int fd) {
  char path[64] = "/dev/tty";
  if (fd >= 0) {
    if (!isatty(fd)) return -ENOTTY;
    // A pseudo-terminal's controlling side cannot be opened by name: it is duplicated.
    if (ttyname_r(fd, path, sizeof path) != 0) return cmx_duplicate(fd);
  }
  int opened = CALL(open, open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (opened < 0 && fd >= 0) return cmx_duplicate(fd);
  return cmx_above_standard_streams(opened);
}

int cmx_terminal_open(int fd) {
  int opened = CMX_TAKEN_IN(cmx_tag_terminal_open, fd, terminal_open(fd));
  if (cmx_intake_here != NULL) cmx_intake_here->copied(fd < 0 ? 1 : fd, opened);
  return opened;
}

// This call stops a process in the background, unless it blocks the signal.
static int set(int fd, const struct termios *mode) {
  sigset_t output, old;
  sigemptyset(&output);
  sigaddset(&output, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &output, &old);
  int result;
  do result = tcsetattr(fd, TCSADRAIN, mode);
  while (result != 0 && errno == EINTR);
  int code = errno;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return result == 0 ? 0 : -code;
}

// Without waiting for output to drain: the other side may be gone.
static void set_now(int fd, const struct termios *mode) {
  sigset_t output, old;
  sigemptyset(&output);
  sigaddset(&output, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &output, &old);
  tcsetattr(fd, TCSANOW, mode);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void cmx_terminals_restore(void) {
  if (atomic_load(&raw_count) == 0) return;
  int saved = errno;
  for (int i = 0; i < TERMINALS; i++)
    if (atomic_load(&terminals[i].is_raw)) set_now(terminals[i].fd, &terminals[i].old);
  errno = saved;
}

static void raw_again(void) {
  for (int i = 0; i < TERMINALS; i++)
    if (atomic_load(&terminals[i].is_raw)) set_now(terminals[i].fd, &terminals[i].raw);
}

static void take(int place);

// Stops here until continued.
static void stop(void) {
  sigaction(SIGTSTP, &before[STOP], NULL);
  sigset_t one, old;
  sigemptyset(&one);
  sigaddset(&one, SIGTSTP);
  raise(SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &one, &old);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  take(STOP);
  raw_again();
}

// The signal has its usual effect, but with the terminal restored.
static void on_ending(int number) {
  int saved = errno;
  cmx_terminals_restore();
  if (number == SIGTSTP) {
    stop();
  } else {
    for (int i = 0; i < ENDINGS; i++)
      if (ending[i] == number) sigaction(number, &before[i], NULL);
    raise(number);  // delivered after the return; a fault occurs again by itself
  }
  errno = saved;
}

static void take(int place) {
  struct sigaction new = {.sa_handler = on_ending, .sa_flags = SA_RESTART | SA_ONSTACK};
  sigfillset(&new.sa_mask);
  sigaction(ending[place], &new, NULL);
}

// A program that catches a request ends in its own time, with `exit`. Code that catches a fault,
// like the Swift runtime, reports it and ends: there the terminal is restored first.
static void take_signals(void) {
  for (int i = 0; i < ENDINGS; i++) {
    bool isKnown = sigaction(ending[i], NULL, &before[i]) == 0;
    bool isFault = i >= FIRST_FAULT && i != STOP;
    is_taken[i] = isKnown && (isFault || before[i].sa_handler == SIG_DFL);
    if (is_taken[i]) take(i);
  }
}

static void return_signals(void) {
  for (int i = 0; i < ENDINGS; i++) {
    struct sigaction now;
    if (!is_taken[i] || sigaction(ending[i], NULL, &now) != 0) continue;
    if (now.sa_handler == on_ending) sigaction(ending[i], &before[i], NULL);
    is_taken[i] = false;
  }
}

static void put_back(int place) {
  set_now(terminals[place].fd, &terminals[place].old);
  atomic_store(&terminals[place].is_raw, false);
  close(terminals[place].fd);
  if (atomic_fetch_sub(&raw_count, 1) == 1) return_signals();
}

static struct termios raw_of(struct termios mode, bool keeps_signals) {
  cfmakeraw(&mode);
  mode.c_oflag |= OPOST;  // as in libuv and readline: "\n" still begins a line
  if (keeps_signals) mode.c_lflag |= ISIG;
  return mode;
}

// One thread at a time takes and frees slots; signal handlers only read them.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int make_raw(int fd, bool keeps_signals) {
  int place = 0;
  while (place < TERMINALS && atomic_load(&terminals[place].is_raw)) place++;
  if (place == TERMINALS) return -EMFILE;
  struct termios old;
  if (tcgetattr(fd, &old) != 0) return -errno;
  int copy = cmx_duplicate(fd);
  if (copy < 0) return copy;
  static bool is_registered;
  if (!is_registered) is_registered = atexit(cmx_terminals_restore) == 0;
  if (atomic_load(&raw_count) == 0) take_signals();
  terminals[place].fd = copy;
  terminals[place].old = old;
  terminals[place].raw = raw_of(old, keeps_signals);
  atomic_store(&terminals[place].is_raw, true);
  atomic_fetch_add(&raw_count, 1);
  int result = set(fd, &terminals[place].raw);
  if (result == 0) return place;
  put_back(place);
  return result;
}

static int terminal_raw(int fd, bool keeps_signals) {
  pthread_mutex_lock(&lock);
  int result = make_raw(fd, keeps_signals);
  pthread_mutex_unlock(&lock);
  return result;
}

int cmx_terminal_raw(int fd, bool keeps_signals) {
  return CMX_TAKEN_IN(cmx_tag_terminal_raw, fd, terminal_raw(fd, keeps_signals));
}

void cmx_terminal_restore(int place) {
  if (cmx_intake_is_replayed) return;
  pthread_mutex_lock(&lock);
  if (atomic_load(&terminals[place].is_raw)) put_back(place);
  pthread_mutex_unlock(&lock);
}
