// What the files of this target share with each other.
#pragma once
#include "CLinuxShims.h"
#include "CRecording.h"

// What was asked for, in words. (names.c)
void cmr_describe(char *text, size_t size, int tag, int64_t key);
// In a replay: what is written to the standard streams is written. (streams.c)
void cmr_echo(int fd, const void *bytes, int64_t count);
// Whether a copy of a descriptor is a copy of a standard stream.
void cmr_copied(int from, int to);
