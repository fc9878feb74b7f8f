// Where a script called us: the file and line, for messages and for handles; and the frames of a
// traceback, read after the error from the stack, which is still intact.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cml_internal.h"

// Our Lua modules make handles on behalf of their callers.
static bool is_ours(const char *source) {
  // Most names already differ from ours in their second byte.
  if (LIKELY(source[0] == 0 || source[1] != 'm')) return false;
  return strncmp(source, "@moonloop/", 10) == 0 || strcmp(source, "=moonloop") == 0;
}

// A wrong argument to one of our Lua modules is reported at the script's line, or at none; for a
// mistake in a configuration, the module that reads it gives the place.
void cml_site(lua_State *L, char *text) {
  lua_Debug ar;
  text[0] = 0;
  if (cml_of(L)->maker.line > 0) return;
  for (int level = 0; lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "Sl", &ar);
    // A line of 0 or less: a C function.
    if (ar.currentline <= 0 || is_ours(ar.source)) continue;
    // "(command line)" has brackets of its own.
    int length = (int)strlen(ar.short_src);
    bool is_bracketed = ar.short_src[0] == '(' && ar.short_src[length - 1] == ')';
    snprintf(text, CML_SITE_BYTES, " (%.*s:%d)", length - 2 * is_bracketed,
             ar.short_src + is_bracketed, ar.currentline);
    return;
  }
}

// As luaL_argerror counts.
int cml_argument_number(lua_State *L, int i) {
  lua_Debug ar;
  if (!lua_getstack(L, 0, &ar) || !lua_getinfo(L, "n", &ar)) return i;
  return strcmp(ar.namewhat, "method") == 0 ? i - 1 : i;
}

static int32_t name_id(struct cml_state *s, const char *name) {
  for (int i = s->names_count - 1; i >= 0; i--)
    if (strcmp(s->names[i], name) == 0) return i;
  if (s->names_count == s->names_capacity) {
    int capacity = s->names_capacity == 0 ? 8 : s->names_capacity * 2;
    void *names = realloc(s->names, (size_t)capacity * sizeof *s->names);
    if (names == NULL) return -1;
    s->names = names;
    s->names_capacity = capacity;
  }
  snprintf(s->names[s->names_count], LUA_IDSIZE, "%s", name);
  return s->names_count++;
}

static struct cml_position position_of(lua_State *L, const lua_Debug *ar) {
  struct cml_state *s = cml_of(L);
  int32_t *guess = &s->sources[((uintptr_t)ar->source >> 4) % CML_SOURCE_SLOTS];
  if (UNLIKELY(*guess == 0 || strcmp(s->names[*guess - 1], ar->short_src) != 0))
    *guess = name_id(s, ar->short_src) + 1;
  return (struct cml_position){*guess - 1, ar->currentline};
}

struct cml_position cml_position(lua_State *L) {
  lua_Debug ar;
  struct cml_position ours = {-1, 0};
  // Level 0 is the host function that calls this.
  for (int level = 1; lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "Sl", &ar);
    if (ar.currentline <= 0) continue;
    if (LIKELY(!is_ours(ar.source))) return position_of(L, &ar);
    // What a configuration describes is made at its line there.
    struct cml_state *s = cml_of(L);
    if (s->maker.line > 0) return s->maker;
    if (ours.source < 0) ours = position_of(L, &ar);
  }
  return ours;
}

void cml_set_maker(lua_State *L, const char *file, int32_t line) {
  struct cml_state *s = cml_of(L);
  s->maker = (struct cml_position){-1, 0};
  if (file == NULL || line <= 0) return;
  char name[LUA_IDSIZE];
  snprintf(name, sizeof name, "%s", file);
  s->maker = (struct cml_position){name_id(s, name), line};
}

const char *cml_source_name(cml_state *s, int32_t source) {
  return source >= 0 && source < s->names_count ? s->names[source] : "?";
}

// What cannot be suspended ------------------------------------------------------------------------

// Its address is the registry key of `package.loaded`: a string could fail to be made.
static int loaded;

void cml_where_set_up(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &loaded);
}

// Writes "table.sort" for the function on top of the stack, if a loaded module has it, and pops it.
// Uses five places of the stack, and makes nothing. [-1, +0, -]
static bool loaded_name(lua_State *L, char *name) {
  int function = lua_gettop(L);
  bool found = false;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &loaded);
  lua_pushnil(L);
  while (!found && lua_next(L, function + 1)) {
    if (lua_type(L, -1) == LUA_TTABLE && lua_type(L, -2) == LUA_TSTRING) {
      int module = lua_gettop(L);
      lua_pushnil(L);
      while (!found && lua_next(L, module)) {
        if (lua_type(L, -2) == LUA_TSTRING && lua_rawequal(L, -1, function)) {
          const char *prefix = lua_tostring(L, module - 1);
          bool is_global = strcmp(prefix, "_G") == 0;
          snprintf(name, CML_NAME_BYTES, "%s%s%s", is_global ? "" : prefix, is_global ? "" : ".",
                   lua_tostring(L, -2));
          found = true;
        }
        lua_pop(L, 1);
      }
      lua_settop(L, module);
    }
    lua_pop(L, 1);
  }
  lua_settop(L, function - 1);
  return found;
}

// The C functions through which a wait may pass.
static bool lets_pass(const char *name) {
  static const char *const names[] = {"pcall", "xpcall", "dofile", "error"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

bool cml_boundary(lua_State *L, char *name) {
  if (lua_isyieldable(L)) return false;
  snprintf(name, CML_NAME_BYTES, "the main coroutine");
  lua_Debug ar;
  if (!lua_checkstack(L, 12)) return true;
  bool is_main = lua_pushthread(L) == 1;
  lua_pop(L, 1);
  // A task's coroutine can wait, but not once it has ended: then only its `__close` functions run.
  if (!is_main) snprintf(name, CML_NAME_BYTES, "__close");
  for (int level = 1; lua_getstack(L, level, &ar); level++) {  // 0 is the calling function
    lua_getinfo(L, "Snf", &ar);
    bool is_finalizer = ar.name != NULL && strcmp(ar.namewhat, "metamethod") == 0 &&
                        strcmp(ar.name, "__gc") == 0;
    bool is_hook = strcmp(ar.namewhat, "hook") == 0;
    if (is_finalizer || is_hook) {
      lua_pop(L, 1);
      snprintf(name, CML_NAME_BYTES, is_finalizer ? "__gc" : "debug.sethook");
      return true;
    }
    if (ar.what[0] != 'C') {
      lua_pop(L, 1);
      continue;
    }
    char text[CML_NAME_BYTES];
    if (!loaded_name(L, text))
      snprintf(text, sizeof text, "%s", ar.name != NULL ? ar.name : "a function of C");
    // It lets waits pass, but its message handler does not.
    if (!is_main && strcmp(text, "xpcall") == 0) memcpy(name, text, sizeof "xpcall");
    if (lets_pass(text)) continue;
    memcpy(name, text, CML_NAME_BYTES);
    return true;
  }
  return true;
}

bool cml_frame_at(lua_State *L, int level, struct cml_frame *out) {
  lua_Debug ar;
  if (!lua_getstack(L, level, &ar)) return false;
  lua_getinfo(L, "Slnt", &ar);
  memset(out, 0, sizeof *out);
  snprintf(out->source, sizeof out->source, "%s", ar.short_src);
  if (ar.name != NULL) snprintf(out->name, sizeof out->name, "%s", ar.name);
  // As luaL_traceback: a function of a module has its whole name.
  if (ar.what[0] == 'C' && lua_checkstack(L, 6)) {
    lua_getinfo(L, "f", &ar);
    loaded_name(L, out->name);
  }
  snprintf(out->name_kind, sizeof out->name_kind, "%s", ar.namewhat);
  out->line = ar.currentline;
  out->line_defined = ar.linedefined;
  out->what = ar.what[0];
  out->is_tail_call = ar.istailcall;
  return true;
}

int cml_frame_count(lua_State *L) {
  lua_Debug ar;
  int low = 0, high = 1;
  while (lua_getstack(L, high, &ar)) low = high, high *= 2;
  while (low + 1 < high) {  // low exists unless it is 0
    int middle = (low + high) / 2;
    if (lua_getstack(L, middle, &ar)) low = middle;
    else high = middle;
  }
  return lua_getstack(L, low, &ar) ? low + 1 : 0;
}

// Slips of the pen --------------------------------------------------------------------------------

// The number of insertions, deletions, changes and swaps of neighbours between two words, or more
// than `limit`.
int cml_distance(const char *a, const char *b, int limit) {
  enum { LONGEST = 40 };
  int m = (int)strnlen(a, LONGEST + 1), n = (int)strnlen(b, LONGEST + 1);
  if (limit < 0 || m > LONGEST || n > LONGEST || m - n > limit || n - m > limit) return limit + 1;
  int rows[3][LONGEST + 1];
  for (int j = 0; j <= n; j++) rows[0][j] = j;
  for (int i = 1; i <= m; i++) {
    int *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
    row[0] = i;
    for (int j = 1; j <= n; j++) {
      int best = above[j - 1] + (a[i - 1] != b[j - 1]);
      if (above[j] + 1 < best) best = above[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
          before[j - 2] + 1 < best)
        best = before[j - 2] + 1;
      row[j] = best;
    }
  }
  int result = rows[m % 3][n];
  return result <= limit ? result : limit + 1;
}

int cml_distance_limit(const char *word) {
  size_t length = strlen(word);
  return length < 4 ? 1 : length < 6 ? 2 : 3;
}
