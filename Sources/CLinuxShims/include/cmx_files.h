// Files by path and by descriptor, for the threads that may block (files.c). All return -errno on
// failure. No intake sees these calls: their callers record the answers.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cmx_file_call {
  cmx_file_open,      // path, flags, permissions
  cmx_file_make_folder,  // path, permissions
  cmx_file_remove_folder,
  cmx_file_unlink,
  cmx_file_remove_all,  // path: a folder with its contents, or anything else
  cmx_file_rename,      // path, other
  cmx_file_link,        // path, other
  cmx_file_symlink,     // path: the link's target, other
  cmx_file_access,      // path, mode
  cmx_file_chmod,       // path, permissions
  cmx_file_chown,       // path, user, group
  cmx_file_lchown,
  cmx_file_utime,  // path, times
  cmx_file_lutime,
  cmx_file_copy,   // path, other, flags: 1 not over another, 2 share blocks if possible, 4 or fail
  cmx_file_close,  // descriptor
  cmx_file_truncate,   // descriptor, length
  cmx_file_seek,       // descriptor, position
  cmx_file_sync,       // descriptor
  cmx_file_sync_data,  // descriptor
  cmx_file_fchmod,     // descriptor, permissions
  cmx_file_fchown,     // descriptor, user, group
  cmx_file_futime,     // descriptor, times
  cmx_file_send,       // descriptor, descriptor to read, offset, length
  cmx_file_await_log,  // log
  cmx_file_lock,       // descriptor, operation of flock(2)
};

struct cmx_file_arguments {
  const char *path;
  const char *other;
  int64_t numbers[4];
  double times[2];  // access, modification; seconds since 1970
  // Whether the answer is not wanted any more; NULL: it is. Asked between the steps of a long call,
  // which then ends with ECANCELED.
  bool (*is_over)(void *context);
  void *context;
};

int64_t cmx_file(enum cmx_file_call call, const struct cmx_file_arguments *given);

// At an offset, or at the descriptor's position if the offset is -1.
int64_t cmx_file_read(int fd, void *buffer, size_t count, int64_t offset);
int64_t cmx_file_write(int fd, const void *bytes, size_t count, int64_t offset);
// Whether a read of this part of a file would not wait for a disk. Any thread; does not wait.
bool cmx_file_is_cached(int fd, int64_t offset, int64_t count);

struct cmx_file_status {
  int64_t dev, mode, nlink, uid, gid, rdev, ino, size, blksize, blocks;
  int64_t times[4][2];  // access, modification, change, birth: seconds, nanoseconds
};
// By path, or by descriptor if the path is NULL.
int cmx_file_status(
    const char *path, int fd, bool follows_link, struct cmx_file_status *status);

struct cmx_file_space {
  int64_t type, bsize, blocks, bfree, bavail, files, ffree;
};
int cmx_file_space(const char *path, struct cmx_file_space *space);

// Calls `each` with the names in a folder, without "." and "..", and their DT_ types.
int cmx_file_list(
    const char *path, void *context, void (*each)(void *context, const char *name, int type));
// The length of a link's target, at most `capacity`.
int64_t cmx_file_target(const char *path, char *target, size_t capacity);
// `path` has room for PATH_MAX bytes.
int cmx_file_real_path(const char *path, char *real);
// The template ends in XXXXXX, which is replaced. A folder, or the descriptor of a file.
int cmx_file_temporary(char *template, bool is_folder);
