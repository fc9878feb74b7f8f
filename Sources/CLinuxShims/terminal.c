// Terminals. Raw mode belongs to the terminal, not to the process: whoever dies in it leaves a user
// with a dead keyboard. So what it was is kept where a signal handler and `exit` find it.
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

// `fd` is a copy of our own, so that it is still good when the script has closed its own.
static struct {
  _Atomic int state;  // 0: free; 1: being filled; 2: raw
  int given, fd;
  struct termios before, raw;
} terminals[TERMINALS];

static _Atomic int raw_count;

// Those that end the process by default and that a terminal's user may cause or see, and the stop.
static const int ending[] = {SIGHUP,  SIGINT, SIGQUIT, SIGILL,  SIGABRT, SIGBUS, SIGFPE,
                             SIGSEGV, SIGTERM, SIGSYS, SIGXCPU, SIGTSTP};
enum { ENDINGS = sizeof ending / sizeof *ending };
static bool is_taken[ENDINGS];

bool cmx_is_terminal(int fd) { return isatty(fd) == 1; }

int cmx_terminal_size(int fd, int32_t *columns, int32_t *rows) {
  struct winsize size;
  if (ioctl(fd, TIOCGWINSZ, &size) != 0) return -errno;
  *columns = size.ws_col;
  *rows = size.ws_row;
  return 0;
}

int cmx_terminal_open(int fd) {
  char path[64] = "/dev/tty";
  if (fd >= 0) {
    if (!isatty(fd)) return -ENOTTY;
    // A pseudo-terminal's controlling side has no name that could be opened: it is copied.
    if (ttyname_r(fd, path, sizeof path) != 0) return cmx_duplicate(fd);
  }
  int opened = CALL(open, open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (opened < 0 && fd >= 0) return cmx_duplicate(fd);
  return cmx_above_standard_streams(opened);
}

// A process in the background is stopped by this call, unless it blocks the signal.
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

// Without waiting until everything was written: the other side may be gone.
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
    if (atomic_load(&terminals[i].state) == 2) set_now(terminals[i].fd, &terminals[i].before);
  errno = saved;
}

static void raw_again(void) {
  for (int i = 0; i < TERMINALS; i++)
    if (atomic_load(&terminals[i].state) == 2) set_now(terminals[i].fd, &terminals[i].raw);
}

static void take(int number);

// The signal does what it would have done, but with the terminal as it was.
static void on_ending(int number) {
  int saved = errno;
  cmx_terminals_restore();
  signal(number, SIG_DFL);
  sigset_t one, old;
  sigemptyset(&one);
  sigaddset(&one, number);
  raise(number);
  pthread_sigmask(SIG_UNBLOCK, &one, &old);  // here it ends, or stops until it is continued
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  take(number);
  raw_again();
  errno = saved;
}

static void take(int number) {
  struct sigaction new = {.sa_handler = on_ending, .sa_flags = SA_RESTART | SA_ONSTACK};
  sigfillset(&new.sa_mask);
  sigaction(number, &new, NULL);
}

// Only what nobody else handles: a program that catches a signal ends in its own time, by `exit`.
static void take_signals(void) {
  for (int i = 0; i < ENDINGS; i++) {
    struct sigaction old;
    is_taken[i] = sigaction(ending[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL;
    if (is_taken[i]) take(ending[i]);
  }
}

static void return_signals(void) {
  for (int i = 0; i < ENDINGS; i++) {
    struct sigaction now;
    if (!is_taken[i] || sigaction(ending[i], NULL, &now) != 0) continue;
    if (now.sa_handler == on_ending) signal(ending[i], SIG_DFL);
    is_taken[i] = false;
  }
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int place_of(int fd) {
  for (int i = 0; i < TERMINALS; i++)
    if (atomic_load(&terminals[i].state) == 2 && terminals[i].given == fd) return i;
  return -1;
}

static struct termios raw_of(struct termios mode, bool keeps_signals) {
  cfmakeraw(&mode);
  mode.c_oflag |= OPOST;  // as in libuv and readline: "\n" still begins a line
  if (keeps_signals) mode.c_lflag |= ISIG;
  return mode;
}

static int make_raw(int fd, bool keeps_signals) {
  int place = place_of(fd);
  if (place >= 0) {
    terminals[place].raw = raw_of(terminals[place].before, keeps_signals);
    return set(fd, &terminals[place].raw);
  }
  for (place = 0; place < TERMINALS; place++)
    if (atomic_load(&terminals[place].state) == 0) break;
  if (place == TERMINALS) return -EMFILE;
  struct termios before;
  if (tcgetattr(fd, &before) != 0) return -errno;
  int copy = cmx_duplicate(fd);
  if (copy < 0) return copy;
  static bool is_registered;
  if (!is_registered) is_registered = atexit(cmx_terminals_restore) == 0;
  if (atomic_load(&raw_count) == 0) take_signals();
  atomic_store(&terminals[place].state, 1);
  terminals[place].given = fd;
  terminals[place].fd = copy;
  terminals[place].before = before;
  terminals[place].raw = raw_of(before, keeps_signals);
  atomic_store(&terminals[place].state, 2);
  atomic_fetch_add(&raw_count, 1);
  int result = set(fd, &terminals[place].raw);
  return result;
}

int cmx_terminal_raw(int fd, bool keeps_signals) {
  pthread_mutex_lock(&lock);
  int result = make_raw(fd, keeps_signals);
  pthread_mutex_unlock(&lock);
  if (result < 0) cmx_terminal_restore(fd);
  return result;
}

void cmx_terminal_restore(int fd) {
  pthread_mutex_lock(&lock);
  int place = place_of(fd);
  if (place >= 0) {
    set_now(terminals[place].fd, &terminals[place].before);
    atomic_store(&terminals[place].state, 0);
    close(terminals[place].fd);
    if (atomic_fetch_sub(&raw_count, 1) == 1) return_signals();
  }
  pthread_mutex_unlock(&lock);
}
