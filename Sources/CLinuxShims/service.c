// The protocols of systemd: notifications, passed sockets, and what is written to the journal.
#define _GNU_SOURCE
#include "cmx_call.h"
#include "cmx_service.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_PASSED = 3, MOST_PASSED = 1024 };

static const char *variable(const char *name) {
  const char *text = getenv(name);
  return text != NULL && *text != 0 ? text : NULL;
}

bool cmx_is_notified(void) { return variable("NOTIFY_SOCKET") != NULL; }

void cmx_notify(const char *lines) {
  const char *path = variable("NOTIFY_SOCKET");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (path == NULL || strlen(path) >= sizeof address.sun_path) return;
  size_t size = strlen(path);
  memcpy(address.sun_path, path, size);
  if (*path == '@') address.sun_path[0] = 0;
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return;
  socklen_t length = offsetof(struct sockaddr_un, sun_path) + size;
  while (sendto(fd, lines, strlen(lines), MSG_NOSIGNAL, (struct sockaddr *)&address, length) < 0
         && errno == EINTR) {
  }
  close(fd);
}

uint64_t cmx_service_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static bool is_for_us(const char *name) {
  const char *pid = variable(name);
  return pid == NULL || strtol(pid, NULL, 10) == getpid();
}

int64_t cmx_watchdog_time(void) {
  const char *text = variable("WATCHDOG_USEC");
  if (text == NULL || !is_for_us("WATCHDOG_PID")) return 0;
  long long time = strtoll(text, NULL, 10);
  return time > 0 && time < INT64_MAX / 1000 ? time * 1000 : 0;
}

int cmx_passed_sockets(void) {
  const char *count = variable("LISTEN_FDS");
  if (count == NULL || variable("LISTEN_PID") == NULL || !is_for_us("LISTEN_PID")) return 0;
  long number = strtol(count, NULL, 10);
  return number > 0 && number <= MOST_PASSED ? (int)number : 0;
}

// Whether the passed socket of this place, from 0 on, has a name.
static bool is_called(int place, const char *name) {
  const char *names = variable("LISTEN_FDNAMES");
  for (; names != NULL && place > 0; place--) {
    names = strchr(names, ':');
    if (names != NULL) names++;
  }
  size_t size = strlen(name);
  return names != NULL && strncmp(names, name, size) == 0
      && (names[size] == ':' || names[size] == 0);
}

// The descriptor, or -errno.
static int find_passed(const char *name, int count) {
  if (*name == 0) return count == 0 ? -ENOENT : count == 1 ? FIRST_PASSED : -ENOTUNIQ;
  char *end;
  long number = strtol(name, &end, 10);
  if (*end == 0) return number >= 1 && number <= count ? FIRST_PASSED + (int)number - 1 : -ENOENT;
  int found = -ENOENT;
  for (int place = 0; place < count; place++) {
    if (!is_called(place, name)) continue;
    if (found >= 0) return -ENOTUNIQ;
    found = FIRST_PASSED + place;
  }
  return found;
}

static int copy_passed(const char *name) {
  int fd = find_passed(name, cmx_passed_sockets());
  int listens = 0;
  socklen_t size = sizeof listens;
  if (fd >= 0 && (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0 || !listens)) {
    fd = -EINVAL;
  }
  int copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, FIRST_PASSED);
  if (copy < 0) {
    if (fd < 0) errno = -fd;
    return -1;
  }
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  fcntl(copy, F_SETFL, fcntl(copy, F_GETFL) | O_NONBLOCK);
  return copy;
}

int cmx_passed_socket(const char *name) { return CALL(fcntl, copy_passed(name)); }

bool cmx_is_journal(int fd) {
  const char *stream = variable("JOURNAL_STREAM");
  struct stat status;
  unsigned long long device, inode;
  return stream != NULL && sscanf(stream, "%llu:%llu", &device, &inode) == 2
      && fstat(fd, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}
