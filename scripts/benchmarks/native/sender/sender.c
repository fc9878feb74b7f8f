// A thread that signals, and the requests to callgrind: see the header.
#include "include/sender.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <valgrind/callgrind.h>

struct sending {
  int (*send)(void *);
  void *handle;
  int64_t count;
};

static atomic_bool is_at_end;

static void *send_all(void *argument) {
  struct sending job = *(struct sending *)argument;
  free(argument);
  for (int64_t i = 1; i <= job.count; i++) {
    if (i == job.count) atomic_store(&is_at_end, true);
    job.send(job.handle);
  }
  return NULL;
}

bool sender_start(int (*send)(void *), void *handle, int64_t count) {
  struct sending *job = malloc(sizeof *job);
  pthread_t thread;
  if (job == NULL) return false;
  *job = (struct sending){send, handle, count};
  atomic_store(&is_at_end, false);
  if (pthread_create(&thread, NULL, send_all, job) != 0) return free(job), false;
  pthread_detach(thread);
  return true;
}

bool sender_is_at_end(void) { return atomic_load(&is_at_end); }

void count_instructions(bool on) {
  if (on) CALLGRIND_START_INSTRUMENTATION;
  else CALLGRIND_STOP_INSTRUMENTATION;
}
