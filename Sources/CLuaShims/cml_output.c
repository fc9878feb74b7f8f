// `print`; and a state's standard output and error, if they are redirected: what a script writes to
// `io.stdout`, `io.stderr` and with `print` is passed on line by line.
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "cml_internal.h"

struct diverted_stream {
  struct cml_output *output;
  int number;
  FILE *file;
  char *buffer;    // of the file, which empties it when a write has returned
  size_t handed;   // how many bytes at its beginning were handed over by writes under way
};

struct cml_output {
  cml_output_taker take;
  void *context;
  FILE *files[2];
  struct diverted_stream streams[2];
};

static void give(struct diverted_stream *stream, const char *bytes, size_t count) {
  if (count > 0) stream->output->take(stream->output->context, stream->number, bytes, count);
}

// What takes the bytes may itself write to the file: these are behind them in the buffer then, or,
// if the buffer was emptied meanwhile, at its beginning.
static ssize_t hand_over(void *cookie, const char *bytes, size_t count) {
  struct diverted_stream *stream = cookie;
  size_t before = 0, waiting;
  if (bytes == stream->buffer) {
    before = stream->handed;
    stream->handed = count;
  }
  give(stream, bytes + before, count - before);
  while (stream->buffer != NULL && (waiting = __fpending(stream->file)) > stream->handed) {
    before = stream->handed;
    stream->handed = waiting;
    give(stream, stream->buffer + before, waiting - before);
  }
  stream->handed = 0;
  return (ssize_t)count;
}

// Turns the arguments into text. Returns their number.
static int make_texts(lua_State *L) {
  int count = lua_gettop(L);
  for (int i = count; i > 0; i--) cml_hide_address(L, i);
  for (int i = 1; i <= count; i++) {
    luaL_tolstring(L, i, NULL);  // door: script's, of a library
    lua_replace(L, i);
  }
  return count;
}

// Why `print` could first not write to the standard output; 0 if it could.
static _Atomic int failure;

int cml_take_print_failure(void) { return atomic_exchange(&failure, 0); }

// Like Lua's own, to our file or to the standard output, but each line is written as a whole:
// other threads print as well.
static int print(lua_State *L) {
  FILE *diverted = lua_touserdata(L, lua_upvalueindex(1)), *file = diverted ? diverted : stdout;
  int count = make_texts(L);
  flockfile(file);
  bool had_failed = ferror_unlocked(file);
  for (int i = 1; i <= count; i++) {
    size_t length;
    const char *text = lua_tolstring(L, i, &length);
    if (i > 1) putc_unlocked('\t', file);
    fwrite_unlocked(text, 1, length, file);
  }
  putc_unlocked('\n', file);
  if (diverted == NULL) fflush_unlocked(file);
  int none = 0;
  if (!had_failed && ferror_unlocked(file))
    atomic_compare_exchange_strong(&failure, &none, errno);
  funlockfile(file);
  return 0;
}

void cml_install_print(lua_State *L) {
  lua_pushcfunction(L, print);
  lua_setglobal(L, "print");
}

struct line {
  struct cml_output *output;
  size_t count;
  char bytes[BUFSIZ];
};

static void pass_on(struct line *line) {
  if (line->count > 0) line->output->take(line->output->context, 1, line->bytes, line->count);
  line->count = 0;
}

static void add(struct line *line, const char *bytes, size_t count) {
  if (count > sizeof line->bytes - line->count) pass_on(line);
  if (count > sizeof line->bytes) {
    line->output->take(line->output->context, 1, bytes, count);
  } else {
    memcpy(line->bytes + line->count, bytes, count);
    line->count += count;
  }
}

// The same without a file, for a state without `io`: the C library has all open files in one list,
// in which it looks for each that is closed.
static int print_line(lua_State *L) {
  int count = make_texts(L);
  struct line line;
  line.output = lua_touserdata(L, lua_upvalueindex(1));
  line.count = 0;
  for (int i = 1; i <= count; i++) {
    size_t length;
    const char *text = lua_tolstring(L, i, &length);
    if (i > 1) add(&line, "\t", 1);
    add(&line, text, length);
  }
  add(&line, "\n", 1);
  pass_on(&line);
  return 0;
}

static bool open_files(struct cml_output *output) {
  cookie_io_functions_t functions = {.write = hand_over};
  char *own = malloc(BUFSIZ);
  output->streams[0].buffer = own;
  if (own == NULL) return false;
  for (int i = 0; i < 2; i++) {
    FILE *file = output->files[i] = fopencookie(&output->streams[i], "w", functions);
    char *buffer = i == 0 ? own : NULL;
    output->streams[i] = (struct diverted_stream){output, i + 1, file, buffer, 0};
    if (file == NULL) return false;
    setvbuf(file, buffer, i == 0 ? _IOLBF : _IONBF, BUFSIZ);
  }
  return true;
}

static int install(lua_State *L) {
  struct cml_output *output = lua_touserdata(L, 1);
  static const char *const names[] = {"stdout", "stderr"};
  bool has_io = lua_getglobal(L, "io") == LUA_TTABLE;  // not with safe libraries
  if (has_io && !open_files(output)) return luaL_error(L, "no memory");
  for (int i = 0; has_io && i < 2; i++) {
    lua_getfield(L, -1, names[i]);
    luaL_Stream *stream = luaL_testudata(L, -1, LUA_FILEHANDLE);
    if (stream != NULL) stream->f = output->files[i];
    lua_pop(L, 1);
  }
  lua_pushlightuserdata(L, has_io ? (void *)output->files[0] : output);
  lua_pushcclosure(L, has_io ? print : print_line, 1);
  lua_setglobal(L, "print");
  return 0;
}

cml_output *cml_divert_output(cml_state *s, cml_output_taker take, void *context) {
  struct cml_output *output = calloc(1, sizeof *output);
  if (output == NULL) return NULL;
  output->take = take;
  output->context = context;
  lua_State *L = s->main;
  lua_pushcfunction(L, install);
  lua_pushlightuserdata(L, output);
  if (cml_protected_call(L, 1) == LUA_OK) return output;
  cml_output_free(output);
  return NULL;
}

void cml_output_free(cml_output *output) {
  for (int i = 0; i < 2; i++)
    if (output->files[i] != NULL) fclose(output->files[i]);
  free(output->streams[0].buffer);
  free(output);
}
