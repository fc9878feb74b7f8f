// A thread that signals a loop as fast as it can: the same in C for every peer of W4B. And what
// tells callgrind when to count.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// Starts a thread that calls `send(handle)` so often; false if there is no thread.
bool sender_start(int (*send)(void *), void *handle, int64_t count);

// Whether the last call is under way or over.
bool sender_is_at_end(void);

// Under callgrind: instructions are counted from now on, or no more.
void count_instructions(bool on);
