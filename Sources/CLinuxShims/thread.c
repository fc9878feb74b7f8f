// The calling thread: its identity, its loop, and what is called when it ends.

#define _GNU_SOURCE
#include "cmx_thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Thread_local int32_t thread_id;
static _Thread_local void *thread_loop;
static _Thread_local uint64_t steps;
static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;
static void (*_Atomic end_call)(void *);  // each thread sets the same

int32_t cmx_thread_id(void) {
  if (thread_id == 0) thread_id = gettid();
  return thread_id;
}

int32_t cmx_main_thread_id(void) { return getpid(); }
bool cmx_is_main_thread(void) { return cmx_thread_id() == cmx_main_thread_id(); }

bool cmx_thread_exists(int32_t id) { return syscall(SYS_tgkill, getpid(), id, 0) == 0; }

static int has_processors = -1;

bool cmx_has_processors(void) {
  int known = __atomic_load_n(&has_processors, __ATOMIC_RELAXED);
  if (known < 0) {
    cpu_set_t set;
    known = sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
    __atomic_store_n(&has_processors, known, __ATOMIC_RELAXED);
  }
  return known;
}

static void ended(void *loop) {
  void (*call)(void *) = end_call;
  if (call != NULL) call(loop);
  thread_loop = NULL;
}

static void make_key(void) { pthread_key_create(&end_key, ended); }

void *cmx_thread_loop(void) { return thread_loop; }

void cmx_set_thread_loop(void *loop) {
  pthread_once(&end_once, make_key);
  thread_loop = loop;
  pthread_setspecific(end_key, loop);
}

void cmx_on_thread_end(void (*call)(void *)) { end_call = call; }

void cmx_name_thread(const char *name) {
  char cut[16];  // the system allows no more
  snprintf(cut, sizeof cut, "%s", name);
  pthread_setname_np(pthread_self(), cut);
}

void cmx_note_steps(uint64_t count) { steps += count; }

uint64_t cmx_steps(void) { return steps; }
