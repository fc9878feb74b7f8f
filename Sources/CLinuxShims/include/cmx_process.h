// Child processes: started without a shell, known by a descriptor, waited for without SIGCHLD.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// What to start. Not changed, and needed only during the call.
struct cmx_spawn {
  const char *const *programs;  // paths to try in turn; NULL-terminated
  char *const *arguments;       // including the name; NULL-terminated
  char *const *environment;     // NULL-terminated
  const char *folder;           // working folder; NULL: this process's
  int32_t *streams;             // become its 0, 1, 2 and so on, -1: it has none; overwritten
  int32_t count;                // of the streams: 3 or more
  int32_t user, group;          // of the child; -1: those of this process
  bool leadsGroup;              // whether it leads its own process group
  bool leadsSession;            // and its own session, without a terminal
  bool ownsTerminal;            // its 0 becomes the terminal of the session
};

enum cmx_spawn_stage { cmx_spawn_clone, cmx_spawn_group, cmx_spawn_folder, cmx_spawn_streams,
                       cmx_spawn_owner, cmx_spawn_program };

struct cmx_spawned {
  int32_t pid;
  int32_t fd;     // the pidfd
  int32_t stage;  // of the failure
};

// Starts a child with all signals unblocked and default, and without other descriptors.
// 0; or -errno, also if the child failed before its program began: there is no child then.
int cmx_child_start(const struct cmx_spawn *plan, struct cmx_spawned *spawned);

// How a child ended.
struct cmx_exit {
  int32_t code;    // -1 if it was killed, or if unknown
  int32_t signal;  // 0 if it was not killed
};

// 1 if the child has ended, 0 if not, -errno if it is not ours or was already waited for.
// The child stays a zombie, whose process ID cannot be reused, unless `takes` is set.
int cmx_exit_of(int fd, bool takes, struct cmx_exit *status);
// What a process has used; false if there is none. For a process without a recording.
struct cmx_process_usage {
  int64_t nanoseconds;  // of processors
  int64_t resident;     // bytes of memory
};
bool cmx_usage_of(int32_t pid, struct cmx_process_usage *usage);
// 0 or -errno.
int cmx_process_signal(int fd, int number);
// Waits up to this many milliseconds for all children to end; returns how many have not.
int cmx_await_exits(const int32_t *fds, int count, int timeout_ms);

// A pipe, both ends closed on exec and blocking.
int cmx_pipe(int32_t ends[2]);
// A pseudo-terminal: our side, non-blocking, and the child's.
int cmx_pty(int32_t sides[2], int columns, int rows);
// Sets its size; programs in it get SIGWINCH. 0 or -errno.
int cmx_pty_resize(int fd, int columns, int rows);
// /dev/null, for reading and writing.
int cmx_null(void);
// A copy of a descriptor, closed on exec.
int cmx_duplicate(int fd);
// Whether all writers of the pipe or socket that is read here have closed it.
bool cmx_has_hung_up(int fd);
// A descriptor that is readable once one of these has hung up.
int cmx_hangup_open(const int32_t *fds, int count);
// A descriptor that is readable after this many nanoseconds of system time.
int cmx_alarm(int64_t nanoseconds);

// The environment of this process; NULL-terminated.
int32_t cmx_own_id(void);
char **cmx_environment(void);
// Descendants that lose their parent become children of this process.
void cmx_adopt(void);

// Writes the process IDs of the children of all threads, and returns their number.
int cmx_children(int32_t *pids, int most);

bool cmx_shares_group(int32_t pid);
int32_t cmx_group_of(int32_t pid);

// Whether a process of this group runs beside its leader; true if that cannot be known.
bool cmx_group_runs(int32_t leader);

// Writes a process's arguments, each with a zero byte at its end, and returns the length.
int cmx_command_of(int32_t pid, char *text, int size);

// Whether a child runs. One that has ended is reaped.
bool cmx_child_runs(int32_t pid);

// Kills a child that has not been reaped, and reaps it.
void cmx_child_kill(int32_t pid);

// Waits for the end of a process.
void cmx_child_await(int32_t pid, int timeout_ms);

// Lets time pass, on a thread that has no loop.
void cmx_rest(int timeout_ms);
// Makes sure that children's statuses can be waited for, even if SIGCHLD was inherited ignored.
void cmx_keep_children(void);
