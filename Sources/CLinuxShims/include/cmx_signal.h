// Signals as something to read: signalfd, a thread's mask, and signals that reach a thread which
// does not block them.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// One signal that was read.
struct cmx_signal {
  int32_t number;
  int32_t pid;  // the sender's; 0: the kernel, or unknown
  uint32_t uid;
  int32_t value;  // the value queued with it
};

// A descriptor to read these signals from; the threads of the process must block them.
int cmx_signal_open(const int32_t *numbers, int count);
// Reads up to `count` signals: the number read, or -errno; -EAGAIN if there is none.
int cmx_signal_read(int fd, struct cmx_signal *signals, int count);

// Blocks a signal on the calling thread; returns whether it was blocked before.
bool cmx_signal_block(int number);
void cmx_signal_unblock(int number);

// Passes a signal on to `thread`, which blocks it, if it reaches a thread that does not; keeps the
// previous action. One caller at a time.
int cmx_signal_divert(int number, int32_t thread);
// Sets the thread that signals are passed on to.
void cmx_signal_pass_to(int number, int32_t thread);
// Drops a signal that waits for this thread or the process, if this thread blocks it.
void cmx_signal_drop(int number);
// Restores the previous action.
void cmx_signal_restore(int number);

// Such as "TERM"; NULL for real-time signals and unknown numbers.
const char *cmx_signal_name(int number);
int cmx_signal_realtime_first(void);
int cmx_signal_realtime_last(void);
// Sends a signal to a process, or to a group if `pid` is negative; 0 or -errno.
int cmx_signal_send(int32_t pid, int number);
