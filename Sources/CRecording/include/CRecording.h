// Recordings: what the system calls of a thread answered, in their order, and the same answers
// again without the system.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cmx_tape_state { cmx_tape_idle, cmx_tape_records, cmx_tape_plays };

// Of recordings; another one is refused.
enum { cmx_tape_format_version = 2 };

// What the calling thread's tape does. From any thread but its own: nothing.
enum cmx_tape_state cmx_tape_state(void);

// Begins to write into a descriptor, which is then the tape's. 0, or -errno.
int cmx_tape_record(int fd);

// Begins to keep what would be written, in memory, for a script that may ask for it; what becomes
// more than a megabyte is given up. 0, or -errno.
int cmx_tape_hold(void);
bool cmx_tape_is_held(void);
// Writes what was kept into a descriptor, which is then the tape's, and goes on.
int cmx_tape_commit(int fd);
// Forgets what was kept.
void cmx_tape_drop(void);

enum cmx_tape_flaw {
  cmx_tape_sound,
  cmx_tape_foreign,    // it is no recording
  cmx_tape_version,    // of another version of the format: in `byte`
  cmx_tape_damaged,    // a part's checksum is wrong
  cmx_tape_truncated,  // cut in the middle of a part
  cmx_tape_endless,    // whole parts, but the end is missing: its program was killed
};

struct cmx_tape_look {
  enum cmx_tape_flaw flaw;
  uint64_t event;  // the last one before the flaw, or of all
  uint64_t byte;   // where the flaw is
};

// Looks through a whole recording, which must stay where it is while it plays.
struct cmx_tape_look cmx_tape_check(const void *bytes, size_t size);
// Begins to answer from a recording. Call `check` first: it must be sound or endless.
void cmx_tape_play(const void *bytes, size_t size, bool is_endless);

// Called when what is asked for is not what was recorded; must not return.
// `is_end`: the script has ended its recording there, and all was as it is in it.
void cmx_tape_on_divergence(void (*tell)(const char *message, bool is_end));
// The script ends its recording here.
int cmx_tape_end_here(void);
// The script is over: writes the rest, or looks whether anything is left that was not asked for.
// -errno if what was recorded could not be written.
int cmx_tape_finish(void);

// What the host has to keep: written, or given back. `key` tells what it is.
void cmx_tape_put(uint32_t key, const void *bytes, size_t count);
size_t cmx_tape_take(uint32_t key, const void **bytes);

uint64_t cmx_tape_events(void);

// Between these the clocks are read beside the tape: by who looks on, and is not recorded.
void cmx_tape_set_aside(bool is_aside);

// Between these the thread has no tape: what it does is no part of what is recorded.
void *cmx_tape_leave(void);
void cmx_tape_return(void *left);

// A question about what other threads have done, to which the answer is nearly always no. In a
// replay `answer` does not count.
bool cmx_tape_look(bool answer);
// A number that depends on other threads; in a replay that of the recording.
int64_t cmx_tape_number(int64_t value);
