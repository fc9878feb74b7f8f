// Files by path and by descriptor. These calls block, and do not ask an intake.
#define _GNU_SOURCE
#include "cmx_files.h"
#include "cmx_log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#define TRY(expression)                                \
  ({                                                   \
    int64_t tried_;                                    \
    do tried_ = (expression);                          \
    while (tried_ < 0 && errno == EINTR);              \
    tried_ < 0 ? -(int64_t)errno : tried_;             \
  })

static bool is_dot(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

static bool is_over(const struct cmx_file_arguments *given) {
  return given->is_over != NULL && given->is_over(given->context);
}

// ---- Trees ---------------------------------------------------------------------------------

// A folder that is being emptied. Only the innermost is open, so depth takes memory alone.
struct emptied {
  struct emptied *above;
  dev_t device;
  ino_t inode;
  char name[NAME_MAX + 1];
};

static int64_t open_folder(int folder, const char *name) {
  return TRY(openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Reads another folder in place of the present one.
static int64_t read_folder(DIR **stream, int fd) {
  if (*stream != NULL) closedir(*stream);
  *stream = fdopendir(fd);
  if (*stream != NULL) return 0;
  int64_t code = -(int64_t)errno;
  close(fd);
  return code;
}

static int64_t enter(struct emptied **innermost, DIR **stream, int fd, const char *name) {
  struct stat facts;
  struct emptied *folder = malloc(sizeof *folder);
  if (folder == NULL || fstat(fd, &facts) < 0) {
    int64_t code = folder == NULL ? -ENOMEM : -(int64_t)errno;
    free(folder);
    close(fd);
    return code;
  }
  *folder = (struct emptied){*innermost, facts.st_dev, facts.st_ino, ""};
  snprintf(folder->name, sizeof folder->name, "%s", name);
  *innermost = folder;
  return read_folder(stream, fd);
}

// Removes the folder that is empty now, and goes on with the one that it is in. Somebody may have
// moved it meanwhile: what is above it then is not touched.
static int64_t leave(struct emptied **innermost, DIR **stream) {
  struct emptied *folder = *innermost;
  int64_t above = open_folder(dirfd(*stream), "..");
  if (above < 0) return above;
  struct stat facts;
  int64_t result = TRY(fstat((int)above, &facts));
  if (result == 0
      && (facts.st_dev != folder->above->device || facts.st_ino != folder->above->inode))
    result = -ESTALE;
  if (result == 0) result = TRY(unlinkat((int)above, folder->name, AT_REMOVEDIR));
  if (result < 0) {
    close((int)above);
    return result;
  }
  *innermost = folder->above;
  free(folder);
  return read_folder(stream, (int)above);
}

// Removes the next entry, or enters it if it is a folder.
static int64_t remove_entry(struct emptied **innermost, DIR **stream, const char *name) {
  int64_t result = TRY(unlinkat(dirfd(*stream), name, 0));
  if (result != -EISDIR && result != -EPERM) return result == -ENOENT ? 0 : result;
  int64_t fd = open_folder(dirfd(*stream), name);
  if (fd < 0) return fd == -ENOTDIR ? result : fd;
  return enter(innermost, stream, (int)fd, name);
}

// By descriptors of folders: a link that takes a folder's place meanwhile is removed, not followed.
static int64_t remove_all(const struct cmx_file_arguments *given) {
  const char *path = given->path;
  int64_t result = TRY(unlink(path));
  if (result != -EISDIR && result != -EPERM) return result;
  int64_t fd = open_folder(AT_FDCWD, path);
  if (fd < 0) return fd == -ENOTDIR ? result : fd;
  struct emptied *innermost = NULL;
  DIR *stream = NULL;
  result = enter(&innermost, &stream, (int)fd, "");
  while (result == 0) {
    struct dirent *entry = readdir(stream);
    if (entry == NULL && innermost->above == NULL) break;
    if (is_over(given)) result = -ECANCELED;
    else if (entry == NULL) result = leave(&innermost, &stream);
    else if (!is_dot(entry->d_name)) result = remove_entry(&innermost, &stream, entry->d_name);
  }
  if (stream != NULL) closedir(stream);
  while (innermost != NULL) {
    struct emptied *above = innermost->above;
    free(innermost);
    innermost = above;
  }
  return result < 0 ? result : TRY(rmdir(path));
}

// ---- Copies --------------------------------------------------------------------------------

// What is copied between two looks at whether the answer is wanted.
enum { PART = 1 << 24 };

static int64_t copy_plainly(int from, int to) {
  char bytes[1 << 15];
  int64_t count = TRY(read(from, bytes, sizeof bytes)), written = 0;
  for (int64_t done = 0; written >= 0 && done < count; done += written)
    written = TRY(write(to, bytes + done, (size_t)(count - done)));
  return written < 0 ? written : count;
}

// Not every file takes each way, and a file of /proc looks empty to the first.
static int64_t copy_bytes(int from, int to, const struct cmx_file_arguments *given) {
  enum { by_range, by_sendfile, plainly } way = by_range;
  while (!is_over(given)) {
    int64_t count = way == by_range ? TRY(copy_file_range(from, NULL, to, NULL, PART, 0))
                  : way == by_sendfile ? TRY(sendfile(to, from, NULL, PART))
                                       : copy_plainly(from, to);
    bool is_refused = count == -EXDEV || count == -EINVAL || count == -ENOSYS
                      || count == -EOPNOTSUPP || count == -EBADF;
    if (way != plainly && (count == 0 || is_refused)) way += 1;
    else if (count <= 0) return count;
  }
  return -ECANCELED;
}

// Of a device, such as /dev/null, neither the length nor the permissions are changed.
static int64_t prepare(int to, const struct stat *source, const struct stat *target) {
  if (!S_ISREG(target->st_mode)) return 0;
  int64_t result = TRY(ftruncate(to, 0));
  return result < 0 ? result : TRY(fchmod(to, source->st_mode & 07777));
}

static int64_t copy_into(
    int from, const struct stat *source, const struct cmx_file_arguments *given) {
  int64_t flags = given->numbers[0];
  int how = O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC | (flags & 1 ? O_EXCL : 0);
  int64_t to = TRY(open(given->other, how, source->st_mode & 07777));
  if (to < 0) return to;
  struct stat target;
  int64_t result = TRY(fstat((int)to, &target));
  bool is_same = target.st_dev == source->st_dev && target.st_ino == source->st_ino;
  if (result == 0 && !is_same) {
    result = prepare((int)to, source, &target);
    int64_t cloned = flags & 6 ? TRY(ioctl((int)to, FICLONE, from)) : -1;
    if (result == 0 && cloned < 0) result = flags & 4 ? cloned : copy_bytes(from, (int)to, given);
  }
  close((int)to);
  return result;
}

// Whether a file that has positions can be read: else nothing is changed for it.
static int64_t try_to_read(int fd) {
  char byte;
  int64_t count = TRY(pread(fd, &byte, 1, 0));
  return count < 0 && count != -ESPIPE ? count : 0;
}

// A named pipe is made again, and not read.
static int64_t copy(const struct cmx_file_arguments *given) {
  int64_t from = TRY(open(given->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (from < 0) return from;
  struct stat source;
  int64_t result = TRY(fstat((int)from, &source));
  if (result == 0 && S_ISFIFO(source.st_mode)) {
    result = TRY(mkfifo(given->other, source.st_mode & 07777));
  } else if (result == 0) {
    result = try_to_read((int)from);
    if (result == 0) result = copy_into((int)from, &source, given);
  }
  close((int)from);
  return result;
}

// ---- What is in memory ---------------------------------------------------------------------

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

static bool is_there(int fd, int64_t offset) {
  char byte;
  struct iovec one = {&byte, 1};
  return preadv2(fd, &one, 1, (off_t)offset, RWF_NOWAIT) == 1;
}

// Older kernels are asked for the first and the last byte.
bool cmx_file_is_cached(int fd, int64_t offset, int64_t count) {
  struct { uint64_t begin, count; } range = {(uint64_t)offset, (uint64_t)count};
  struct { uint64_t cached, others[4]; } found = {0};
  int64_t page = sysconf(_SC_PAGESIZE);
  int64_t pages = (offset + count - 1) / page - offset / page + 1;
  if (syscall(SYS_cachestat, fd, &range, &found, 0) == 0) return (int64_t)found.cached >= pages;
  return is_there(fd, offset) && is_there(fd, offset + count - 1);
}

// ---- Calls ---------------------------------------------------------------------------------

static struct timespec timespec_of(double seconds) {
  double whole = floor(seconds);
  return (struct timespec){(time_t)whole, (long)((seconds - whole) * 1e6) * 1000};
}

static int64_t set_times(const char *path, int fd, const double *times, int flags) {
  struct timespec both[2] = {timespec_of(times[0]), timespec_of(times[1])};
  if (path == NULL) return TRY(futimens(fd, both));
  return TRY(utimensat(AT_FDCWD, path, both, flags));
}

static int64_t by_descriptor(enum cmx_file_call call, const struct cmx_file_arguments *given) {
  const int64_t *n = given->numbers;
  int fd = (int)n[0];
  switch (call) {
    // Not repeated on EINTR: Linux has already released the number.
    case cmx_file_close: return close(fd) < 0 && errno != EINTR ? -(int64_t)errno : 0;
    case cmx_file_truncate: return TRY(ftruncate(fd, n[1]));
    case cmx_file_seek: return TRY(lseek(fd, n[1], SEEK_SET) < 0 ? -1 : 0);
    case cmx_file_sync: return TRY(fsync(fd));
    case cmx_file_sync_data: return TRY(fdatasync(fd));
    case cmx_file_fchmod: return TRY(fchmod(fd, (mode_t)n[1]));
    case cmx_file_fchown: return TRY(fchown(fd, (uid_t)n[1], (gid_t)n[2]));
    case cmx_file_futime: return set_times(NULL, fd, given->times, 0);
    case cmx_file_await_log: return cmx_log_await((int)n[0]);
    case cmx_file_lock: return TRY(flock(fd, (int)n[1]));
    case cmx_file_send: {
      off_t offset = n[2];
      return TRY(sendfile(fd, (int)n[1], &offset, (size_t)n[3]));
    }
    default: return -ENOSYS;
  }
}

int64_t cmx_file(enum cmx_file_call call, const struct cmx_file_arguments *given) {
  const char *path = given->path, *other = given->other;
  const int64_t *n = given->numbers;
  switch (call) {
    case cmx_file_open: return TRY(open(path, (int)n[0] | O_CLOEXEC, (mode_t)n[1]));
    case cmx_file_make_folder: return TRY(mkdir(path, (mode_t)n[0]));
    case cmx_file_remove_folder: return TRY(rmdir(path));
    case cmx_file_unlink: return TRY(unlink(path));
    case cmx_file_remove_all: return remove_all(given);
    case cmx_file_rename: return TRY(rename(path, other));
    case cmx_file_link: return TRY(link(path, other));
    case cmx_file_symlink: return TRY(symlink(path, other));
    case cmx_file_access: return TRY(access(path, (int)n[0]));
    case cmx_file_chmod: return TRY(chmod(path, (mode_t)n[0]));
    case cmx_file_chown: return TRY(chown(path, (uid_t)n[0], (gid_t)n[1]));
    case cmx_file_lchown: return TRY(lchown(path, (uid_t)n[0], (gid_t)n[1]));
    case cmx_file_utime: return set_times(path, -1, given->times, 0);
    case cmx_file_lutime: return set_times(path, -1, given->times, AT_SYMLINK_NOFOLLOW);
    case cmx_file_copy: return copy(given);
    default: return by_descriptor(call, given);
  }
}

int64_t cmx_file_read(int fd, void *buffer, size_t count, int64_t offset) {
  return offset < 0 ? TRY(read(fd, buffer, count)) : TRY(pread(fd, buffer, count, offset));
}

int64_t cmx_file_write(int fd, const void *bytes, size_t count, int64_t offset) {
  return offset < 0 ? TRY(write(fd, bytes, count)) : TRY(pwrite(fd, bytes, count, offset));
}

// ---- Facts ---------------------------------------------------------------------------------

int cmx_file_status(const char *path, int fd, bool follows_link, struct cmx_file_status *status) {
  int flags = path == NULL ? AT_EMPTY_PATH : follows_link ? 0 : AT_SYMLINK_NOFOLLOW;
  struct statx found;
  const char *name = path == NULL ? "" : path;
  int at = path == NULL ? fd : AT_FDCWD;
  int64_t result = TRY(statx(at, name, flags, STATX_BASIC_STATS | STATX_BTIME, &found));
  if (result < 0) return (int)result;
  *status = (struct cmx_file_status){
    .dev = (int64_t)makedev(found.stx_dev_major, found.stx_dev_minor),
    .rdev = (int64_t)makedev(found.stx_rdev_major, found.stx_rdev_minor),
    .mode = found.stx_mode, .nlink = found.stx_nlink, .uid = found.stx_uid, .gid = found.stx_gid,
    .ino = (int64_t)found.stx_ino, .size = (int64_t)found.stx_size,
    .blksize = found.stx_blksize, .blocks = (int64_t)found.stx_blocks,
    .times = {
      {found.stx_atime.tv_sec, found.stx_atime.tv_nsec},
      {found.stx_mtime.tv_sec, found.stx_mtime.tv_nsec},
      {found.stx_ctime.tv_sec, found.stx_ctime.tv_nsec},
      {found.stx_btime.tv_sec, found.stx_btime.tv_nsec},
    },
  };
  return 0;
}

int cmx_file_space(const char *path, struct cmx_file_space *space) {
  struct statfs found;
  int64_t result = TRY(statfs(path, &found));
  if (result < 0) return (int)result;
  *space = (struct cmx_file_space){
    found.f_type, found.f_bsize, (int64_t)found.f_blocks, (int64_t)found.f_bfree,
    (int64_t)found.f_bavail, (int64_t)found.f_files, (int64_t)found.f_ffree,
  };
  return 0;
}

int cmx_file_list(
    const char *path, void *context, void (*each)(void *context, const char *name, int type)) {
  DIR *folder = opendir(path);
  if (folder == NULL) return -errno;
  errno = 0;
  struct dirent *entry;
  while ((entry = readdir(folder)) != NULL) {
    if (!is_dot(entry->d_name)) each(context, entry->d_name, entry->d_type);
    errno = 0;
  }
  int code = errno;
  closedir(folder);
  return -code;
}

int64_t cmx_file_target(const char *path, char *target, size_t capacity) {
  return TRY(readlink(path, target, capacity));
}

int cmx_file_real_path(const char *path, char *real) {
  return realpath(path, real) == NULL ? -errno : 0;
}

int cmx_file_temporary(char *template, bool is_folder) {
  if (is_folder) return mkdtemp(template) == NULL ? -errno : 0;
  return (int)TRY(mkostemp(template, O_CLOEXEC));
}
