// Signals as something to read: signalfd, the mask of a thread, and what becomes of a signal that
// reaches a thread which does not block it.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// One signal that was read.
struct cmx_signal {
  int32_t number;
  int32_t pid;  // of the sender; 0: the kernel, or not known
  uint32_t uid;
  int32_t value;  // what was queued with it
};

// A descriptor that gives signals of these numbers, which the threads of the process must block.
int cmx_signal_open(const int32_t *numbers, int count);
// Reads up to `count` signals: how many, or -errno; -EAGAIN if there is none.
int cmx_signal_read(int fd, struct cmx_signal *signals, int count);

// Blocks a signal on the calling thread; whether it was blocked before.
bool cmx_signal_block(int number);
void cmx_signal_unblock(int number);

// Has a signal that reaches a thread which does not block it passed on to `thread`, which does; and
// keeps what was done before. One caller at a time.
int cmx_signal_divert(int number, int32_t thread);
// The thread that signals are passed on to from now on.
void cmx_signal_pass_to(int number, int32_t thread);
// What was done before is done again.
void cmx_signal_restore(int number);

// Such as "TERM"; NULL for real-time signals and for what is none.
const char *cmx_signal_name(int number);
int cmx_signal_realtime_first(void);
int cmx_signal_realtime_last(void);
// Sends one to a process, or to a group if `pid` is negative; 0 or -errno.
int cmx_signal_send(int32_t pid, int number);
