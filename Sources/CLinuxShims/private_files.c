// Folders and locks of one user, and sockets that carry many descriptors, for named ports.
#define _GNU_SOURCE
#include "cmx_call.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

// The thread of named ports has no intake.
#define CALL_DIRECTLY(name, expression)                   \
  ({                                                \
    __typeof__(expression) again_;                  \
    do again_ = REAL_CALL(name, expression);        \
    while (again_ == -EINTR);                       \
    again_;                                         \
  })

unsigned cmx_user(void) { return geteuid(); }

enum cmx_privacy cmx_private_folder(const char *path, int *code) {
  *code = 0;
  if (mkdir(path, 0700) < 0 && errno != EEXIST) {
    *code = errno;
    return cmx_privacy_failed;
  }
  struct stat status;
  if (lstat(path, &status) < 0) {
    *code = errno;
    return cmx_privacy_failed;
  }
  if (!S_ISDIR(status.st_mode)) return cmx_privacy_no_folder;
  if (status.st_uid != geteuid()) return cmx_privacy_of_another;
  return (status.st_mode & 077) == 0 ? cmx_privacy_good : cmx_privacy_open_to_others;
}

static int open_folder_of(const char *path, uid_t user) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat status;
  if (fd >= 0 && (fstat(fd, &status) < 0 || status.st_uid != user)) {
    close(fd);
    return -1;
  }
  return fd;
}

static bool is_closed_to_others(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && (status.st_mode & 077) == 0;
}

bool cmx_folder_is_of(const char *path, unsigned user, bool only_theirs) {
  int fd = open_folder_of(path, user);
  if (fd < 0) return false;
  bool is_so = !only_theirs || is_closed_to_others(fd);
  close(fd);
  return is_so;
}

bool cmx_close_to_others(const char *path) {
  int fd = open_folder_of(path, geteuid());
  if (fd < 0) return false;
  bool is_closed = fchmod(fd, 0700) == 0;
  close(fd);
  return is_closed;
}

int64_t cmx_owner(const char *path, bool follows_link) {
  struct stat status;
  if ((follows_link ? stat : lstat)(path, &status) < 0) return -errno;
  return status.st_uid;
}

int cmx_make_unique_folder(char *template) { return mkdtemp(template) == NULL ? -errno : 0; }

void cmx_remove_private_file(const char *folder, const char *name) {
  int fd = open_folder_of(folder, geteuid());
  if (fd < 0) return;
  if (is_closed_to_others(fd)) unlinkat(fd, name, 0);
  close(fd);
}

intptr_t cmx_read_file(const char *path, void *buffer, size_t size, int64_t offset) {
  int fd = CALL_DIRECTLY(open, open(path, O_RDONLY | O_CLOEXEC));
  if (fd < 0) return fd;
  intptr_t count;
  do count = pread(fd, buffer, size, offset);
  while (count < 0 && errno == EINTR);
  if (count < 0) count = -errno;
  close(fd);
  return count;
}

static int read_owner(int fd) {
  char text[32];
  ssize_t count = pread(fd, text, sizeof text - 1, 0);
  if (count <= 0) return 0;
  text[count] = 0;
  return atoi(text);
}

int cmx_lock_file(const char *path, int *owner) {
  *owner = 0;
  // The owner removes the file before it ends: then this lock is on a deleted file and worthless.
  for (int attempt = 0; attempt < 100; attempt++) {
    int fd = cmx_above_standard_streams(
        CALL_DIRECTLY(open, open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)));
    if (fd < 0) return fd;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
      int code = errno;
      if (code == EWOULDBLOCK) *owner = read_owner(fd);
      close(fd);
      if (code == EWOULDBLOCK) return -EADDRINUSE;
      if (code == EINTR) continue;
      return -code;
    }
    struct stat mine, there;
    if (fstat(fd, &mine) == 0 && lstat(path, &there) == 0 && mine.st_ino == there.st_ino &&
        mine.st_dev == there.st_dev) {
      char text[32];
      int count = snprintf(text, sizeof text, "%d\n", (int)getpid());
      if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)count, 0) != count) {
        int code = errno;
        close(fd);
        return -code;
      }
      return fd;
    }
    close(fd);
  }
  return -EAGAIN;
}

bool cmx_is_other_file(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0 && !S_ISSOCK(status.st_mode);
}

// ---- Many descriptors ----------------------------------------------------------------------

intptr_t cmx_send_with(int fd, const void *bytes, size_t count, const int *passed, int number) {
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(CMX_MOST_PASSED * sizeof(int))];
  } control;
  struct iovec part = {(void *)(uintptr_t)bytes, count};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (number > CMX_MOST_PASSED) return -EINVAL;
  if (number > 0) {
    memset(&control, 0, sizeof control);
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE((size_t)number * sizeof(int));
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN((size_t)number * sizeof(int));
    memcpy(CMSG_DATA(&control.header), passed, (size_t)number * sizeof(int));
  }
  return CALL_DIRECTLY(sendmsg, sendmsg(fd, &message, MSG_NOSIGNAL));
}

intptr_t cmx_receive_with(
    int fd, void *buffer, size_t count, int *passed, int *number, bool *is_cut) {
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(CMX_MOST_PASSED * sizeof(int))];
  } control;
  struct iovec part = {buffer, count};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                           .msg_controllen = sizeof control.space};
  *number = 0;
  *is_cut = false;
  intptr_t result = CALL_DIRECTLY(recvmsg, recvmsg(fd, &message, MSG_CMSG_CLOEXEC));
  if (result < 0) return result;
  *is_cut = (message.msg_flags & MSG_CTRUNC) != 0;
  *number = cmx_take_descriptors(&message, passed, CMX_MOST_PASSED);
  return result;
}
