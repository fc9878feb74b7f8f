// Logs that never wait: what a descriptor does not take at once goes into a bounded buffer, which
// is written later: when possible, at the end of the process, and when it crashes. Any thread.
#pragma once
#include <stdbool.h>
#include <stddef.h>

// A log to a descriptor, or to a file that is appended to if the path is not NULL. All users of a
// descriptor share one log. A number from 0; -errno: -EMFILE if there are too many.
int cmx_log_open(int fd, const char *path);
void cmx_log_close(int log);
// Writes or queues all of it; false if there is no room for it, or its reader has gone.
bool cmx_log_write(int log, const void *bytes, size_t count);
// Writes what the descriptor takes now; returns how many bytes are still queued. A thread of its
// own writes to files: `cmx_log_is_file`.
size_t cmx_log_drain(int log);
bool cmx_log_is_file(int log);
// Waits until everything is written to a file, or cannot be now; for half a second at most.
int cmx_log_await(int log);
// Writes what is queued, within a second: at the end of the process, also in a signal handler.
void cmx_log_write_out(void);
// What full disks have kept out: how many records, why the first, and of which file.
struct cmx_log_loss {
  size_t records;
  int problem;  // errno
  char path[256];
};
// Writes what is queued, as above, and tells what is lost. Call it once, when nothing logs.
struct cmx_log_loss cmx_log_finish(void);
// Why the last write failed (errno); 0: it did not, or there was just no room.
int cmx_log_problem(int log);
// A fatal signal ends the process also where a backtracer that handles it returns. Call it once, at
// the start of the program; opening a log does the same.
void cmx_end_at_fatal_signals(void);
