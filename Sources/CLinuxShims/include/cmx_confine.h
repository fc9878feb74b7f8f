// What this process may ask of the system from now on, permanently.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// A folder or file that stays accessible.
struct cmx_confined_path {
  const char *path;
  bool reads;
  bool writes;
  bool mayBeMissing;
};

struct cmx_confinement {
  const struct cmx_confined_path *paths;
  int32_t pathCount;
  bool allFiles;         // every file that the user can reach; otherwise `paths`
  bool internet;         // internet sockets
  bool unixSockets;      // Unix sockets
  const uint16_t *ports; // TCP ports; NULL: all
  int32_t portCount;
  int64_t memory;        // bytes beyond what the process has now; 0: no limit
  int32_t descriptors;   // 0: no limit
};

// What is in force.
struct cmx_confined {
  bool calls;         // a filter of system calls (seccomp)
  int32_t landlock;   // its version; 0: the kernel has none
  int64_t memory;     // bytes that its limits leave it, its own and those it was started with
  int32_t failedPath; // which path could not be opened, if that failed; -1: none
};

// Confines the process, which must have one thread: threads started later are confined too.
// 0; or -errno: then the process must end, because part of it may be in force already.
int cmx_confine(const struct cmx_confinement *plan, struct cmx_confined *confined);

// How many bytes of memory the limits of the process leave it (`ulimit -v`, `-d`); INT64_MAX: no
// limit.
int64_t cmx_memory_left(void);

// Removes the environment from the process's memory, except for TZ.
void cmx_forget_environment(void);
// Makes the process get a signal when the thread that started it ends.
// false: that thread has already ended.
bool cmx_end_with_parent(int32_t parent, int32_t signal);
