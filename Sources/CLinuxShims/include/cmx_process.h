// Child processes: started without a shell, known by a descriptor, waited for without SIGCHLD.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// What a child is to be. Nothing of it is changed, and it is needed for the call only.
struct cmx_spawn {
  const char *const *programs;  // paths that are tried in turn; NULL ends them
  char *const *arguments;       // with the name; NULL ends them
  char *const *environment;     // NULL ends it
  const char *folder;           // where it begins; NULL: here
  int32_t streams[3];           // what becomes its 0, 1 and 2
  bool leadsGroup;              // it leads a process group of its own
  bool leadsSession;            // and a session of its own, without a terminal
};

enum cmx_spawn_stage { cmx_spawn_clone, cmx_spawn_group, cmx_spawn_folder, cmx_spawn_streams,
                       cmx_spawn_program };

struct cmx_spawned {
  int32_t pid;
  int32_t fd;     // the pidfd
  int32_t stage;  // of the failure
};

// Starts a child, whose signals are all unblocked and default and that gets no other descriptors.
// 0, or -errno, also of what failed in the child before the program began: there is none then.
int cmx_child_start(const struct cmx_spawn *plan, struct cmx_spawned *spawned);

// How a child ended.
struct cmx_exit {
  int32_t code;    // -1 if it was killed, or if that is not known
  int32_t signal;  // 0 if it was not killed
};

// 1 if the child has ended, 0 if not, -errno if it is not ours or somebody else has waited for it.
// The child stays a zombie, whose number cannot be another's, unless `takes` is set.
int cmx_exit_of(int fd, bool takes, struct cmx_exit *status);
// 0 or -errno.
int cmx_process_signal(int fd, int number);
// Waits until all children have ended, at most so many milliseconds; how many have not.
int cmx_await_exits(const int32_t *fds, int count, int timeout_ms);

// A pipe, both ends closed on exec and blocking.
int cmx_pipe(int32_t ends[2]);
// /dev/null, to read and write.
int cmx_null(void);
// A copy of a descriptor, closed on exec.
int cmx_duplicate(int fd);
// Whether nobody can write into the pipe or socket any more that is read here.
bool cmx_has_hung_up(int fd);
// A descriptor that is readable once one of these has hung up.
int cmx_hangup_open(const int32_t *fds, int count);
// A descriptor that is readable after so many nanoseconds of the system's time.
int cmx_alarm(int64_t nanoseconds);

// The environment of this process; NULL ends it.
int32_t cmx_own_id(void);
char **cmx_environment(void);
// A child's signals are ours to wait for: undoes that the process was begun with SIGCHLD ignored.
void cmx_keep_children(void);
