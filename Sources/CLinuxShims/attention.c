// How another process of the same user has a loop open its console: by a real-time signal. A
// program that nobody asks pays one system call for it when it starts, and has no file, descriptor
// or thread for it.
#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OPEN, INTERRUPT };  // what the signal carries

volatile int cmx_attention_word;
static int wake_fd;

// By name, since SIGRTMIN is a call and what libraries take for themselves begins there.
static int asking(void) { return SIGRTMIN + 4; }

// A call-out that is the same at two wishes to interrupt is stopped.
static void interrupt(void) {
  static volatile uint64_t seen;
  uint64_t now = cmx_ending_callout();
  if (now != 0 && now == seen) cmx_ending_stop_callout();
  seen = now;
}

static void on_asked(int number, siginfo_t *info, void *context) {
  (void)number, (void)context;
  int saved = errno;
  if (info->si_code == SI_QUEUE && info->si_value.sival_int == INTERRUPT) {
    interrupt();
  } else {
    cmx_attention_word = 1;
    if (wake_fd > 0) cmx_eventfd_signal(wake_fd);
  }
  errno = saved;
}

void cmx_attention_catch(int fd) {
  wake_fd = fd;
  struct sigaction old, new = {.sa_sigaction = on_asked, .sa_flags = SA_RESTART | SA_SIGINFO};
  if (sigaction(asking(), NULL, &old) != 0 || old.sa_handler != SIG_DFL) return;
  sigfillset(&new.sa_mask);
  sigaction(asking(), &new, NULL);
}

void cmx_attention_wake(int fd) { wake_fd = fd; }

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
  siginfo_t info = {
      .si_signo = asking(), .si_code = SI_QUEUE, .si_pid = getpid(), .si_uid = getuid()};
  info.si_value.sival_int = interrupts ? INTERRUPT : OPEN;
  int process = (int)syscall(SYS_pidfd_open, pid, 0);
  if (process < 0) return -errno;
  int result = -ENOTSUP;
  if (catches(pid, asking()))
    result = syscall(SYS_pidfd_send_signal, process, asking(), &info, 0) == 0 ? 0 : -errno;
  close(process);
  return result;
}
