// Processes that lost their parent and became children of this one, a subreaper.
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmx_process.h"

void cmx_adopt(void) { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

// The children of one thread.
static int children_of(const char *thread, int32_t *pids, int most) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%.20s/children", thread);
  FILE *file = fopen(path, "re");
  if (file == NULL) return 0;
  int count = 0;
  while (count < most && fscanf(file, "%d", &pids[count]) == 1) count++;
  fclose(file);
  return count;
}

int cmx_children(int32_t *pids, int most) {
  DIR *threads = opendir("/proc/self/task");
  if (threads == NULL) return 0;
  int count = 0;
  for (struct dirent *one; (one = readdir(threads)) != NULL;) {
    if (one->d_name[0] != '.') count += children_of(one->d_name, pids + count, most - count);
  }
  closedir(threads);
  return count;
}

bool cmx_shares_group(int32_t pid) { return getpgid(pid) == getpgrp(); }

int32_t cmx_group_of(int32_t pid) { return getpgid(pid); }

int cmx_command_of(int32_t pid, char *text, int size) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
  FILE *file = fopen(path, "re");
  if (file == NULL) return 0;
  int count = (int)fread(text, 1, (size_t)size, file);
  fclose(file);
  return count;
}

bool cmx_child_runs(int32_t pid) { return waitpid(pid, NULL, WNOHANG) == 0; }

void cmx_child_kill(int32_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
}

void cmx_child_await(int32_t pid, int timeout_ms) {
  int fd = (int)syscall(SYS_pidfd_open, pid, 0);
  if (fd < 0) return;
  struct pollfd asked = {.fd = fd, .events = POLLIN};
  poll(&asked, 1, timeout_ms);
  close(fd);
}

void cmx_rest(int timeout_ms) { poll(NULL, 0, timeout_ms); }
