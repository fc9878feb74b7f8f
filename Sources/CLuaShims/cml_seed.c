// The seed of a state's hashes, which determines the order of `pairs`.
//
// `lua_newstate` draws it from addresses and the time before it makes the first string, and in
// between allocates its stack: there we set it. Its place follows fields that we know (allocator,
// its argument, bytes allocated); if these are not found, it is left alone.

#include <stdlib.h>
#include <string.h>

#include "cml_internal.h"

enum { SEED_OFFSET = 12 * sizeof(void *) };

static _Thread_local struct {
  bool isWanted;
  uint32_t seed;
  int calls;
  char *block;
  size_t size;
} next;

void cml_reproduce_next(uint32_t seed) {
  next.isWanted = true;
  next.seed = seed;
}

static void *allocate_first(void *ud, void *block, size_t old_size, size_t new_size);

static void set_seed(void *ud) {
  for (size_t at = 0; at + SEED_OFFSET + 2 * sizeof(void *) <= next.size; at += sizeof(void *)) {
    lua_Alloc allocator;
    void *argument;
    size_t total;
    memcpy(&allocator, next.block + at, sizeof allocator);
    memcpy(&argument, next.block + at + sizeof(void *), sizeof argument);
    memcpy(&total, next.block + at + 2 * sizeof(void *), sizeof total);
    if (allocator != allocate_first || argument != ud || total != next.size) continue;
    memcpy(next.block + at + SEED_OFFSET, &next.seed, sizeof next.seed);
    return;
  }
}

static void *allocate_first(void *ud, void *block, size_t old_size, size_t new_size) {
  if (++next.calls == 2) set_seed(ud);
  void *result = cml_allocate(ud, block, old_size, new_size);
  if (next.calls == 1) {
    next.block = result;
    next.size = new_size;
  }
  return result;
}

lua_State *cml_new_state(struct cml_state *s) {
  if (!next.isWanted) return lua_newstate(cml_allocate, s);
  next.isWanted = false;
  next.calls = 0;
  s->arena = cml_arena_make();
  lua_State *L = lua_newstate(allocate_first, s);
  if (L != NULL) lua_setallocf(L, cml_allocate, s);
  return L;
}
