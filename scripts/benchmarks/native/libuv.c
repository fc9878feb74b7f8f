// W5 by libuv without Lua: pipes in a ring, a hundred bytes on the way; callbacks pass them on.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>
#include <valgrind/callgrind.h>

struct pipe { uv_poll_t poll; int from, to; };

static double cpu, wall;
static long moved, last;

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void on_readable(uv_poll_t *poll, int status, int events) {
  (void)status, (void)events;
  struct pipe *pipe = (struct pipe *)poll;
  char byte;
  if (read(pipe->from, &byte, 1) != 1) return;
  if (++moved == last) {
    CALLGRIND_STOP_INSTRUMENTATION;
    printf("{\"operations\": %ld, \"cpu\": %.3f, \"wall\": %.3f}\n", last,
           (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (double)last * 1e9,
           (seconds(CLOCK_MONOTONIC) - wall) / (double)last * 1e9);
    exit(0);
  }
  if (write(pipe->to, &byte, 1) != 1) abort();
}

int main(int argc, char **argv) {
  long count = argc > 1 ? atol(argv[1]) : 100;
  const char *scale = getenv("BENCH_SCALE");
  last = (long)(5e5 * (scale ? atof(scale) : 1));
  struct pipe *pipes = calloc((size_t)count, sizeof *pipes);
  int ends[2];
  for (long i = 0; i < count; i++) {
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC)) return perror("pipe2"), 1;
    pipes[i].from = ends[0];
    pipes[(i + count - 1) % count].to = ends[1];
  }
  for (long i = 0; i < count; i++) {
    uv_poll_init(uv_default_loop(), &pipes[i].poll, pipes[i].from);
    uv_poll_start(&pipes[i].poll, UV_READABLE, on_readable);
  }
  for (long i = 0; i < 100; i++)
    if (write(pipes[i * count / 100].to, "x", 1) != 1) abort();
  cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
  CALLGRIND_START_INSTRUMENTATION;
  return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
