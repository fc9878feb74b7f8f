// Matching of Lua patterns (manual, section 6.4.1): the interface of matcher.c.
#pragma once
#include <stddef.h>

#include "cml_state.h"

enum {
  // As in liblua: more captures, or deeper recursion of the matcher, are errors.
  CML_CAPTURES_MAX = 32,
  CML_MATCH_DEPTH_MAX = 200,
};

// Replaces the length of a capture without one.
enum { CML_CAPTURE_OPEN = -1, CML_CAPTURE_POSITION = -2 };

// What one item of a pattern accepts: one byte of the subject.
enum cml_item_kind { CML_ITEM_ANY, CML_ITEM_BYTE, CML_ITEM_CLASS, CML_ITEM_SET };

struct cml_item {
  enum cml_item_kind kind;
  unsigned char byte;  // the byte itself, or the letter of the class
  const char *start;   // of a set: its '['
  const char *end;     // where its quantifier would be
};

struct cml_capture {
  const char *start;
  ptrdiff_t length;
};

// A match of one pattern against one subject. It lives on the C stack of one call, so that an error
// leaves nothing behind for later calls.
struct cml_matcher {
  lua_State *L;
  const volatile sig_atomic_t *stop;
  const char *subject;
  const char *subject_end;
  const char *pattern;
  const char *pattern_end;
  int depth;    // remaining levels of recursion
  int count;    // captures begun so far
  enum { CML_FIRST_UNKNOWN, CML_FIRST_NONE, CML_FIRST_NEEDED } first_is;
  struct cml_item first;  // what every match begins with, if needed
  struct cml_capture captures[CML_CAPTURES_MAX];
};

// Prepares to look for a pattern, without its anchor, in a subject. Both stay the caller's; the
// byte after the end of each is a zero, as in every Lua string.
void cml_matcher_init(struct cml_matcher *m, lua_State *L, const char *subject,
                      size_t subject_length, const char *pattern, size_t pattern_length);

// The end of the match that begins exactly at `s`, or NULL. [-0, +0, v]
const char *cml_match_at(struct cml_matcher *m, const char *s);

// The end of the first match at or after `*s` that does not end at `last`, or NULL. `*s` is moved
// to its beginning. [-0, +0, v]
const char *cml_match_next(struct cml_matcher *m, const char **s, const char *last);

// The first place of `needle` in `hay`, or NULL; polls. [-0, +0, v]
const char *cml_find_plain(lua_State *L, const char *hay, size_t hay_length, const char *needle,
                           size_t needle_length);
