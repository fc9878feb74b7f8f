// What workloads need and stock Lua lacks, the same for all peers: clocks, pipes, process figures.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sender/include/sender.h"
#include "threads.h"

static lua_Integer nanoseconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1000000000ll + t.tv_nsec;
}

// cpu(): CPU time of the whole process, in nanoseconds.
static int probe_cpu(lua_State *L) {
  lua_pushinteger(L, nanoseconds(CLOCK_PROCESS_CPUTIME_ID));
  return 1;
}

// wall(): the monotonic clock, in nanoseconds.
static int probe_wall(lua_State *L) {
  lua_pushinteger(L, nanoseconds(CLOCK_MONOTONIC));
  return 1;
}

// pipe(): the reading and the writing end, neither blocking.
static int probe_pipe(lua_State *L) {
  int ends[2];
  if (pipe2(ends, O_NONBLOCK | O_CLOEXEC)) return luaL_error(L, "pipe2: %s", strerror(errno));
  lua_pushinteger(L, ends[0]);
  lua_pushinteger(L, ends[1]);
  return 2;
}

// read(fd, n): up to n bytes as a string; nil when nothing is there.
static int probe_read(lua_State *L) {
  static char buffer[1 << 16];
  size_t size = (size_t)luaL_checkinteger(L, 2);
  if (size > sizeof buffer) size = sizeof buffer;
  ssize_t got = read((int)luaL_checkinteger(L, 1), buffer, size);
  if (got < 0) lua_pushnil(L);
  else lua_pushlstring(L, buffer, (size_t)got);
  return 1;
}

// write(fd, s): the number of bytes written; -1 if none could be.
static int probe_write(lua_State *L) {
  size_t size;
  const char *bytes = luaL_checklstring(L, 2, &size);
  lua_pushinteger(L, write((int)luaL_checkinteger(L, 1), bytes, size));
  return 1;
}

// The number behind `key` in a /proc status file; 0 when the file or the key is missing.
static lua_Integer status_number(const char *path, const char *key) {
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  char line[256];
  lua_Integer value = 0;
  while (fgets(line, sizeof line, file))
    if (!strncmp(line, key, strlen(key))) value = strtoll(line + strlen(key), NULL, 10);
  fclose(file);
  return value;
}

// memory(): private memory of the process, in bytes: its resident anonymous pages.
static int probe_memory(lua_State *L) {
  lua_pushinteger(L, status_number("/proc/self/status", "RssAnon:") * 1024);
  return 1;
}

// switches(): how often the threads of this process went to sleep, all together.
static int probe_switches(lua_State *L) {
  lua_Integer sum = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task; tasks && (task = readdir(tasks));) {
    if (task->d_name[0] == '.') continue;
    char path[300];
    snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
    sum += status_number(path, "voluntary_ctxt_switches:");
  }
  if (tasks) closedir(tasks);
  lua_pushinteger(L, sum);
  return 1;
}

// count(on): under callgrind, instructions are counted from now on, or no more.
static int probe_count(lua_State *L) {
  count_instructions(lua_toboolean(L, 1));
  return 0;
}

int luaopen_probe(lua_State *L) {
  luaL_newlib(L, ((luaL_Reg[]){
    {"cpu", probe_cpu}, {"wall", probe_wall}, {"pipe", probe_pipe}, {"count", probe_count},
    {"read", probe_read}, {"write", probe_write}, {"memory", probe_memory},
    {"switches", probe_switches}, {"ticker", probe_ticker}, {"flood", probe_flood},
    {"take", probe_take}, {"burst", probe_burst}, {"sends", probe_sends}, {"taken", probe_taken},
    {"listen", probe_listen}, {"accept", probe_accept}, {"close", probe_close}, {NULL, NULL}}));
  return 1;
}
