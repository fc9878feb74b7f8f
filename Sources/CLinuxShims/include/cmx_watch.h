// File changes: inotify, and queries of what is there.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What is reported about a folder.
enum cmx_watch_events {
  cmx_watch_changed = 0x2,         // IN_MODIFY
  cmx_watch_attributes = 0x4,      // IN_ATTRIB
  cmx_watch_moved_from = 0x40,     // IN_MOVED_FROM
  cmx_watch_moved_to = 0x80,       // IN_MOVED_TO
  cmx_watch_created = 0x100,       // IN_CREATE
  cmx_watch_deleted = 0x200,       // IN_DELETE
  cmx_watch_deleted_self = 0x400,  // IN_DELETE_SELF
  cmx_watch_moved_self = 0x800,    // IN_MOVE_SELF
  cmx_watch_overflow = 0x4000,     // IN_Q_OVERFLOW
  cmx_watch_ended = 0x8000,        // IN_IGNORED
};

// All of a folder's entries.
#define CMX_WATCH_ENTRIES 0xfc6u

struct cmx_watch_event {
  int32_t folder;  // from `add`; -1: all
  uint32_t events;
  uint32_t cookie;
  const char *name;  // NULL: the folder itself
};

int cmx_watch_open(void);
// Watches a folder: its number, the same if it is already watched, or -errno.
int cmx_watch_add(int fd, const char *folder, uint32_t events);
void cmx_watch_remove(int fd, int folder);
// The number of bytes of events read; -EAGAIN if there are none.
intptr_t cmx_watch_read(int fd, void *buffer, size_t size);
// The next event in a buffer, from `*offset`; false at its end.
bool cmx_watch_next(
    const void *buffer, size_t size, size_t *offset, struct cmx_watch_event *event);

// What is at a path.
struct cmx_entry {
  uint64_t device, inode;
  int64_t size, changed_ns, attributes_ns;
  bool is_folder, is_link;
};

// 0 or -errno.
int cmx_look(const char *path, bool follows_link, struct cmx_entry *entry);
// Calls a function for each name in a folder; 0 or -errno.
int cmx_list(const char *folder, void (*each)(void *context, const char *name), void *context);
// The target of a link: the number of bytes written to the buffer, or -errno.
intptr_t cmx_read_link(const char *path, char *buffer, size_t size);
// The current folder, in the same way.
intptr_t cmx_present_folder(char *buffer, size_t size);
// The limit of a user's watched folders; 0 if unknown.
int cmx_watch_limit(void);
