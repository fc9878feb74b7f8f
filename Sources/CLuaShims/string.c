// The functions of Lua's string library that can run long in one call, so that a stop ends them.
//
// Same results and messages as in liblua 5.4; the rest of the library stays liblua's own.
#include <limits.h>
#include <string.h>

#include "libraries.h"
#include "matcher.h"

// How much to copy between two polls.
enum { COPY_STEP_BYTES = 1 << 16 };

// Limit for string.rep, as in liblua.
static const size_t REP_BYTES_MAX = INT_MAX;

// ── common to find, match, gmatch, gsub ─────────────────────────────────────────────────────────

// The offset of a script's position (from 1, or from the end if negative) in a string; past the end
// it is more than the length.
static size_t offset_of(lua_Integer position, size_t length) {
  if (position > 0) return (size_t)position - 1;
  if (position == 0 || position < -(lua_Integer)length) return 0;
  return length - (size_t)(-position);
}

static void push_position(const struct cml_matcher *m, const char *s) {
  lua_pushinteger(m->L, (s - m->subject) + 1);
}

// Pushes a capture of the match from `s` to `end`; the first one is the whole match if the pattern
// has none.
static void push_capture(struct cml_matcher *m, int i, const char *s, const char *end) {
  if (i >= m->count) {
    if (i > 0) luaL_error(m->L, "invalid capture index %%%d", i + 1);
    lua_pushlstring(m->L, s, (size_t)(end - s));
    return;
  }
  struct cml_capture capture = m->captures[i];
  if (capture.length == CML_CAPTURE_OPEN) luaL_error(m->L, "unfinished capture");
  if (capture.length == CML_CAPTURE_POSITION) {
    push_position(m, capture.start);
  } else {
    lua_pushlstring(m->L, capture.start, (size_t)capture.length);
  }
}

// Pushes all captures, or the whole match if there are none and `s` is given.
static int push_captures(struct cml_matcher *m, const char *s, const char *end) {
  int count = m->count == 0 && s ? 1 : m->count;
  luaL_checkstack(m->L, count, "too many captures");
  for (int i = 0; i < count; i++) push_capture(m, i, s, end);
  return count;
}

// ── find, match ─────────────────────────────────────────────────────────────────────────────────

static bool is_plain(const char *pattern, size_t length) {
  for (size_t i = 0; i < length; i++) {
    switch (pattern[i]) {
      case '^': case '$': case '*': case '+': case '?':
      case '.': case '(': case '[': case '%': case '-': return false;
    }
  }
  return true;
}

static int find_plain(lua_State *L, const char *subject, size_t length, size_t from,
                      const char *needle, size_t needle_length) {
  const char *found =
      cml_find_plain(L, subject + from, length - from, needle, needle_length);
  if (!found) {
    luaL_pushfail(L);
    return 1;
  }
  lua_Integer first = (found - subject) + 1;
  lua_pushinteger(L, first);
  lua_pushinteger(L, first + (lua_Integer)needle_length - 1);
  return 2;
}

static int find_or_match(lua_State *L, bool is_find) {
  size_t length, pattern_length;
  const char *subject = luaL_checklstring(L, 1, &length);
  const char *pattern = luaL_checklstring(L, 2, &pattern_length);
  size_t from = offset_of(luaL_optinteger(L, 3, 1), length);
  if (from > length) {
    luaL_pushfail(L);
    return 1;
  }
  if (is_find && (lua_toboolean(L, 4) || is_plain(pattern, pattern_length)))
    return find_plain(L, subject, length, from, pattern, pattern_length);

  bool is_anchored = *pattern == '^';
  struct cml_matcher m;
  cml_matcher_init(&m, L, subject, length, pattern + is_anchored, pattern_length - is_anchored);
  const char *s = subject + from;
  const char *end = is_anchored ? cml_match_at(&m, s) : cml_match_next(&m, &s, NULL);
  if (!end) {
    luaL_pushfail(L);
    return 1;
  }
  if (!is_find) return push_captures(&m, s, end);
  push_position(&m, s);
  lua_pushinteger(L, end - subject);
  return 2 + push_captures(&m, NULL, NULL);
}

static int string_find(lua_State *L) { return find_or_match(L, true); }

static int string_match(lua_State *L) { return find_or_match(L, false); }

// ── gmatch ──────────────────────────────────────────────────────────────────────────────────────

// The iterator's upvalues. The position is an offset into the subject where the last match ended,
// and where the next one must not end; -1 - offset before the first match, which may end anywhere.
// No other state is kept between calls, so an error in one call does not harm the next.
enum { GMATCH_SUBJECT = 1, GMATCH_PATTERN = 2, GMATCH_POSITION = 3 };

static int gmatch_next(lua_State *L) {
  size_t length, pattern_length;
  const char *subject = lua_tolstring(L, lua_upvalueindex(GMATCH_SUBJECT), &length);
  const char *pattern = lua_tolstring(L, lua_upvalueindex(GMATCH_PATTERN), &pattern_length);
  lua_Integer position = lua_tointeger(L, lua_upvalueindex(GMATCH_POSITION));
  bool is_first = position < 0;
  size_t from = (size_t)(is_first ? -1 - position : position);
  if (from > length) return 0;

  struct cml_matcher m;
  cml_matcher_init(&m, L, subject, length, pattern, pattern_length);
  const char *s = subject + from;
  const char *end = cml_match_next(&m, &s, is_first ? NULL : s);
  if (!end) return 0;
  lua_pushinteger(L, end - subject);
  lua_replace(L, lua_upvalueindex(GMATCH_POSITION));
  return push_captures(&m, s, end);
}

static int string_gmatch(lua_State *L) {
  size_t length;
  luaL_checklstring(L, 1, &length);
  luaL_checklstring(L, 2, NULL);
  size_t from = offset_of(luaL_optinteger(L, 3, 1), length);
  if (from > length) from = length + 1;
  lua_settop(L, 2);
  lua_pushinteger(L, -1 - (lua_Integer)from);
  lua_pushcclosure(L, gmatch_next, 3);
  return 1;
}

// ── gsub ────────────────────────────────────────────────────────────────────────────────────────

// Adds the replacement string, in which %0 to %9 stand for captures.
static bool add_template(struct cml_matcher *m, luaL_Buffer *buffer, const char *s,
                         const char *end) {
  size_t length;
  const char *text = lua_tolstring(m->L, 3, &length);
  const char *text_end = text + length;
  for (;;) {
    const char *escape = memchr(text, '%', (size_t)(text_end - text));
    if (!escape) break;
    luaL_addlstring(buffer, text, (size_t)(escape - text));
    char c = escape[1];  // the zero behind the string, if the escape ends it
    if (c == '%') {
      luaL_addchar(buffer, '%');
    } else if (c == '0') {
      luaL_addlstring(buffer, s, (size_t)(end - s));
    } else if (c >= '1' && c <= '9') {
      int i = c - '1';
      if (i < m->count && m->captures[i].length >= 0) {
        luaL_addlstring(buffer, m->captures[i].start, (size_t)m->captures[i].length);
      } else {
        push_capture(m, i, s, end);
        luaL_addvalue(buffer);
      }
    } else {
      luaL_error(m->L, "invalid use of '%%' in replacement string");
    }
    text = escape + 2;
  }
  luaL_addlstring(buffer, text, (size_t)(text_end - text));
  return true;
}

// Adds what a replacement table or function returns for the match; false if it returns nothing.
static bool add_replacement(struct cml_matcher *m, luaL_Buffer *buffer, int type, const char *s,
                            const char *end) {
  if (type == LUA_TTABLE) {
    push_capture(m, 0, s, end);
    lua_gettable(m->L, 3);
  } else {
    lua_pushvalue(m->L, 3);
    lua_call(m->L, push_captures(m, s, end), 1);  // door: script's, below gsub
  }
  if (!lua_toboolean(m->L, -1)) {
    lua_pop(m->L, 1);
    return false;
  }
  if (!lua_isstring(m->L, -1))
    luaL_error(m->L, "invalid replacement value (a %s)", luaL_typename(m->L, -1));
  luaL_addvalue(buffer);
  return true;
}

static int string_gsub(lua_State *L) {
  size_t length, pattern_length;
  const char *subject = luaL_checklstring(L, 1, &length);
  const char *pattern = luaL_checklstring(L, 2, &pattern_length);
  int type = lua_type(L, 3);
  lua_Integer count_max = luaL_optinteger(L, 4, (lua_Integer)length + 1);
  bool is_text = type == LUA_TSTRING || type == LUA_TNUMBER;
  luaL_argexpected(L, is_text || type == LUA_TFUNCTION || type == LUA_TTABLE, 3,
                   "string/function/table");

  bool is_anchored = *pattern == '^';
  struct cml_matcher m;
  cml_matcher_init(&m, L, subject, length, pattern + is_anchored, pattern_length - is_anchored);
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  const char *copied = subject;  // everything before this is in the buffer
  const char *s = subject;
  const char *last = NULL;
  bool is_changed = false;
  lua_Integer count = 0;
  while (count < count_max) {
    const char *end = is_anchored ? cml_match_at(&m, s) : cml_match_next(&m, &s, last);
    if (!end) break;
    count++;
    luaL_addlstring(&buffer, copied, (size_t)(s - copied));
    bool is_replaced = is_text ? add_template(&m, &buffer, s, end)
                               : add_replacement(&m, &buffer, type, s, end);
    copied = is_replaced ? end : s;
    is_changed |= is_replaced;
    s = last = end;
    if (is_anchored) break;
  }
  if (is_changed) {
    luaL_addlstring(&buffer, copied, (size_t)(subject + length - copied));
    luaL_pushresult(&buffer);
  } else {
    lua_pushvalue(L, 1);
  }
  lua_pushinteger(L, count);
  return 2;
}

// ── rep ─────────────────────────────────────────────────────────────────────────────────────────

// Fills `total` bytes with copies of what the first `unit` of them hold.
static void fill(lua_State *L, char *bytes, size_t unit, size_t total) {
  size_t step = unit;
  while (step < COPY_STEP_BYTES && step <= total - step) {
    memcpy(bytes + step, bytes, step);
    step *= 2;
  }
  for (size_t done = step; done < total; done += step) {
    cml_poll(L);
    memcpy(bytes + done, bytes, total - done < step ? total - done : step);
  }
}

static int string_rep(lua_State *L) {
  size_t length, separator_length;
  const char *text = luaL_checklstring(L, 1, &length);
  lua_Integer count = luaL_checkinteger(L, 2);
  const char *separator = luaL_optlstring(L, 3, "", &separator_length);
  size_t unit = length + separator_length;
  if (count <= 0 || unit == 0) {
    lua_pushliteral(L, "");
    return 1;
  }
  if (unit < length || unit > REP_BYTES_MAX / (size_t)count)
    return luaL_error(L, "resulting string too large");
  size_t total = unit * (size_t)count - separator_length;
  luaL_Buffer buffer;
  char *bytes = luaL_buffinitsize(L, &buffer, total);
  memcpy(bytes, text, length);
  if (count > 1) {
    memcpy(bytes + length, separator, separator_length);
    fill(L, bytes, unit, total);
  }
  luaL_pushresultsize(&buffer, total);
  return 1;
}

void cml_install_string(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"find", string_find}, {"match", string_match}, {"gmatch", string_gmatch},
      {"gsub", string_gsub}, {"rep", string_rep},     {NULL, NULL},
  };
  cml_replace_functions(L, LUA_STRLIBNAME, functions);
}
