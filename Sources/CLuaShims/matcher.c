// Matching of Lua patterns by backtracking, written so that a stop can end it at any moment.
//
// Same results and errors as the matcher of liblua 5.4. Where it is faster, it skips places that
// cannot match: by the first item of the pattern, and by the byte that must follow a repetition.
#define _GNU_SOURCE
#include "matcher.h"

#include <ctype.h>
#include <string.h>

enum {
  // How far a scan goes between two polls: a few microseconds byte by byte, about as long by words.
  STEP_BYTES = 4096,
  STEP_BYTES_FAST = 65536,
  // After this many false starts a plain search changes from memchr to memmem, which cannot become
  // quadratic but takes longer to start.
  FALSE_STARTS_MAX = 16,
};

static const char *match(struct cml_matcher *m, const char *s, const char *p);

static inline void heed_stop(struct cml_matcher *m) {
  if (__builtin_expect(*m->stop != CML_STOP_NONE, 0)) cml_raise_stop(m->L);
}

static inline size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// memchr that polls.
static const char *find_byte(struct cml_matcher *m, const char *s, int byte) {
  while (s < m->subject_end) {
    size_t length = smaller((size_t)(m->subject_end - s), STEP_BYTES_FAST);
    const char *found = memchr(s, byte, length);
    if (found) return found;
    heed_stop(m);
    s += length;
  }
  return NULL;
}

// ── items ───────────────────────────────────────────────────────────────────────────────────────

static bool in_class(int c, int letter) {
  bool is_in;
  switch (letter | 0x20) {
    case 'a': is_in = isalpha(c); break;
    case 'c': is_in = iscntrl(c); break;
    case 'd': is_in = isdigit(c); break;
    case 'g': is_in = isgraph(c); break;
    case 'l': is_in = islower(c); break;
    case 'p': is_in = ispunct(c); break;
    case 's': is_in = isspace(c); break;
    case 'u': is_in = isupper(c); break;
    case 'w': is_in = isalnum(c); break;
    case 'x': is_in = isxdigit(c); break;
    case 'z': is_in = c == 0; break;  // of Lua 5.1, still understood by 5.4
    default: return c == letter;
  }
  return is_in != !(letter & 0x20);
}

// `end` is after the ']'. An escape takes the byte after it even if that is the ']', and a range
// needs a byte between its '-' and the ']': both as in liblua.
static bool in_set(int c, const char *start, const char *end) {
  const unsigned char *p = (const unsigned char *)start + 1;
  const unsigned char *close = (const unsigned char *)end - 1;
  bool is_negated = *p == '^';
  for (p += is_negated; p < close; p++) {
    if (*p == '%') {
      p++;
      if (in_class(c, *p)) return !is_negated;
    } else if (p[1] == '-' && p + 2 < close) {
      if (p[0] <= c && c <= p[2]) return !is_negated;
      p += 2;
    } else if (*p == c) {
      return !is_negated;
    }
  }
  return is_negated;
}

static const char *set_end(struct cml_matcher *m, const char *p) {
  p++;
  if (*p == '^') p++;
  do {  // the first byte is a member even if it is a ']'
    if (p == m->pattern_end) luaL_error(m->L, "malformed pattern (missing ']')");
    if (*p++ == '%' && p < m->pattern_end) p++;
  } while (*p != ']');
  return p + 1;
}

static struct cml_item item_at(struct cml_matcher *m, const char *p) {
  switch (*p) {
    case '.': return (struct cml_item){.kind = CML_ITEM_ANY, .end = p + 1};
    case '[': return (struct cml_item){.kind = CML_ITEM_SET, .start = p, .end = set_end(m, p)};
    case '%':
      if (p + 1 == m->pattern_end) luaL_error(m->L, "malformed pattern (ends with '%%')");
      return (struct cml_item){
          .kind = CML_ITEM_CLASS, .byte = (unsigned char)p[1], .end = p + 2};
    default:
      return (struct cml_item){.kind = CML_ITEM_BYTE, .byte = (unsigned char)*p, .end = p + 1};
  }
}

static inline bool accepts(const struct cml_item *item, const char *s) {
  unsigned char c = (unsigned char)*s;
  switch (item->kind) {
    case CML_ITEM_ANY: return true;
    case CML_ITEM_BYTE: return c == item->byte;
    case CML_ITEM_CLASS: return in_class(c, item->byte);
    case CML_ITEM_SET: return in_set(c, item->start, item->end);
  }
  return false;
}

static inline bool is_optional(char quantifier) {
  return quantifier == '*' || quantifier == '?' || quantifier == '-';
}

// The byte that a match of `p` must begin with, or -1 if there is no such byte. Only of patterns
// whose first item can not raise an error.
static int required_byte(const struct cml_matcher *m, const char *p) {
  if (p == m->pattern_end) return -1;
  int byte = (unsigned char)*p;
  switch (byte) {
    case '(':
    case ')':
    case '$':
    case '.':
    case '[': return -1;
    case '%':
      byte = (unsigned char)*++p;
      if (p == m->pattern_end || byte >= 0x80 || isalnum(byte)) return -1;
  }
  return is_optional(p[1]) ? -1 : byte;
}

// ── repetitions ─────────────────────────────────────────────────────────────────────────────────

// The end of the longest run of bytes from `s` that an item accepts.
static const char *run_end(struct cml_matcher *m, const char *s, const struct cml_item *item) {
  if (item->kind == CML_ITEM_ANY) return m->subject_end;
  while (s < m->subject_end) {
    const char *step_end = s + smaller((size_t)(m->subject_end - s), STEP_BYTES);
    switch (item->kind) {
      case CML_ITEM_BYTE:
        while (s < step_end && (unsigned char)*s == item->byte) s++;
        break;
      case CML_ITEM_CLASS:
        while (s < step_end && in_class((unsigned char)*s, item->byte)) s++;
        break;
      default:
        while (s < step_end && in_set((unsigned char)*s, item->start, item->end)) s++;
    }
    if (s < step_end) return s;
    heed_stop(m);
  }
  return s;
}

static void check_depth(struct cml_matcher *m) {
  if (m->depth == 0) luaL_error(m->L, "pattern too complex");
}

// item* and item+: as many as possible, then fewer; `least` is the fewest.
static const char *match_longest(struct cml_matcher *m, const char *s, const struct cml_item *item,
                                 const char *least) {
  const char *rest = item->end + 1;
  const char *end = run_end(m, s, item);
  check_depth(m);
  if (rest == m->pattern_end) return end;
  int byte = required_byte(m, rest);
  for (;; end--) {
    if (byte >= 0) {
      const char *limit = end < m->subject_end ? end + 1 : end;
      end = memrchr(least, byte, (size_t)(limit - least));
      if (!end) return NULL;
    }
    const char *found = match(m, end, rest);
    if (found) return found;
    if (end == least) return NULL;
  }
}

// item-: as few as possible, then more.
static const char *match_shortest(struct cml_matcher *m, const char *s,
                                  const struct cml_item *item) {
  const char *rest = item->end + 1;
  check_depth(m);
  if (rest == m->pattern_end) return s;
  int byte = required_byte(m, rest);
  for (;; s++) {
    if (byte >= 0) {
      const char *next = find_byte(m, s, byte);
      if (!next) return NULL;
      if (item->kind != CML_ITEM_ANY) {
        for (size_t steps = 1; s < next; s++, steps++) {
          if (!accepts(item, s)) return NULL;
          if (steps % STEP_BYTES == 0) heed_stop(m);
        }
      }
      s = next;
    }
    const char *found = match(m, s, rest);
    if (found) return found;
    if (s == m->subject_end || !accepts(item, s)) return NULL;
  }
}

// ── captures and special items ──────────────────────────────────────────────────────────────────

static const char *open_capture(struct cml_matcher *m, const char *s, const char *p,
                                ptrdiff_t kind) {
  if (m->count >= CML_CAPTURES_MAX) luaL_error(m->L, "too many captures");
  m->captures[m->count] = (struct cml_capture){.start = s, .length = kind};
  m->count++;
  const char *end = match(m, s, p);
  if (!end) m->count--;
  return end;
}

static const char *close_capture(struct cml_matcher *m, const char *s, const char *p) {
  int i = m->count - 1;
  while (i >= 0 && m->captures[i].length != CML_CAPTURE_OPEN) i--;
  if (i < 0) luaL_error(m->L, "invalid pattern capture");
  m->captures[i].length = s - m->captures[i].start;
  const char *end = match(m, s, p);
  if (!end) m->captures[i].length = CML_CAPTURE_OPEN;
  return end;
}

// %1 to %9: the contents of a capture again.
static const char *match_capture(struct cml_matcher *m, const char *s, char digit) {
  int i = digit - '1';
  if (i < 0 || i >= m->count || m->captures[i].length == CML_CAPTURE_OPEN)
    luaL_error(m->L, "invalid capture index %%%d", i + 1);
  ptrdiff_t length = m->captures[i].length;
  if (length < 0 || m->subject_end - s < length) return NULL;
  return memcmp(m->captures[i].start, s, (size_t)length) == 0 ? s + length : NULL;
}

// %bxy: from an x to its y.
static const char *match_balanced(struct cml_matcher *m, const char *s, const char *p) {
  if (p + 1 >= m->pattern_end)
    luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
  if (s == m->subject_end || *s != *p) return NULL;
  char open = p[0], close = p[1];
  size_t depth = 1;
  for (s++; s < m->subject_end;) {
    const char *step_end = s + smaller((size_t)(m->subject_end - s), STEP_BYTES);
    for (; s < step_end; s++) {
      if (*s == close) {
        if (--depth == 0) return s + 1;
      } else if (*s == open) {
        depth++;
      }
    }
    heed_stop(m);
  }
  return NULL;
}

// %f[set]: between a byte outside of the set and one inside. Returns the rest of the pattern or
// NULL.
static const char *match_frontier(struct cml_matcher *m, const char *s, const char *p) {
  if (*p != '[') luaL_error(m->L, "missing '[' after '%%f' in pattern");
  const char *end = set_end(m, p);
  unsigned char before = s == m->subject ? 0 : (unsigned char)s[-1];
  return !in_set(before, p, end) && in_set((unsigned char)*s, p, end) ? end : NULL;
}

// ── the matcher ─────────────────────────────────────────────────────────────────────────────────

enum outcome { FAILED, GOES_ON, ENDED };

// One item and its quantifier at *s: either the match is decided (its end is in *s), or *s and *p
// advance.
static inline enum outcome match_item(struct cml_matcher *m, const char **s, const char **p) {
  struct cml_item item = item_at(m, *p);
  bool is_accepted = *s < m->subject_end && accepts(&item, *s);
  char quantifier = *item.end;
  if (!is_accepted) {
    if (!is_optional(quantifier)) return FAILED;
    *p = item.end + 1;
    return GOES_ON;
  }
  switch (quantifier) {
    case '?': {
      const char *end = match(m, *s + 1, item.end + 1);
      if (end) {
        *s = end;
        return ENDED;
      }
      *p = item.end + 1;
      return GOES_ON;
    }
    case '*': *s = match_longest(m, *s, &item, *s); break;
    case '+': *s = match_longest(m, *s + 1, &item, *s + 1); break;
    case '-': *s = match_shortest(m, *s, &item); break;
    default:
      *s += 1;
      *p = item.end;
      return GOES_ON;
  }
  return *s ? ENDED : FAILED;
}

static const char *match_here(struct cml_matcher *m, const char *s, const char *p) {
  while (p != m->pattern_end) {
    switch (*p) {
      case '(':
        return p[1] == ')' ? open_capture(m, s, p + 2, CML_CAPTURE_POSITION)
                           : open_capture(m, s, p + 1, CML_CAPTURE_OPEN);
      case ')': return close_capture(m, s, p + 1);
      case '$':
        if (p + 1 == m->pattern_end) return s == m->subject_end ? s : NULL;
        break;
      case '%':
        if (p[1] == 'b') {
          s = match_balanced(m, s, p + 2);
          if (!s) return NULL;
          p += 4;
          continue;
        }
        if (p[1] == 'f') {
          p = match_frontier(m, s, p + 2);
          if (!p) return NULL;
          continue;
        }
        if (p[1] >= '0' && p[1] <= '9') {
          s = match_capture(m, s, p[1]);
          if (!s) return NULL;
          p += 2;
          continue;
        }
    }
    enum outcome outcome = match_item(m, &s, &p);
    if (outcome != GOES_ON) return outcome == ENDED ? s : NULL;
  }
  return s;
}

// Every level of the recursion passes here, so depth is counted and exponential patterns are
// stopped here.
static const char *match(struct cml_matcher *m, const char *s, const char *p) {
  check_depth(m);
  heed_stop(m);
  m->depth--;
  s = match_here(m, s, p);
  m->depth++;
  return s;
}

// ── searching ───────────────────────────────────────────────────────────────────────────────────

void cml_matcher_init(struct cml_matcher *m, lua_State *L, const char *subject,
                      size_t subject_length, const char *pattern, size_t pattern_length) {
  m->L = L;
  m->stop = &cml_of(L)->stop;
  m->subject = subject;
  m->subject_end = subject + subject_length;
  m->pattern = pattern;
  m->pattern_end = pattern + pattern_length;
  m->first_is = CML_FIRST_UNKNOWN;
}

const char *cml_match_at(struct cml_matcher *m, const char *s) {
  m->count = 0;
  m->depth = CML_MATCH_DEPTH_MAX;
  return match(m, s, m->pattern);
}

// Determines what a match must begin with. An error in the first item is raised here, as the first
// attempt to match would do.
static void look_at_first(struct cml_matcher *m) {
  const char *p = m->pattern;
  if (p != m->pattern_end && *p == '(' && p[1] != ')') p++;
  m->first_is = CML_FIRST_NONE;
  if (p == m->pattern_end || *p == '(' || *p == ')' || *p == '$') return;
  if (*p == '%' && (p[1] == 'b' || p[1] == 'f' || isdigit((unsigned char)p[1]))) return;
  m->first = item_at(m, p);
  if (!is_optional(*m->first.end)) m->first_is = CML_FIRST_NEEDED;
}

// The first place at or after `s` where a match could begin, or NULL.
static const char *next_start(struct cml_matcher *m, const char *s) {
  if (m->first_is == CML_FIRST_NONE) return s;
  if (m->first.kind == CML_ITEM_BYTE) return find_byte(m, s, m->first.byte);
  for (size_t steps = 1; s < m->subject_end; s++, steps++) {
    if (accepts(&m->first, s)) return s;
    if (steps % STEP_BYTES == 0) heed_stop(m);
  }
  return NULL;
}

const char *cml_match_next(struct cml_matcher *m, const char **s, const char *last) {
  if (m->first_is == CML_FIRST_UNKNOWN) look_at_first(m);
  for (const char *at = *s;; at++) {
    at = next_start(m, at);
    if (!at) return NULL;
    const char *end = cml_match_at(m, at);
    if (end && end != last) {
      *s = at;
      return end;
    }
    if (at == m->subject_end) return NULL;
  }
}

// memmem that polls; for needles of two bytes and more.
static const char *find_long(lua_State *L, const char *hay, size_t hay_length, const char *needle,
                             size_t needle_length) {
  size_t step = smaller(needle_length, SIZE_MAX / 8) * 4 + STEP_BYTES_FAST;
  while (hay_length >= needle_length) {
    size_t window = smaller(hay_length, step);
    const char *found = memmem(hay, window, needle, needle_length);
    if (found) return found;
    cml_poll(L);
    size_t passed = window - (needle_length - 1);
    hay += passed;
    hay_length -= passed;
  }
  return NULL;
}

const char *cml_find_plain(lua_State *L, const char *hay, size_t hay_length, const char *needle,
                           size_t needle_length) {
  if (needle_length == 0) return hay;
  for (int false_starts = 0; hay_length >= needle_length;) {
    size_t starts = smaller(hay_length - needle_length + 1, STEP_BYTES_FAST);
    const char *found = memchr(hay, *needle, starts);
    cml_poll(L);
    if (found && memcmp(found, needle, needle_length) == 0) return found;
    size_t passed = found ? (size_t)(found - hay) + 1 : starts;
    hay += passed;
    hay_length -= passed;
    if (found && ++false_starts == FALSE_STARTS_MAX)
      return find_long(L, hay, hay_length, needle, needle_length);
  }
  return NULL;
}
