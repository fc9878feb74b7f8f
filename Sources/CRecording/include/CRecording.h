// Recordings: the answers of a thread's system calls in order, and their replay without the system.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lua_State lua_State;

// Version of the format; others are rejected.
enum { cmr_format_version = 2 };

// Keys for the standard libraries' answers; see `Tape.Key`.
enum { cmr_key_library = 2 };

// Starts to keep in memory what is to be written, for a script that may ask for it; gives up beyond
// a megabyte. 0, or -errno.
int cmr_hold(void);
bool cmr_is_held(void);
// Drops what is only in memory; no effect on what is written.
void cmr_let_go(void);
// Writes what was kept to a file, and continues there. 0; or -errno: what was there stays as it is,
// and what was kept is still kept.
int cmr_commit_to(const char *path);

enum cmr_flaw {
  cmr_sound,
  cmr_foreign,    // not a recording
  cmr_version,    // another version of the format: in `byte`
  cmr_damaged,    // a part's checksum is wrong
  cmr_truncated,  // cut in the middle of a part
  cmr_endless,    // complete parts, but no end: its program was killed
};

struct cmr_look {
  enum cmr_flaw flaw;
  uint64_t event;  // the last one before the flaw, or of all
  uint64_t byte;   // position of the flaw
};

// Checks a whole recording, which must stay in place while it plays.
struct cmr_look cmr_check(const void *bytes, size_t size);
// Starts to answer from a recording. Call `check` first: it must be sound or endless.
void cmr_play(const void *bytes, size_t size, bool is_endless);

// Called when the script asks for something other than what was recorded; must not return.
// `is_end`: the script ended its recording here, and all matched up to here.
void cmr_on_divergence(void (*tell)(const char *message, bool is_end));
// The script ends its recording here.
int cmr_end_here(void);
// The script is over: writes the rest, or checks that nothing recorded is left over. -errno
// if the recording could not be written.
int cmr_finish(void);

// The body of a protected call: makes the standard library functions with outside input record, or
// answer from the recording. Before the program's own functions. [-0, +0, e]
int cmr_install_libraries(lua_State *L);
