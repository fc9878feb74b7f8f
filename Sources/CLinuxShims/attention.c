// How another process of the same user makes a loop open its console: with a real-time signal.
// Until then this costs a program three system calls at its start, and no file, descriptor or
// thread.
#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

volatile int cmx_attention_word;
static int wake_fd;

// Functions, since SIGRTMIN is one. Two bare signals instead of one with a value: the latter is
// refused while the user's limit of pending signals is used up.
static int asking(void) { return SIGRTMIN + 4; }
static int interrupting(void) { return SIGRTMIN + 5; }

// The call-out that was busy at the last request, and since when.
static volatile uint64_t busy;
static volatile int64_t busy_since;

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// A client without an answer asks again. If the same call-out is still busy then, the console is
// served within it.
static void visit(void) {
  uint64_t now = cmx_ending_callout();
  bool is_same = now != 0 && now == busy;
  if (!is_same) busy_since = now_ns();
  busy = now;
  if (is_same) cmx_ending_visit_callout();
}

int64_t cmx_attention_busy_ns(void) { return now_ns() - busy_since; }

// A call-out that is the same at two interrupt requests is stopped.
static void interrupt(void) {
  static volatile uint64_t seen;
  uint64_t now = cmx_ending_callout();
  if (now != 0 && now == seen) cmx_ending_stop_callout();
  seen = now;
}

static void raise_attention(void) {
  cmx_attention_word = 1;
  if (wake_fd > 0) cmx_eventfd_signal(wake_fd);
}

static void on_asked(int number, siginfo_t *info, void *context) {
  (void)context;
  // Only a program with a console interrupts: to any other program the signal is a mistake.
  static volatile sig_atomic_t has_console;
  int saved = errno;
  if (number == interrupting()) {
    if (has_console) interrupt();
  } else if (info->si_code == POLL_HUP || number == SIGIO) {
    // The end of a console may have to stop what it runs: see cmx_attention_watch.
    raise_attention();
    cmx_ending_visit_callout();
  } else if (info->si_code <= 0) {  // not input of a console
    has_console = 1;
    raise_attention();
    visit();
  }
  errno = saved;
}

void cmx_attention_catch(int fd) {
  wake_fd = fd;
  struct sigaction old, new = {.sa_sigaction = on_asked, .sa_flags = SA_RESTART | SA_SIGINFO};
  sigfillset(&new.sa_mask);
  if (sigaction(asking(), NULL, &old) != 0) return;
  if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) return;
  // The other one first: a process that catches the first is assumed to catch both.
  if (sigaction(interrupting(), &new, NULL) == 0) sigaction(asking(), &new, NULL);
}

void cmx_attention_watch(int fd) {
  // The kernel sends SIGIO where too many real-time signals wait.
  struct sigaction old, new = {.sa_sigaction = on_asked, .sa_flags = SA_RESTART | SA_SIGINFO};
  sigfillset(&new.sa_mask);
  if (sigaction(SIGIO, NULL, &old) != 0) return;
  if (old.sa_handler == SIG_DFL && sigaction(SIGIO, &new, NULL) != 0) return;
  if (fcntl(fd, F_SETSIG, asking()) != 0 || fcntl(fd, F_SETOWN, getpid()) != 0) return;
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC);
}

enum { STRAYS_MAX = 32 };

// Real-time signals queue: a storm of them would keep the thread in here. Ignoring a signal also
// drops what waits of it. A watch may have begun on another thread meanwhile.
static void on_stray(int number) {
  static _Atomic int strays[_NSIG];
  if (number < 0 || number >= _NSIG || ++strays[number] < STRAYS_MAX) return;
  int saved = errno;
  struct sigaction old, new = {.sa_handler = SIG_IGN};
  if (sigaction(number, NULL, &old) == 0 && old.sa_handler == on_stray)
    sigaction(number, &new, NULL);
  errno = saved;
}

// The default action of a real-time signal would kill the process. These are caught until many
// have come, so that programs started by os.execute find the default action. The one that asks for
// a console is ignored where there is none, because a process that catches it is assumed to have
// one.
void cmx_attention_ignore_strays(void) {
  for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
    struct sigaction old, new = {.sa_flags = SA_RESTART | SA_ONSTACK};
    new.sa_handler = number == asking() ? SIG_IGN : on_stray;
    sigfillset(&new.sa_mask);  // a storm of many would nest until the signal stack is full
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
      sigaction(number, &new, NULL);
  }
}

bool cmx_attention_take(void) {
  if (cmx_attention_word == 0) return false;
  cmx_attention_word = 0;
  return true;
}

// A process's status lists the signals it catches; any other process would be killed.
static bool catches(int pid, int number) {
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  FILE *status = fopen(path, "re");
  if (status == NULL) return false;
  unsigned long long caught = 0;
  while (fgets(line, sizeof line, status) != NULL)
    if (strncmp(line, "SigCgt:", 7) == 0) sscanf(line + 7, "%llx", &caught);
  fclose(status);
  return caught >> (number - 1) & 1;
}

bool cmx_attention_is_caught(int pid) { return catches(pid, asking()); }

// Through a descriptor, so that the process ID cannot be reused before the signal.
int cmx_attention_ask(int pid, bool interrupts) {
  int process = (int)syscall(SYS_pidfd_open, pid, 0);
  if (process < 0) return -errno;
  int number = interrupts ? interrupting() : asking();
  int result = -ENOTSUP;
  if (catches(pid, asking()))
    result = syscall(SYS_pidfd_send_signal, process, number, NULL, 0) == 0 ? 0 : -errno;
  close(process);
  return result;
}
