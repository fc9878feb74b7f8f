// An allocator that returns the same addresses for the same requests: in a recording and its
// replay, tables with objects as keys are then walked in the same order, and printed objects have
// the same names. Blocks are in size classes, each with a list of free ones.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cml_internal.h"

enum { SMALL = 1024, UNIT = 16, SMALL_CLASSES = SMALL / UNIT, CLASSES = SMALL_CLASSES + 4 * 40 };
// Far from programs and libraries, and from ThreadSanitizer's shadow memory.
#ifdef CML_HOLDS_SIGNALS
#define PLACE ((void *)(uintptr_t)0x010000000000)
#else
#define PLACE ((void *)(uintptr_t)0x6d6c00000000)
#endif
#ifdef CML_FINDS_LEAKS
// What scripts hold is not a leak: leak checkers search all of this at the end.
void __lsan_register_root_region(const void *begin, size_t size);
void __lsan_unregister_root_region(const void *begin, size_t size);
static const size_t most = (size_t)256 << 20, least = (size_t)256 << 20;
#else
static const size_t most = (size_t)64 << 30, least = (size_t)1 << 30;
static inline void __lsan_register_root_region(const void *begin, size_t size) {
  (void)begin, (void)size;
}
static inline void __lsan_unregister_root_region(const void *begin, size_t size) {
  (void)begin, (void)size;
}
#endif
// Larger blocks return to the system when freed, except for their first page.
static const size_t returned = 1 << 20;

struct cml_arena {
  char *begin, *next, *end;
  void *free[CLASSES];
};

// Above the small ones there are four classes between a power of two and the next.
static size_t class_of(size_t size, size_t *rounded) {
  if (size <= SMALL) {
    size_t class = (size + UNIT - 1) / UNIT;
    *rounded = class * UNIT;
    return class - 1;
  }
  unsigned power = 63 - (unsigned)__builtin_clzll(size - 1);
  size_t step = (size_t)1 << (power - 2);
  size_t quarter = (size - 1 - ((size_t)1 << power)) / step;
  *rounded = ((size_t)1 << power) + (quarter + 1) * step;
  return SMALL_CLASSES + (power - 10) * 4 + quarter;
}

struct cml_arena *cml_arena_make(void) {
  struct cml_arena *arena = calloc(1, sizeof *arena);
  if (arena == NULL) return NULL;
  for (size_t size = most; size >= least; size /= 4) {
    void *place = mmap(PLACE, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (place == MAP_FAILED) continue;
    arena->begin = arena->next = place;
    arena->end = arena->begin + size;
    if (place == PLACE) {
      __lsan_register_root_region(place, size);
      return arena;
    }
    munmap(place, size);
    break;
  }
  free(arena);
  return NULL;
}

void cml_arena_free(struct cml_arena *arena) {
  if (arena == NULL) return;
  size_t size = (size_t)(arena->end - arena->begin);
  __lsan_unregister_root_region(arena->begin, size);
  munmap(arena->begin, size);
  free(arena);
}

static void *take(struct cml_arena *arena, size_t size) {
  size_t rounded, class = class_of(size, &rounded);
  void *block = arena->free[class];
  if (block != NULL) {
    memcpy(&arena->free[class], block, sizeof block);
    return block;
  }
  if ((size_t)(arena->end - arena->next) < rounded) return NULL;
  block = arena->next;
  arena->next += rounded;
  return block;
}

static void give_back(struct cml_arena *arena, void *block, size_t size) {
  size_t rounded, class = class_of(size, &rounded);
  if (rounded > returned) {
    uintptr_t page = 4096, from = ((uintptr_t)block + page + page - 1) & ~(page - 1);
    uintptr_t to = ((uintptr_t)block + rounded) & ~(page - 1);
    if (to > from) madvise((void *)from, to - from, MADV_DONTNEED);
  }
  memcpy(block, &arena->free[class], sizeof block);
  arena->free[class] = block;
}

void *cml_arena_resize(struct cml_arena *arena, void *block, size_t old_size, size_t new_size) {
  if (new_size == 0) {
    if (block != NULL) give_back(arena, block, old_size);
    return NULL;
  }
  if (block == NULL) return take(arena, new_size);
  size_t old_rounded, new_rounded;
  if (class_of(old_size, &old_rounded) == class_of(new_size, &new_rounded)) return block;
  void *fresh = take(arena, new_size);
  if (fresh == NULL) return NULL;
  memcpy(fresh, block, old_size < new_size ? old_size : new_size);
  give_back(arena, block, old_size);
  return fresh;
}
