// Shared by the files of this target.
#pragma once
#include "CLinuxShims.h"
#include "CRecording.h"

// The name of what was asked for. (names.c)
void cmr_describe(char *text, size_t size, int tag, int64_t key);
// In a replay: writes what goes to the standard streams. (streams.c)
void cmr_echo(int fd, const void *bytes, int64_t count);
// Whether a copy of a descriptor is a copy of a standard stream.
void cmr_copied(int from, int to);

// The recording has ended: an older one of its name goes, or gets its name back.
void cmr_settle(bool is_whole);
// The same for a descriptor, which the tape then owns.
int cmr_commit(int fd);
