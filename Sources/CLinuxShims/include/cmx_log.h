// Logs that never wait: what a descriptor does not take at once stands in a bounded buffer, which
// is written out later, at the end of the process, and when it crashes. Any thread.
#pragma once
#include <stdbool.h>
#include <stddef.h>

// A log to a descriptor, or to a file that is appended to if the path is not NULL. All users of a
// descriptor share one. A number from 0; -errno: -EMFILE when there are too many.
int cmx_log_open(int fd, const char *path);
void cmx_log_close(int log);
// Writes or queues all of it; false: there is no room for it, or its reader has gone.
bool cmx_log_write(int log, const void *bytes, size_t count);
// Writes what the descriptor takes now; returns how many bytes still wait.
size_t cmx_log_drain(int log);
// Why the last write failed (errno); 0: it did not, or there was no room for the moment.
int cmx_log_problem(int log);
