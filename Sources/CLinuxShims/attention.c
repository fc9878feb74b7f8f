// How another process of the same user has a loop open its console: by a real-time signal. A
// program that nobody asks pays three system calls when it starts, and has no file, descriptor or
// thread for it.
#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

volatile int cmx_attention_word;
static int wake_fd;

// Functions, since SIGRTMIN is one. Two signals, and not one that carries a value: that is refused
// while the limit of pending signals of the user is spent, and a bare signal is not.
static int asking(void) { return SIGRTMIN + 4; }
static int interrupting(void) { return SIGRTMIN + 5; }

// The call-out that was busy at the last wish, and since when that is known.
static volatile uint64_t busy;
static volatile int64_t busy_since;

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// Whoever is not answered asks again. If the same call-out is still at work then, the console is
// served in the middle of it.
static void visit(void) {
  uint64_t now = cmx_ending_callout();
  bool is_same = now != 0 && now == busy;
  if (!is_same) busy_since = now_ns();
  busy = now;
  if (is_same) cmx_ending_visit_callout();
}

int64_t cmx_attention_busy_ns(void) { return now_ns() - busy_since; }

// A call-out that is the same at two wishes to interrupt is stopped.
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

static void on_asked(int number) {
  int saved = errno;
  if (number == interrupting()) {
    interrupt();
  } else {
    raise_attention();
    visit();
  }
  errno = saved;
}

void cmx_attention_catch(int fd) {
  wake_fd = fd;
  struct sigaction old, new = {.sa_handler = on_asked, .sa_flags = SA_RESTART};
  sigfillset(&new.sa_mask);
  if (sigaction(asking(), NULL, &old) != 0 || old.sa_handler != SIG_DFL) return;
  // The other one first: who catches the first is taken to catch both.
  if (sigaction(interrupting(), &new, NULL) == 0) sigaction(asking(), &new, NULL);
}

bool cmx_attention_take(void) {
  if (cmx_attention_word == 0) return false;
  cmx_attention_word = 0;
  return true;
}

// What a process catches stands in its status; to any other the signal would be deadly.
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

// By a descriptor of the process, so that it is not another one by the time it is signalled.
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
