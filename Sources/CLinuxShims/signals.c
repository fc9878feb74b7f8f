// Signals as something to read. The kernel delivers a process's signal to any thread that does not
// block it, so blocking it on the loop's thread is not enough: on all other threads a handler
// passes it on.
#define _GNU_SOURCE
#include "cmx_signal.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "cmx_call.h"
#include "cmx_thread.h"

enum { NUMBERS = 65 };

static struct sigaction before[NUMBERS];
static _Atomic int32_t target[NUMBERS];

static sigset_t only(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  return set;
}

int cmx_signal_open(const int32_t *numbers, int count) {
  sigset_t set;
  sigemptyset(&set);
  for (int i = 0; i < count; i++) sigaddset(&set, numbers[i]);
  int fd = CALL(signalfd, signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  return cmx_above_standard_streams(fd);
}

int cmx_signal_read(int fd, struct cmx_signal *signals, int count) {
  struct signalfd_siginfo found[16];
  if (count > 16) count = 16;
  ssize_t size = CALL_AGAIN(read, fd, read(fd, found, (size_t)count * sizeof *found));
  if (size < 0) return (int)size;
  CMX_AT_MOST(size, (size_t)count * sizeof *found);
  CMX_DATA(found, size);
  int read = (int)((size_t)size / sizeof *found);
  for (int i = 0; i < read; i++)
    signals[i] = (struct cmx_signal){
        .number = (int32_t)found[i].ssi_signo,
        .pid = (int32_t)found[i].ssi_pid,
        .uid = found[i].ssi_uid,
        .value = found[i].ssi_int,
    };
  return read;
}

static bool block(int number) {
  sigset_t set = only(number), old;
  pthread_sigmask(SIG_BLOCK, &set, &old);
  return sigismember(&old, number) == 1;
}

// In a replay signals belong to the replaying program.
bool cmx_signal_block(int number) {
  return CMX_TAKEN_IN(cmx_tag_signal_block, number, block(number));
}

void cmx_signal_unblock(int number) {
  if (cmx_intake_is_replayed) return;
  sigset_t set = only(number);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

// Runs on a thread that does not block the signal: resends it, with all its details, to the loop's
// thread. If that is this thread, its mask was changed in the meantime, or if it has gone: blocks
// the signal here, where it waits for a reader.
static void pass_on(int number, siginfo_t *info, void *context) {
  int saved = errno;
  int32_t thread = atomic_load(&target[number]);
  bool isElsewhere = thread != (int32_t)syscall(SYS_gettid);
  if (!isElsewhere || syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, number, info) != 0) {
    sigaddset(&((ucontext_t *)context)->uc_sigmask, number);
    syscall(SYS_rt_sigqueueinfo, getpid(), number, info);
  }
  errno = saved;
}

static int divert(int number, int32_t thread) {
  atomic_store(&target[number], thread);
  struct sigaction new = {
      .sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
  sigfillset(&new.sa_mask);
  return sigaction(number, &new, &before[number]) == 0 ? 0 : -errno;
}

int cmx_signal_divert(int number, int32_t thread) {
  return CMX_TAKEN_IN(cmx_tag_signal_divert, number, divert(number, thread));
}

void cmx_signal_pass_to(int number, int32_t thread) { atomic_store(&target[number], thread); }

void cmx_signal_drop(int number) {
  if (cmx_intake_is_replayed) return;
  sigset_t set = only(number);
  while (sigtimedwait(&set, NULL, &(struct timespec){0}) == number) {}
}

void cmx_signal_restore(int number) {
  CMX_UNLESS_REPLAYED(sigaction(number, &before[number], NULL));
}

#ifdef __GLIBC__
const char *cmx_signal_name(int number) { return sigabbrev_np(number); }
#else
const char *cmx_signal_name(int number) {
#define NAME(name) [SIG##name] = #name
  static const char *const names[] = {
    NAME(HUP), NAME(INT), NAME(QUIT), NAME(ILL), NAME(TRAP), NAME(ABRT), NAME(BUS), NAME(FPE),
    NAME(KILL), NAME(USR1), NAME(SEGV), NAME(USR2), NAME(PIPE), NAME(ALRM), NAME(TERM),
    NAME(STKFLT), NAME(CHLD), NAME(CONT), NAME(STOP), NAME(TSTP), NAME(TTIN), NAME(TTOU), NAME(URG),
    NAME(XCPU), NAME(XFSZ), NAME(VTALRM), NAME(PROF), NAME(WINCH), NAME(POLL), NAME(PWR), NAME(SYS),
  };
#undef NAME
  return number >= 0 && number < (int)(sizeof names / sizeof *names) ? names[number] : NULL;
}
#endif

int cmx_signal_realtime_first(void) { return SIGRTMIN; }
int cmx_signal_realtime_last(void) { return SIGRTMAX; }

static bool is_blocked_here(int number) {
  sigset_t now;
  return pthread_sigmask(SIG_BLOCK, NULL, &now) == 0 && sigismember(&now, number) == 1;
}

static int send_signal(int32_t pid, int number) {
  // To this thread: it is pending here when this returns, without a detour through a thread that
  // does not block it.
  if (pid == getpid() && number > 0 && is_blocked_here(number)) {
    if (syscall(SYS_tgkill, pid, syscall(SYS_gettid), number) == 0) return 0;
    // The user's signal queue is full. A plain kill needs no queue: the signal arrives, but without
    // sender and count.
    if (errno != EAGAIN) return -errno;
  }
  return kill(pid, number) == 0 ? 0 : -errno;
}

int cmx_signal_send(int32_t pid, int number) {
  return CMX_TAKEN_IN(cmx_tag_signal_send, number, send_signal(pid, number));
}
