// Child processes. The child shares our memory until its program begins (as with vfork): no page
// tables are copied, and it reports failures with a plain store. So it makes only raw system calls,
// which no sanitizer or library intercepts, and takes no lock.
#define _GNU_SOURCE
#include "cmx_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmx_call.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
// The sanitizer's `clone` assumes that the child has its own memory, and loses its records. This is
// the C library's.
int __clone(int (*begin)(void *), void *stack, int flags, void *argument, ...);
#define START_CHILD __clone
#endif
#endif
#ifndef START_CHILD
#define START_CHILD clone
#endif

#ifndef P_PIDFD
#define P_PIDFD 3
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

enum { STACK_BYTES = 64 << 10, SIGNAL_BYTES = 8 };

#define CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

// Shared by parent and child.
struct birth {
  const struct cmx_spawn *plan;
  volatile int stage, code;
};

// ---- In the child --------------------------------------------------------------------------

CHILD static int fail(struct birth *birth, int stage) {
  birth->code = errno;
  birth->stage = stage;
  syscall(SYS_exit_group, 127);
  return 0;
}

// Ignored ones too: the program must start as from a shell.
CHILD static void reset_signals(void) {
  uint64_t action[8] = {0};  // SIG_DFL, no flags, an empty mask, in any layout
  for (int number = 1; number <= 64; number++)
    syscall(SYS_rt_sigaction, number, action, NULL, SIGNAL_BYTES);
}

CHILD static bool set_streams(int32_t *fds, int count) {
  for (int i = 0; i < count; i++) {
    if (fds[i] == i || fds[i] < 0 || fds[i] >= count) continue;
    fds[i] = (int)syscall(SYS_fcntl, fds[i], F_DUPFD_CLOEXEC, count);  // before it is overwritten
    if (fds[i] < 0) return false;
  }
  for (int i = 0; i < count; i++) {
    if (fds[i] < 0) syscall(SYS_close, i);
    else if (fds[i] == i ? syscall(SYS_fcntl, i, F_SETFD, 0) < 0
                         : syscall(SYS_dup3, fds[i], i, 0) < 0)
      return false;
  }
  // Lua's files, and those of the host, need not be closed on exec.
  syscall(SYS_close_range, (unsigned)count, ~0u, CLOSE_RANGE_CLOEXEC);
  return true;
}

// The group first: a process that is no longer root cannot change it.
CHILD static bool set_owner(const struct cmx_spawn *plan) {
  bool is_root = syscall(SYS_geteuid) == 0;
  if (is_root && (plan->user >= 0 || plan->group >= 0) && syscall(SYS_setgroups, 0, NULL) < 0)
    return false;
  if (plan->group >= 0 && syscall(SYS_setgid, plan->group) < 0) return false;
  return plan->user < 0 || syscall(SYS_setuid, plan->user) == 0;
}

CHILD static void run_program(const struct cmx_spawn *plan) {
  bool is_denied = false;
  for (const char *const *path = plan->programs; *path != NULL; path++) {
    syscall(SYS_execve, *path, plan->arguments, plan->environment);
    if (errno == EACCES) is_denied = true;
    else if (errno != ENOENT && errno != ENOTDIR && errno != ESTALE && errno != ENODEV) return;
  }
  if (is_denied) errno = EACCES;
}

CHILD static int begin(void *argument) {
  struct birth *birth = argument;
  const struct cmx_spawn *plan = birth->plan;
  reset_signals();
  if (plan->leadsSession) {
    if (syscall(SYS_setsid) < 0) return fail(birth, cmx_spawn_group);
  } else if (plan->leadsGroup) {
    if (syscall(SYS_setpgid, 0, 0) < 0) return fail(birth, cmx_spawn_group);
  }
  if (plan->folder != NULL && syscall(SYS_chdir, plan->folder) < 0)
    return fail(birth, cmx_spawn_folder);
  if (!set_streams(plan->streams, plan->count)) return fail(birth, cmx_spawn_streams);
  if (plan->ownsTerminal && syscall(SYS_ioctl, 0, TIOCSCTTY, 0) < 0)
    return fail(birth, cmx_spawn_streams);
  if (!set_owner(plan)) return fail(birth, cmx_spawn_owner);
  uint64_t none = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, SIGNAL_BYTES);
  run_program(plan);
  return fail(birth, cmx_spawn_program);
}

// ---- In the parent -------------------------------------------------------------------------

// Reaps a child that never became a program.
static void bury(int fd) {
  siginfo_t info;
  int result;
  do result = waitid(P_PIDFD, (id_t)fd, &info, WEXITED | __WALL);
  while (result < 0 && errno == EINTR);
  close(fd);
}

static int start(struct birth *birth, struct cmx_spawned *spawned) {
  void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return -errno;
  // No signal handler of ours may run in the child, since it would run in our memory.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int fd = -1;
  int flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD;
  int pid = CALL(clone, START_CHILD(begin, (char *)stack + STACK_BYTES, flags, birth, &fd));
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  munmap(stack, STACK_BYTES);
  if (pid < 0) return pid;
  if (birth->code != 0) {
    bury(fd);
    return -birth->code;
  }
  *spawned = (struct cmx_spawned){.pid = pid, .fd = fd};
  return 0;
}

static int child_start(const struct cmx_spawn *plan, struct cmx_spawned *spawned) {
  struct birth birth = {.plan = plan};
  int result = start(&birth, spawned);
  if (result < 0) spawned->stage = birth.stage;
  if (result < 0 || spawned->fd > 2) return result;
  int moved = cmx_above_standard_streams(spawned->fd);
  if (moved < 0) kill(spawned->pid, SIGKILL);
  spawned->fd = moved;
  return moved < 0 ? moved : 0;
}

int cmx_child_start(const struct cmx_spawn *plan, struct cmx_spawned *spawned) {
  int result = CMX_TAKEN_IN(cmx_tag_spawn, 0, child_start(plan, spawned));
  CMX_DATA(spawned, sizeof *spawned);
  return result;
}

static int exit_of(int fd, bool takes, struct cmx_exit *status) {
  siginfo_t info = {0};
  int flags = WEXITED | WNOHANG | __WALL | (takes ? 0 : WNOWAIT);
  int result;
  do result = waitid(P_PIDFD, (id_t)fd, &info, flags);
  while (result < 0 && errno == EINTR);
  if (result < 0) return -errno;
  if (info.si_pid == 0) return 0;
  bool exited = info.si_code == CLD_EXITED;
  *status = (struct cmx_exit){
      .code = exited ? info.si_status : -1, .signal = exited ? 0 : info.si_status};
  return 1;
}

int cmx_exit_of(int fd, bool takes, struct cmx_exit *status) {
  int result = CMX_TAKEN_IN(cmx_tag_exit_of, fd, exit_of(fd, takes, status));
  if (result == 1) CMX_DATA(status, sizeof *status);
  return result;
}

int cmx_process_signal(int fd, int number) {
  return CMX_TAKEN_IN(
      cmx_tag_process_signal, fd,
      syscall(SYS_pidfd_send_signal, fd, number, NULL, 0) == 0 ? 0 : -errno);
}

static int64_t milliseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int await_exits(const int32_t *fds, int count, int timeout_ms) {
  int64_t deadline = milliseconds_now() + timeout_ms;
  int left = 0;
  for (int i = 0; i < count; i++) {
    struct pollfd asked = {.fd = fds[i], .events = POLLIN};
    int ready;
    do {
      int64_t rest = deadline - milliseconds_now();
      ready = poll(&asked, 1, rest > 0 ? (int)rest : 0);
    } while (ready < 0 && errno == EINTR);
    if (ready <= 0) left++;
  }
  return left;
}

int cmx_await_exits(const int32_t *fds, int count, int timeout_ms) {
  return CMX_TAKEN_IN(cmx_tag_await_exits, count, await_exits(fds, count, timeout_ms));
}

// ---- Descriptors ---------------------------------------------------------------------------

int cmx_pipe(int32_t ends[2]) {
  int pair[2];
  int result = CALL(pipe, pipe2(pair, O_CLOEXEC));
  if (result < 0) return result;
  CMX_DATA(pair, sizeof pair);
  for (int i = 0; i < 2; i++) {
    int moved = cmx_above_standard_streams(pair[i]);
    if (moved < 0) {
      cmx_close(pair[1 - i]);
      if (i == 1) cmx_close(ends[0]);
      return moved;
    }
    ends[i] = pair[i] = moved;
  }
  return 0;
}

static int set_size(int fd, int columns, int rows) {
  struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};
  return ioctl(fd, TIOCSWINSZ, &size);
}

static int open_pty(int columns, int rows) {
  int fd = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK), is_locked = 0;
  if (fd < 0 || (ioctl(fd, TIOCSPTLCK, &is_locked) == 0 && set_size(fd, columns, rows) == 0))
    return fd;
  int code = errno;
  close(fd);
  errno = code;
  return -1;
}

int cmx_pty(int32_t sides[2], int columns, int rows) {
  int ours = cmx_above_standard_streams(CALL(open, open_pty(columns, rows)));
  if (ours < 0) return ours;
  int flags = O_RDWR | O_NOCTTY | O_CLOEXEC;
  int theirs = cmx_above_standard_streams(CALL_ON(open, ours, ioctl(ours, TIOCGPTPEER, flags)));
  if (theirs < 0) {
    cmx_close(ours);
    return theirs;
  }
  sides[0] = ours;
  sides[1] = theirs;
  return 0;
}

int cmx_pty_resize(int fd, int columns, int rows) {
  return CMX_TAKEN_IN(
      cmx_tag_terminal_size, fd, set_size(fd, columns, rows) == 0 ? 0 : -errno);
}

int cmx_null(void) {
  return cmx_above_standard_streams(CALL(open, open("/dev/null", O_RDWR | O_CLOEXEC)));
}

int cmx_duplicate(int fd) {
  int copy = CALL_ON(fcntl, fd, fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (cmx_intake_here != NULL) cmx_intake_here->copied(fd, copy);
  return copy;
}

static bool has_hung_up(int fd) {
  struct pollfd asked = {.fd = fd};
  int count;
  do count = poll(&asked, 1, 0);
  while (count < 0 && errno == EINTR);
  return count > 0;
}

bool cmx_has_hung_up(int fd) { return CMX_TAKEN_IN(cmx_tag_hung_up, fd, has_hung_up(fd)); }

static int hangup_open(const int32_t *fds, int count) {
  int set = cmx_epoll_create();
  if (set < 0) return set;
  for (int i = 0; i < count; i++) {
    struct epoll_event event = {.events = 0};  // hang-ups and errors are always reported
    if (epoll_ctl(set, EPOLL_CTL_ADD, fds[i], &event) != 0 && errno != EEXIST) {
      int code = errno;
      close(set);
      return -code;
    }
  }
  return set;
}

int cmx_hangup_open(const int32_t *fds, int count) {
  return CMX_TAKEN_IN(cmx_tag_hangup_open, count, hangup_open(fds, count));
}

static int open_alarm(int64_t nanoseconds) {
  int fd = CALL(timerfd_create, timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  fd = cmx_above_standard_streams(fd);
  if (fd < 0) return fd;
  if (nanoseconds < 1) nanoseconds = 1;
  struct itimerspec once = {.it_value = {nanoseconds / 1000000000, nanoseconds % 1000000000}};
  timerfd_settime(fd, 0, &once, NULL);
  return fd;
}

int cmx_alarm(int64_t nanoseconds) {
  return CMX_TAKEN_IN(cmx_tag_alarm, 0, open_alarm(nanoseconds));
}

bool cmx_usage_of(int32_t pid, struct cmx_process_usage *usage) {
  clockid_t clock;
  struct timespec time;
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) < 0) return false;
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
  FILE *file = fopen(path, "re");
  long pages = 0;
  if (file == NULL) return false;
  if (fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
  fclose(file);
  usage->nanoseconds = time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
  usage->resident = (int64_t)pages * sysconf(_SC_PAGESIZE);
  return true;
}

// ---- The process itself --------------------------------------------------------------------

int32_t cmx_own_id(void) { return CMX_TAKEN_IN(cmx_tag_own_id, 0, getpid()); }

char **cmx_environment(void) { return environ; }

void cmx_keep_children(void) {
  struct sigaction action;
  if (sigaction(SIGCHLD, NULL, &action) != 0) return;
  if (action.sa_handler != SIG_IGN && !(action.sa_flags & SA_NOCLDWAIT)) return;
  if (action.sa_handler == SIG_IGN) action.sa_handler = SIG_DFL;
  action.sa_flags &= ~SA_NOCLDWAIT;
  sigaction(SIGCHLD, &action, NULL);
}
