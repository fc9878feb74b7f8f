// Another thread for the workloads of W4: one ticks into a pipe, one posts messages to a queue
// behind a lock, the least a loop's inbox can be.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <lauxlib.h>
#include <lua.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "sender/include/sender.h"
#include "threads.h"

static int64_t monotonic(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

struct job {
  int fd;
  int64_t count, gap_ns;
};

static void start(lua_State *L, void *(*body)(void *), struct job job) {
  struct job *copy = malloc(sizeof *copy);
  pthread_t thread;
  if (copy == NULL) luaL_error(L, "no memory for a thread");
  *copy = job;
  if (pthread_create(&thread, NULL, body, copy) != 0) luaL_error(L, "no thread");
  pthread_detach(thread);
}

static void *tick(void *argument) {
  struct job job = *(struct job *)argument;
  free(argument);
  for (int64_t i = 0; i < job.count; i++) {
    nanosleep(&(struct timespec){0, (long)job.gap_ns}, NULL);
    int64_t now = monotonic();
    if (write(job.fd, &now, sizeof now) < 0) break;
  }
  return NULL;
}

// ticker(fd, count, gap): a thread writes the time into a pipe, `count` times, `gap` ns apart.
int probe_ticker(lua_State *L) {
  start(L, tick, (struct job){(int)luaL_checkinteger(L, 1), luaL_checkinteger(L, 2),
                              luaL_checkinteger(L, 3)});
  return 0;
}

static struct {
  pthread_mutex_t lock;
  int64_t *messages;
  size_t first, count, capacity;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool post(int64_t message) {
  pthread_mutex_lock(&queue.lock);
  bool was_empty = queue.first == queue.count;
  if (was_empty) queue.first = queue.count = 0;
  if (queue.count == queue.capacity) {
    queue.capacity = queue.capacity == 0 ? 1024 : queue.capacity * 2;
    queue.messages = realloc(queue.messages, queue.capacity * sizeof *queue.messages);
    if (queue.messages == NULL) abort();
  }
  queue.messages[queue.count++] = message;
  pthread_mutex_unlock(&queue.lock);
  return was_empty;
}

static void *flood(void *argument) {
  struct job job = *(struct job *)argument;
  free(argument);
  for (int64_t i = 1; i <= job.count; i++)
    if (post(i) && write(job.fd, "x", 1) < 0) break;
  return NULL;
}

// flood(fd, count): a thread posts the numbers up to `count`; a byte in the pipe for each time that
// the queue was empty.
int probe_flood(lua_State *L) {
  start(L, flood, (struct job){(int)luaL_checkinteger(L, 1), luaL_checkinteger(L, 2), 0});
  return 0;
}

// take(): the next message, or nil.
int probe_take(lua_State *L) {
  pthread_mutex_lock(&queue.lock);
  bool is_there = queue.first < queue.count;
  int64_t message = is_there ? queue.messages[queue.first++] : 0;
  pthread_mutex_unlock(&queue.lock);
  if (is_there) lua_pushinteger(L, message);
  else lua_pushnil(L);
  return 1;
}

// Signals that come together are one: only the first of them writes.
static struct {
  atomic_bool is_pending;
  int fd;
} signals;

static int signal_floor(void *unused) {
  (void)unused;
  return !atomic_exchange(&signals.is_pending, true) && write(signals.fd, "x", 1) < 0;
}

// burst(fd, count): a thread signals this often; a byte in the pipe for each signal after which
// none was pending. See taken().
int probe_burst(lua_State *L) {
  signals.fd = (int)luaL_checkinteger(L, 1);
  if (!sender_start(signal_floor, NULL, luaL_checkinteger(L, 2))) return luaL_error(L, "no thread");
  return 0;
}

// sends(async, count): a thread sends to an async handle of luv this often, without Lua; see
// taken().
int probe_sends(lua_State *L) {
  void *uv = dlopen("libuv.so.1", RTLD_NOW | RTLD_NOLOAD);  // luv's
  if (uv == NULL) return luaL_error(L, "libuv is not loaded");
  void *handle = *(void **)lua_touserdata(L, 1);  // luv's userdata: a pointer to libuv's handle
  int (*send)(void *) = (int (*)(void *))dlsym(uv, "uv_async_send");
  if (send == NULL || !sender_start(send, handle, luaL_checkinteger(L, 2)))
    return luaL_error(L, "no thread");
  return 0;
}

// taken(): the signal was seen; true after the last one.
int probe_taken(lua_State *L) {
  atomic_exchange(&signals.is_pending, false);
  lua_pushboolean(L, sender_is_at_end());
  return 1;
}
