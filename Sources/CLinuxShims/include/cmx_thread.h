// The loop of a thread: one pointer for each thread, and a call when the thread ends.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// The calling thread's number in the kernel (gettid), read once for each thread.
int32_t cmx_thread_id(void);
// Whether the calling thread is the first of the process.
bool cmx_is_main_thread(void);
// The number that the main thread has.
int32_t cmx_main_thread_id(void);

// The pointer that was set last on the calling thread; NULL at first.
void *cmx_thread_loop(void);
void cmx_set_thread_loop(void *loop);
// Has `ended` called on each thread that set a pointer, when it ends, with the pointer.
void cmx_on_thread_end(void (*ended)(void *loop));

// Debug builds count the steps of the calling thread, so that tests can tell what a search costs.
void cmx_note_steps(uint64_t count);
uint64_t cmx_steps(void);

// Names the calling thread for the system's tools; what is longer than 15 bytes is cut.
void cmx_name_thread(const char *name);
