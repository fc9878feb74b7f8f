// The loop of a thread: one pointer for each thread, and a call when the thread ends.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// The calling thread's kernel ID (gettid), read once per thread.
int32_t cmx_thread_id(void);
// Whether the calling thread is the main thread of the process.
bool cmx_is_main_thread(void);
// The main thread's kernel ID.
int32_t cmx_main_thread_id(void);

// Whether a thread of this process has this kernel ID.
bool cmx_thread_exists(int32_t id);

// The pointer set last on the calling thread; NULL at first.
void *cmx_thread_loop(void);
void cmx_set_thread_loop(void *loop);
// Makes each thread that set a pointer call `ended` with it when the thread ends.
void cmx_on_thread_end(void (*ended)(void *loop));

// Debug builds count steps on the calling thread, so that tests can tell the cost of a search.
void cmx_note_steps(uint64_t count);
uint64_t cmx_steps(void);

// Whether the calling thread may run beside others, by its affinity when this is first asked.
bool cmx_has_processors(void);
// Keeps what is read after it behind what was written before, for all threads.
static inline void cmx_fence(void) {
#if defined(__x86_64__)
  __asm__ volatile("lock; orl $0, -8(%%rsp)" ::: "memory", "cc");  // a third of mfence
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

// Tells the processor that the thread waits for another one to write a word.
static inline void cmx_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Names the calling thread for the system's tools, cut to 15 bytes.
void cmx_name_thread(const char *name);
