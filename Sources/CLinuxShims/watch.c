// File changes.
#define _GNU_SOURCE
#include "cmx_watch.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmx_call.h"
#include "cmx_private_files.h"

_Static_assert(cmx_watch_changed == IN_MODIFY && cmx_watch_attributes == IN_ATTRIB, "");
_Static_assert(cmx_watch_moved_from == IN_MOVED_FROM && cmx_watch_moved_to == IN_MOVED_TO, "");
_Static_assert(cmx_watch_created == IN_CREATE && cmx_watch_deleted == IN_DELETE, "");
_Static_assert(cmx_watch_deleted_self == IN_DELETE_SELF, "");
_Static_assert(cmx_watch_moved_self == IN_MOVE_SELF, "");
_Static_assert(cmx_watch_overflow == IN_Q_OVERFLOW && cmx_watch_ended == IN_IGNORED, "");

int cmx_watch_open(void) {
  return cmx_above_standard_streams(
      CALL(inotify_init, inotify_init1(IN_CLOEXEC | IN_NONBLOCK)));
}

int cmx_watch_add(int fd, const char *folder, uint32_t events) {
  uint32_t mask = events | IN_ONLYDIR | IN_MASK_ADD;
  return CALL_ON(inotify_add_watch, fd, inotify_add_watch(fd, folder, mask));
}

void cmx_watch_remove(int fd, int folder) {
  CMX_UNLESS_REPLAYED(inotify_rm_watch(fd, folder));
}

intptr_t cmx_watch_read(int fd, void *buffer, size_t size) {
  intptr_t result = CALL_AGAIN(read, fd, read(fd, buffer, size));
  CMX_AT_MOST(result, size);
  if (result > 0) CMX_DATA(buffer, result);
  return result;
}

bool cmx_watch_next(
    const void *buffer, size_t size, size_t *offset, struct cmx_watch_event *event) {
  struct inotify_event found;
  if (*offset + sizeof found > size) return false;
  const char *at = (const char *)buffer + *offset;
  memcpy(&found, at, sizeof found);
  *offset += sizeof found + found.len;
  *event = (struct cmx_watch_event){
      .folder = found.wd,
      .events = found.mask,
      .cookie = found.cookie,
      .name = found.len > 0 ? at + sizeof found : NULL,
  };
  return true;
}

static int64_t nanoseconds(struct timespec time) {
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int look(const char *path, bool follows_link, struct cmx_entry *entry) {
  struct stat status;
  if ((follows_link ? stat : lstat)(path, &status) != 0) return -errno;
  *entry = (struct cmx_entry){
      .device = status.st_dev,
      .inode = status.st_ino,
      .size = status.st_size,
      .changed_ns = nanoseconds(status.st_mtim),
      .attributes_ns = nanoseconds(status.st_ctim),
      .is_folder = S_ISDIR(status.st_mode),
      .is_link = S_ISLNK(status.st_mode),
  };
  return 0;
}

int cmx_look(const char *path, bool follows_link, struct cmx_entry *entry) {
  int result = CMX_TAKEN_IN(cmx_tag_look_at, 0, look(path, follows_link, entry));
  if (result == 0) CMX_DATA(entry, sizeof *entry);
  return result;
}

int cmx_each_name(
    const char *folder, void (*each)(void *context, const char *name), void *context) {
  DIR *open = opendir(folder);
  if (open == NULL) return -errno;
  for (struct dirent *entry; (entry = readdir(open)) != NULL;)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      each(context, entry->d_name);
  closedir(open);
  return 0;
}

// The names in a folder, one after another, zero-terminated.
struct names { char *bytes; size_t count, capacity; };

static void keep_name(void *context, const char *name) {
  struct names *names = context;
  size_t more = strlen(name) + 1;
  if (names->count + more > names->capacity) {
    size_t capacity = (names->count + more) * 2;
    char *larger = realloc(names->bytes, capacity);
    if (larger == NULL) return;
    names->bytes = larger;
    names->capacity = capacity;
  }
  memcpy(names->bytes + names->count, name, more);
  names->count += more;
}

static int list_by_intake(
    const char *folder, void (*each)(void *context, const char *name), void *context) {
  struct names names = {0};
  int result = CMX_TAKEN_IN(cmx_tag_list, 0, cmx_each_name(folder, keep_name, &names));
  uint64_t count = names.count;
  CMX_DATA(&count, sizeof count);
  if (cmx_intake_is_replayed) names.bytes = malloc(names.count = count);
  if (names.bytes == NULL) names.count = 0;
  if (names.count > 0) {
    CMX_DATA(names.bytes, names.count);
    if (names.bytes[names.count - 1] != 0) cmx_intake_here->impossible();
  }
  for (size_t at = 0; at < names.count; at += strlen(names.bytes + at) + 1)
    each(context, names.bytes + at);
  free(names.bytes);
  return result;
}

int cmx_list(const char *folder, void (*each)(void *context, const char *name), void *context) {
  return (cmx_intake_here == NULL ? cmx_each_name : list_by_intake)(folder, each, context);
}

static intptr_t read_link(const char *path, char *buffer, size_t size) {
  ssize_t count = readlink(path, buffer, size);
  return count < 0 ? -errno : count;
}

intptr_t cmx_read_link(const char *path, char *buffer, size_t size) {
  intptr_t result = CMX_TAKEN_IN(cmx_tag_read_link, 0, read_link(path, buffer, size));
  CMX_AT_MOST(result, size);
  if (result > 0) CMX_DATA(buffer, result);
  return result;
}

static intptr_t present_folder(char *buffer, size_t size) {
  return getcwd(buffer, size) == NULL ? -errno : (intptr_t)strlen(buffer);
}

intptr_t cmx_present_folder(char *buffer, size_t size) {
  intptr_t result = CMX_TAKEN_IN(cmx_tag_folder, 0, present_folder(buffer, size));
  CMX_AT_MOST(result, size - 1);
  if (result > 0) CMX_DATA(buffer, result + 1);
  return result;
}

static int watch_limit(void) {
  FILE *file = fopen("/proc/sys/fs/inotify/max_user_watches", "re");
  if (file == NULL) return 0;
  int limit = 0;
  if (fscanf(file, "%d", &limit) != 1) limit = 0;
  fclose(file);
  return limit;
}

int cmx_watch_limit(void) { return CMX_TAKEN_IN(cmx_tag_watch_limit, 0, watch_limit()); }
