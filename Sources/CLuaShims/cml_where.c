// Where a script called us: its file and line, for messages and for the handles it makes; and the
// frames of a traceback, read after the error from the stack that still stands.
#include <stdio.h>
#include <string.h>

#include "cml_internal.h"

void cml_site(lua_State *L, char *text) {
  lua_Debug ar;
  text[0] = 0;
  for (int level = 0; lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "Sl", &ar);
    if (ar.currentline <= 0) continue;  // a C function
    snprintf(text, CML_SITE_BYTES, " (%s:%d)", ar.short_src, ar.currentline);
    return;
  }
}

bool cml_position(lua_State *L, struct cml_position *out) {
  lua_Debug ar;
  for (int level = 0; lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "Sl", &ar);
    if (ar.currentline <= 0) continue;
    *out = (struct cml_position){ar.source, ar.srclen, ar.currentline};
    return true;
  }
  return false;
}

bool cml_frame_at(lua_State *L, int level, struct cml_frame *out) {
  lua_Debug ar;
  if (!lua_getstack(L, level, &ar)) return false;
  lua_getinfo(L, "Slnt", &ar);
  memset(out, 0, sizeof *out);
  snprintf(out->source, sizeof out->source, "%s", ar.short_src);
  if (ar.name != NULL) snprintf(out->name, sizeof out->name, "%s", ar.name);
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
  return length < 3 ? 1 : length < 6 ? 2 : 3;
}
