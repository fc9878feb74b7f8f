// Recordings: what the system calls of a thread answered, in their order, and the same answers
// again without the system.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lua_State lua_State;

// Of recordings; another one is refused.
enum { cmr_format_version = 2 };

// What the answers of the standard libraries are kept under, of the keys of `Tape.Key`.
enum { cmr_key_library = 2 };

// Begins to write into a descriptor, which is then the tape's. 0, or -errno.
int cmr_record(int fd);

// Begins to keep what would be written, in memory, for a script that may ask for it; what becomes
// more than a megabyte is given up. 0, or -errno.
int cmr_hold(void);
bool cmr_is_held(void);
// Writes what was kept into a descriptor, which is then the tape's, and goes on.
int cmr_commit(int fd);

enum cmr_flaw {
  cmr_sound,
  cmr_foreign,    // it is no recording
  cmr_version,    // of another version of the format: in `byte`
  cmr_damaged,    // a part's checksum is wrong
  cmr_truncated,  // cut in the middle of a part
  cmr_endless,    // whole parts, but the end is missing: its program was killed
};

struct cmr_look {
  enum cmr_flaw flaw;
  uint64_t event;  // the last one before the flaw, or of all
  uint64_t byte;   // where the flaw is
};

// Looks through a whole recording, which must stay where it is while it plays.
struct cmr_look cmr_check(const void *bytes, size_t size);
// Begins to answer from a recording. Call `check` first: it must be sound or endless.
void cmr_play(const void *bytes, size_t size, bool is_endless);

// Called when what is asked for is not what was recorded; must not return.
// `is_end`: the script has ended its recording there, and all was as it is in it.
void cmr_on_divergence(void (*tell)(const char *message, bool is_end));
// The script ends its recording here.
int cmr_end_here(void);
// The script is over: writes the rest, or looks whether anything is left that was not asked for.
// -errno if what was recorded could not be written.
int cmr_finish(void);

uint64_t cmr_events(void);

// The body of a protected call: has those functions of the standard libraries that tell of the
// outside be recorded, or answer from the recording. Before the program's functions. [-0, +0, e]
int cmr_install_libraries(lua_State *L);
