// The system calls of the loop's kernel. All system calls of the core and the layers above it are
// in this target: errno is read, EINTR retried, and faults are injected here.
#define _GNU_SOURCE
#include "cmx_call.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

// ---- Faults --------------------------------------------------------------------------------

static _Thread_local struct {
  int call, skip, times, code, strikes;
} fault;

void cmx_fault_set(int call, int skip, int times, int code) {
  fault.call = call;
  fault.skip = skip;
  fault.times = times;
  fault.code = code;
  fault.strikes = 0;
}

int cmx_fault_strikes(void) { return fault.strikes; }

static __attribute__((noinline)) int fault_count(void) {
  if (fault.skip > 0) {
    fault.skip--;
    return 0;
  }
  if (fault.times <= 0) return 0;
  fault.times--;
  fault.strikes++;
  return fault.code;
}

int cmx_fault_take(int call) {
  return __builtin_expect(fault.call == call, 0) ? fault_count() : 0;
}

// ---- Descriptors ---------------------------------------------------------------------------

// Moves a new descriptor above the standard streams: a program may have been started with them
// closed, and what it prints must not reach the loop. Takes and returns -errno unchanged.
int cmx_above_standard_streams(int fd) {
  if (fd < 0 || fd > 2) return fd;
  int moved = CALL(fcntl, fcntl(fd, F_DUPFD_CLOEXEC, 3));
  CMX_UNLESS_REPLAYED(close(fd));
  return moved;
}

int cmx_eventfd(void) {
  return cmx_above_standard_streams(CALL(eventfd, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
}

void cmx_eventfd_signal(int fd) {
  if (cmx_intake_is_replayed) return;
  ssize_t written;
  do written = write(fd, &(uint64_t){1}, sizeof(uint64_t));
  while (written < 0 && errno == EINTR);
}

int cmx_socketpair(int pair[2]) {
  int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  int result = CALL(socketpair, socketpair(AF_UNIX, type, 0, pair));
  if (result < 0) return result;
  CMX_DATA(pair, 2 * sizeof *pair);
  for (int i = 0; i < 2; i++) {
    int moved = cmx_above_standard_streams(pair[i]);
    if (moved < 0) {
      cmx_close(pair[1 - i]);
      return moved;
    }
    pair[i] = moved;
  }
  return 0;
}

int cmx_timerfd(void) {
  int fd = CALL(timerfd_create, timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  return cmx_above_standard_streams(fd);
}

int cmx_timerfd_watch(int fd) {
  struct itimerspec never = {.it_value.tv_sec = INT64_MAX};
  int flags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
  return CALL(timerfd_settime, timerfd_settime(fd, flags, &never, NULL));
}

intptr_t cmx_read(int fd, void *buffer, size_t count) {
  intptr_t result = CALL_AGAIN(read, fd, read(fd, buffer, count));
  cmx_received(result);
  CMX_AT_MOST(result, count);
  if (result > 0) CMX_DATA(buffer, result);
  return result;
}

intptr_t cmx_write(int fd, const void *bytes, size_t count) {
  intptr_t result = CALL_AGAIN(write, fd, write(fd, bytes, count));
  cmx_sent();
  CMX_AT_MOST(result, count);
  if (__builtin_expect(cmx_intake_here != NULL, 0)) {
    cmx_intake_here->given(bytes, count);
    if (cmx_intake_is_replayed) cmx_intake_here->echo(fd, bytes, result);
  }
  return result;
}

void cmx_write_all(int fd, const void *bytes, size_t count) {
  for (intptr_t written; count > 0; count -= (size_t)written) {
    written = cmx_write(fd, bytes, count);
    if (written <= 0) return;
    bytes = (const char *)bytes + written;
  }
}

int cmx_set_nonblocking(int fd) {
  int flags = CALL_ON(fcntl, fd, fcntl(fd, F_GETFL));
  if (flags < 0 || (flags & O_NONBLOCK)) return flags < 0 ? flags : 0;
  return CALL_ON(fcntl, fd, fcntl(fd, F_SETFL, flags | O_NONBLOCK));
}

int cmx_set_blocking(int fd) {
  int flags = CALL_ON(fcntl, fd, fcntl(fd, F_GETFL));
  if (flags < 0 || !(flags & O_NONBLOCK)) return flags < 0 ? flags : 0;
  return CALL_ON(fcntl, fd, fcntl(fd, F_SETFL, flags & ~O_NONBLOCK));
}

int cmx_traits(int fd) {
  int flags = CALL_ON(fcntl, fd, fcntl(fd, F_GETFL));
  if (flags < 0) return flags;
  struct stat status;
  bool is_directory =
      CMX_TAKEN_IN(cmx_tag_traits, fd, fstat(fd, &status) == 0 && S_ISDIR(status.st_mode));
  return (is_directory ? 1 : 0) | (flags & O_NONBLOCK ? 2 : 0);
}

static bool is_ready(int fd, uint8_t event) {
  struct pollfd asked = {.fd = fd, .events = (event & 1 ? POLLIN : 0) | (event & 2 ? POLLOUT : 0)};
  int count;
  do count = poll(&asked, 1, 0);
  while (count < 0 && errno == EINTR);
  return count > 0;
}

bool cmx_is_ready(int fd, uint8_t event) {
  return CMX_TAKEN_IN(cmx_tag_is_ready, fd, is_ready(fd, event));
}

bool cmx_is_open(int fd) { return CMX_TAKEN_IN(cmx_tag_is_open, fd, fcntl(fd, F_GETFD) >= 0); }

// Not repeated on EINTR: Linux has already released the number, and it may have been reused.
void cmx_close(int fd) {
  CMX_UNLESS_REPLAYED(close(fd));
  cmx_sent();  // the end of a connection
}

int cmx_timer_slack(void) { return CALL(prctl, prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)); }

int cmx_set_timer_slack(int64_t nanoseconds) {
  return CALL(prctl, prctl(PR_SET_TIMERSLACK, (unsigned long)nanoseconds, 0, 0, 0));
}

void cmx_ignore_write_signals(void) {
  static const int signals[] = {SIGPIPE, SIGXFSZ};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    struct sigaction action;
    if (sigaction(signals[i], NULL, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = SIG_IGN;
    sigaction(signals[i], &action, NULL);
  }
}

unsigned cmx_fill_standard_streams(void) {
  unsigned mask = 0;
  for (int fd = 0; fd <= 2; fd++) {
    if (cmx_is_open(fd)) continue;
    // What is written to a standard output that was closed is lost, and writing has to say so.
    int opened = open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR);
    if (opened == fd) mask |= 1u << fd;
    else if (opened >= 0) close(opened);
  }
  return mask;
}

void cmx_empty_standard_streams(unsigned mask) {
  for (int fd = 0; fd <= 2; fd++)
    if (mask & (1u << fd)) close(fd);
}

// ---- epoll ---------------------------------------------------------------------------------
// The two highest bits of the token hold the interest: an error or a hang-up, which epoll always
// reports, is translated to the events the registration wants, or dropped if it wants none. With
// these bits 0 the token is internal or silent.

#define ASKED_SHIFT 62
#define TOKEN_MASK ((UINT64_C(1) << ASKED_SHIFT) - 1)
#define INTERNAL_WAKE TOKEN_MASK
#define INTERNAL_WALL (TOKEN_MASK - 1)

int cmx_epoll_create(void) {
  return cmx_above_standard_streams(CALL(epoll_create, epoll_create1(EPOLL_CLOEXEC)));
}

static int control(int set, int operation, int fd, uint8_t interest, uint64_t token) {
  struct epoll_event event = {.data.u64 = token | (uint64_t)interest << ASKED_SHIFT};
  if (interest & 1) event.events |= EPOLLIN;
  if (interest & 2) event.events |= EPOLLOUT;
  // A hang-up is reported whatever the interest; edge-triggered, it is reported only once.
  if (interest == 0) event.events = EPOLLET;
  return CALL_ON(epoll_ctl, fd, epoll_ctl(set, operation, fd, &event));
}

int cmx_epoll_add(int set, int fd, uint8_t interest, uint64_t token) {
  return control(set, EPOLL_CTL_ADD, fd, interest, token);
}

int cmx_epoll_change(int set, int fd, uint8_t interest, uint64_t token) {
  return control(set, EPOLL_CTL_MOD, fd, interest, token);
}

int cmx_epoll_remove(int set, int fd) {
  return CALL_ON(epoll_ctl, fd, epoll_ctl(set, EPOLL_CTL_DEL, fd, &(struct epoll_event){0}));
}

int cmx_epoll_add_internal(int set, int fd, enum cmx_internal which) {
  bool wake = which == cmx_internal_wake;
  struct epoll_event event = {
    .events = EPOLLIN | (wake ? EPOLLET : 0),
    .data.u64 = wake ? INTERNAL_WAKE : INTERNAL_WALL,
  };
  return CALL_ON(epoll_ctl, fd, epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
}

#ifndef __GLIBC__
static int epoll_pwait2(int set, struct epoll_event *events, int count,
                        const struct timespec *timeout, const sigset_t *mask) {
  return (int)syscall(SYS_epoll_pwait2, set, events, count, timeout, mask, sizeof(uint64_t));
}
#endif

// epoll_wait is 45 ns cheaper but counts in milliseconds, so it serves polls and endless waits, and
// epoll_pwait2 all others. Where that is missing (Linux before 5.11, some sandboxes), milliseconds
// are rounded up: a wait may be late, never early.
static int wait_for_events(int set, struct epoll_event *events, int count, int64_t timeout_ns) {
  static atomic_bool lacks_pwait2;
  if (timeout_ns > 0 && !atomic_load_explicit(&lacks_pwait2, memory_order_relaxed)) {
    struct timespec timeout = {timeout_ns / 1000000000, timeout_ns % 1000000000};
    int result = CALL_ON(epoll_pwait2, set, epoll_pwait2(set, events, count, &timeout, NULL));
    if (result != -ENOSYS && result != -EPERM) return result;
    atomic_store_explicit(&lacks_pwait2, true, memory_order_relaxed);
  }
  int64_t ms = timeout_ns < 0 ? -1 : timeout_ns / 1000000 + (timeout_ns % 1000000 != 0);
  int most = ms > INT32_MAX ? INT32_MAX : (int)ms;
  return CALL_ON(epoll_wait, set, epoll_wait(set, events, count, most));
}

static uint32_t internal_kind(uint64_t token) {
  if (token == INTERNAL_WAKE) return cmx_internal_wake;
  return token == INTERNAL_WALL ? cmx_internal_wall : cmx_internal_silent;
}

// The events, out of the interest, that a descriptor is ready for.
static uint8_t told(uint32_t events, uint8_t asked) {
  if (events & (EPOLLERR | EPOLLHUP)) return asked;
  return (uint8_t)((events & EPOLLIN ? 1 : 0) | (events & EPOLLOUT ? 2 : 0)) & asked;
}

_Static_assert(sizeof(struct cmx_ready) >= sizeof(struct epoll_event), "decoded in place");
_Static_assert(sizeof(struct cmx_ready) == 16, "laid out as ReadyEvent");

int cmx_epoll_wait(
    int set, struct cmx_ready *ready, int count, int64_t timeout_ns, uint32_t *internal) {
  // The kernel's records are not larger than ours, so they are read into the same memory and
  // decoded from last to first, which never overwrites one that is still needed.
  char *raw = (char *)ready;
  if (__builtin_expect(cmx_intake_here != NULL, 0)) cmx_intake_here->before_sleep(timeout_ns);
  int fetched = wait_for_events(set, (void *)raw, count, timeout_ns);
  *internal = 0;
  if (fetched <= 0) return fetched;
  CMX_AT_MOST(fetched, count);
  CMX_DATA(raw, (size_t)fetched * sizeof(struct epoll_event));
  int dropped = 0;
  for (int i = fetched - 1; i >= 0; i--) {
    struct epoll_event event;
    memcpy(&event, raw + (size_t)i * sizeof event, sizeof event);
    uint8_t asked = (uint8_t)(event.data.u64 >> ASKED_SHIFT);
    uint64_t token = event.data.u64 & TOKEN_MASK;
    if (__builtin_expect(asked == 0, 0)) {
      *internal |= internal_kind(token);
      dropped++;
    }
    ready[i] = (struct cmx_ready){token, told(event.events, asked)};
  }
  if (__builtin_expect(dropped == 0, 1)) return fetched;
  int kept = 0;
  for (int i = 0; i < fetched; i++)
    if (ready[i].events != 0) ready[kept++] = ready[i];
  return kept;
}

// ---- Clocks --------------------------------------------------------------------------------

static int64_t nanoseconds(struct timespec time) {
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t read_clock(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return nanoseconds(time);
}

static int64_t monotonic(void) { return read_clock(CLOCK_MONOTONIC); }
static int64_t coarse(void) { return read_clock(CLOCK_MONOTONIC_COARSE); }
static int64_t wall(void) { return read_clock(CLOCK_REALTIME); }

int64_t cmx_monotonic(void) {
  if (__builtin_expect(cmx_intake_here == NULL, 1)) return monotonic();
  return cmx_intake_here->clock(cmx_tag_monotonic, monotonic);
}

int64_t cmx_monotonic_coarse(void) {
  if (__builtin_expect(cmx_intake_here == NULL, 1)) return coarse();
  return cmx_intake_here->clock(cmx_tag_coarse, coarse);
}

int64_t cmx_wall(void) {
  if (__builtin_expect(cmx_intake_here == NULL, 1)) return wall();
  return cmx_intake_here->clock(cmx_tag_wall, wall);
}

int64_t cmx_thread_time(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

static int64_t coarse_tick(void) {
  struct timespec tick;
  clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  return nanoseconds(tick);
}

int64_t cmx_coarse_tick(void) { return CMX_TAKEN_IN(cmx_tag_tick, 0, coarse_tick()); }
