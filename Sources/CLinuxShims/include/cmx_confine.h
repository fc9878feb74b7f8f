// What this process may ask of the system from now on, for good.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// A folder or file that stays in reach.
struct cmx_confined_path {
  const char *path;
  bool reads;
  bool writes;
  bool mayBeMissing;
};

struct cmx_confinement {
  const struct cmx_confined_path *paths;
  int32_t pathCount;
  bool allFiles;         // every file of the user's; else `paths`
  bool internet;         // sockets of the internet
  bool unixSockets;      // sockets of the machine
  const uint16_t *ports; // of TCP; NULL: all
  int32_t portCount;
  int64_t memory;        // bytes beyond what the process has now; 0: no limit
  int32_t descriptors;   // 0: no limit
};

// What holds.
struct cmx_confined {
  bool calls;         // a filter of system calls (seccomp)
  int32_t landlock;   // its version; 0: the kernel has none
  int32_t failedPath; // which path could not be opened, if that failed; -1: none
};

// Confines the process. For a process with one thread: threads begun later are confined too.
// 0; or -errno, and the process is to end, since a part may hold already.
int cmx_confine(const struct cmx_confinement *plan, struct cmx_confined *confined);

// Takes the environment out of the process's memory, but for TZ.
void cmx_forget_environment(void);
// Has the process killed with the thread that started it.
// false: that has ended already.
bool cmx_end_with_parent(int32_t parent);
