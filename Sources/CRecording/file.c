// The file of a recording. The new one takes the name of an older one once its beginning is
// written; the older one stays beside it, and gets its name back unless the new one is whole: on a
// full disk nothing is lost.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared.h"

enum { ONLY_FOR_USER = 0600 };  // it contains the environment, and perhaps secrets

// Not beside: what is not a file, or is in a folder where nothing can be made.
static int commit_in_place(const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, ONLY_FOR_USER);
  if (fd < 0) return -errno;
  int result = cmr_commit(fd);
  if (result == 0) return 0;
  (void)!ftruncate(fd, 0);
  close(fd);
  return result;
}

// The older recording and its name; NULL: there is none. A static pair, since a process writes one
// recording.
static char *older, *older_name;

// Gives the new recording its name, and keeps an older one where the file system can exchange two.
static int take_name(const char *path, const char *beside) {
  if (renameat2(AT_FDCWD, beside, AT_FDCWD, path, RENAME_EXCHANGE) < 0)
    return rename(beside, path) < 0 ? -errno : 0;
  older = strdup(beside), older_name = strdup(path);
  return 0;
}

void cmr_settle(bool is_whole) {
  if (older == NULL || older_name == NULL) return;
  if (is_whole) unlink(older);
  else rename(older, older_name);
  free(older), free(older_name);
  older = older_name = NULL;
}

static int commit_beside(const char *path, const char *beside) {
  int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, ONLY_FOR_USER);
  if (fd < 0) {
    bool is_closed = errno == EACCES || errno == EPERM || errno == ENAMETOOLONG;
    return is_closed ? commit_in_place(path) : -errno;
  }
  int result = cmr_commit(fd);
  if (result < 0) close(fd);
  if (result == 0) {
    result = take_name(path, beside);
    if (result < 0) cmr_finish();
  }
  if (result < 0) unlink(beside);
  return result;
}

int cmr_commit_to(const char *path) {
  struct stat status;
  bool is_there = stat(path, &status) == 0;
  if (is_there && !S_ISREG(status.st_mode)) return commit_in_place(path);
  if (is_there && access(path, W_OK) < 0) return -errno;
  char *target = is_there ? realpath(path, NULL) : NULL;  // a link stays one
  char *beside;
  if (asprintf(&beside, "%s.%d", target != NULL ? target : path, (int)getpid()) < 0) {
    free(target);
    return -ENOMEM;
  }
  int result = commit_beside(target != NULL ? target : path, beside);
  free(beside);
  free(target);
  return result;
}
