// Pressure-stall notifications.
#define _GNU_SOURCE
#include "cmx_pressure.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cmx_call.h"

int cmx_pressure_open(const char *path) {
  return cmx_above_standard_streams(CALL(open, open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)));
}

static int sort(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0) return -1;
  if (S_ISFIFO(status.st_mode)) return 1;
  struct statfs system;
  if (fstatfs(fd, &system) != 0) return -1;
  // To any other file the trigger would be written as text.
  if (system.f_type == PROC_SUPER_MAGIC || system.f_type == CGROUP2_SUPER_MAGIC) return 0;
  errno = EOPNOTSUPP;
  return -1;
}

int cmx_pressure_sort(int fd) { return CALL_ON(fcntl, fd, sort(fd)); }

// The file always counts as readable and writable and reports only with EPOLLPRI. Its own epoll set
// turns that into something every loop can wait for. Polling it consumes the notification, so only
// the loop's wait may do that.
int cmx_pressure_watch(int fd, bool is_fifo) {
  int set = cmx_epoll_create();
  if (set < 0) return set;
  struct epoll_event event = {.events = is_fifo ? EPOLLIN : EPOLLPRI};
  int result = CALL_ON(epoll_ctl, set, epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
  if (result == 0) return set;
  cmx_close(set);
  return result;
}

intptr_t cmx_pressure_read(int fd, bool is_fifo, int watch, void *buffer, size_t size) {
  struct epoll_event event;
  (void)CALL_AGAIN(epoll_wait, watch, epoll_wait(watch, &event, 1, 0));
  intptr_t result = is_fifo ? CALL_AGAIN(read, fd, read(fd, buffer, size))
                            : CALL_AGAIN(read, fd, pread(fd, buffer, size, 0));
  CMX_AT_MOST(result, size);
  if (result > 0) CMX_DATA(buffer, result);
  return result;
}
