// Strings as the host reads them. Making one of Swift's takes longer than all else that a crossing
// does, so short ones are kept that crossed twice.
#include "cml_internal.h"

#include <stdlib.h>
#include <string.h>

const char *cml_string(lua_State *L, int i, size_t *count) {
  if (lua_type(L, i) != LUA_TSTRING) return NULL;
  return lua_tolstring(L, i, count);
}

// The size of a character beyond ASCII in bytes, at most `left`; 0 if it is invalid.
static size_t character(const unsigned char *at, size_t left) {
  unsigned first = at[0];
  size_t count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || left < count) return 0;
  // The limits on the second byte exclude overlong forms, surrogates and what is beyond Unicode.
  unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (at[1] < low || at[1] > high) return 0;
  for (size_t i = 2; i < count; i++)
    if ((at[i] & 0xc0) != 0x80) return 0;
  return count;
}

// How many bytes are ASCII before the first that is not, or fewer: whole blocks.
static size_t ascii_blocks(const char *bytes, size_t count) {
  enum { WORDS = 4 };
  uint64_t block[WORDS];
  size_t at = 0;
  for (; count - at >= sizeof block; at += sizeof block) {
    memcpy(block, bytes + at, sizeof block);
    if (((block[0] | block[1] | block[2] | block[3]) & 0x8080808080808080) != 0) break;
  }
  for (; count - at >= sizeof *block; at += sizeof *block) {
    memcpy(block, bytes + at, sizeof *block);
    if ((block[0] & 0x8080808080808080) != 0) break;
  }
  return at;
}


// Whether all is valid UTF-8, and whether it is ASCII.
static bool is_text(const char *bytes, size_t count, bool *is_ascii) {
  size_t at = ascii_blocks(bytes, count);
  *is_ascii = true;
  while (at < count) {
    if (LIKELY((unsigned char)bytes[at] < 0x80)) {
      at++;
      continue;
    }
    size_t step = character((const unsigned char *)bytes + at, count - at);
    if (step == 0) return false;
    *is_ascii = false;
    at += step;
    at += ascii_blocks(bytes + at, count - at);
  }
  return true;
}

// What crossed last, by the address of its bytes; Lua has each string of up to 40 bytes once.
// A string that was seen once is only noted, and kept from the second time on.
struct cml_known {
  const char *seen;
  uint64_t seen_end;  // its last bytes: another string may be there now
  size_t count;       // of the bytes that are kept; 0: none
  char bytes[CML_KNOWN_MOST];
};

// Notes a string that was not found; returns whether it is kept from now on.
static bool note(struct cml_known *known, const char *bytes, size_t count) {
  uint64_t end;
  memcpy(&end, bytes + count - sizeof end, sizeof end);
  if (known->seen != bytes || known->seen_end != end) {
    known->seen = bytes;
    known->seen_end = end;
    return false;
  }
  known->count = count;
  memcpy(known->bytes, bytes, count);
  return true;
}

enum cml_text_kind cml_text(lua_State *L, int i, struct cml_text *text) {
  if (lua_type(L, i) != LUA_TSTRING) return CML_TEXT_NONE;
  size_t count;
  const char *bytes = lua_tolstring(L, i, &count);
  struct cml_state *s = cml_of(L);
  size_t place = (uintptr_t)bytes / 16 % CML_KNOWN_COUNT;
  bool is_short = count >= CML_KNOWN_LEAST && count <= CML_KNOWN_MOST;
  struct cml_known *known = is_short && s->known != NULL ? &s->known[place] : NULL;
  if (known != NULL && known->count == count && memcmp(known->bytes, bytes, count) == 0) {
    text->kept = (char *)s->kept + 16 * place;
    return CML_TEXT_KNOWN;
  }
  *text = (struct cml_text){bytes, count, NULL, false, is_short && known == NULL};
  if (!is_text(bytes, count, &text->is_ascii)) return CML_TEXT_NONE;
  if (known != NULL && note(known, bytes, count)) text->kept = (char *)s->kept + 16 * place;
  return CML_TEXT_NEW;
}

void cml_keep_texts(cml_state *s, void *room) {
  s->kept = room;
  s->known = calloc(CML_KNOWN_COUNT, sizeof *s->known);
}

void *cml_kept_texts(cml_state *s) { return s->kept; }
