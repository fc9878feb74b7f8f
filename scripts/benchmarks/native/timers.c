// The floor's timers. The heap is 4-ary: half as many levels, that is cache misses, as binary.
#include "timers.h"

#include <stdlib.h>

static void *grow(void *base, uint32_t *capacity, size_t size) {
  *capacity = *capacity ? *capacity * 2 : 64;
  void *bigger = realloc(base, *capacity * size);
  if (!bigger) abort();
  return bigger;
}

void timers_init(struct timers *t) {
  *t = (struct timers){.slot_free = SLOT_NONE};
  t->ring = grow(NULL, &t->ring_capacity, sizeof *t->ring);
}

// Slots start at 1: handlers lie in the array part of a Lua table under the slot's number.
uint32_t slot_take(struct timers *t, enum kind kind) {
  uint32_t index = t->slot_free;
  if (index != SLOT_NONE) {
    t->slot_free = t->slots[index].ticket;
  } else {
    if (t->slot_count + 1 >= t->slot_capacity)
      t->slots = grow(t->slots, &t->slot_capacity, sizeof *t->slots);
    index = ++t->slot_count;
    t->slots[index].generation = 0;
  }
  struct slot *s = &t->slots[index];
  *s = (struct slot){.place = PLACE_IDLE, .generation = s->generation, .kind = kind};
  return index;
}

void slot_free(struct timers *t, uint32_t index) {
  struct slot *s = &t->slots[index];
  s->kind = KIND_FREE;
  s->generation++;
  s->ticket = t->slot_free;
  t->slot_free = index;
}

static void put(struct timers *t, uint32_t place, struct entry e) {
  t->heap[place] = e;
  t->slots[e.slot].place = place;
}

static void sift_up(struct timers *t, uint32_t place, struct entry e) {
  while (place > 0) {
    uint32_t parent = (place - 1) / 4;
    if (t->heap[parent].due <= e.due) break;
    put(t, place, t->heap[parent]);
    place = parent;
  }
  put(t, place, e);
}

static void sift_down(struct timers *t, uint32_t place, struct entry e) {
  for (;;) {
    uint32_t first = place * 4 + 1, least = first;
    if (first >= t->heap_count) break;
    uint32_t end = first + 4 < t->heap_count ? first + 4 : t->heap_count;
    for (uint32_t i = first + 1; i < end; i++)
      if (t->heap[i].due < t->heap[least].due) least = i;
    if (t->heap[least].due >= e.due) break;
    put(t, place, t->heap[least]);
    place = least;
  }
  put(t, place, e);
}

static void heap_remove(struct timers *t, uint32_t place) {
  struct entry last = t->heap[--t->heap_count];
  if (place == t->heap_count) return;
  if (last.due < t->heap[place].due) sift_up(t, place, last);
  else sift_down(t, place, last);
}

static void ring_push(struct timers *t, uint32_t slot) {
  if (t->ring_tail - t->ring_head == t->ring_capacity) {
    uint32_t old = t->ring_capacity;
    t->ring = grow(t->ring, &t->ring_capacity, sizeof *t->ring);
    // The used part may wrap: lay it out again behind the old end, where the new mask finds it.
    struct ring_entry *copy = malloc(old * sizeof *copy);
    if (!copy) abort();
    for (uint32_t i = 0; i < old; i++) copy[i] = t->ring[(t->ring_head + i) & (old - 1)];
    for (uint32_t i = 0; i < old; i++)
      t->ring[(t->ring_head + i) & (t->ring_capacity - 1)] = copy[i];
    free(copy);
  }
  struct slot *s = &t->slots[slot];
  s->place = PLACE_RING;
  t->ring[t->ring_tail++ & (t->ring_capacity - 1)] = (struct ring_entry){slot, ++s->ticket};
}

void timer_schedule(struct timers *t, uint32_t slot, uint64_t due, uint64_t now) {
  t->slots[slot].due = due;
  if (due <= now) return ring_push(t, slot);
  if (t->heap_count == t->heap_capacity)
    t->heap = grow(t->heap, &t->heap_capacity, sizeof *t->heap);
  sift_up(t, t->heap_count++, (struct entry){due, slot});
}

void timer_rearm(struct timers *t, uint32_t slot, uint64_t due, uint64_t now) {
  struct slot *s = &t->slots[slot];
  if (s->place < PLACE_RING && due >= t->heap[s->place].due) {
    s->due = due;
    return;
  }
  timer_unschedule(t, slot);
  timer_schedule(t, slot, due, now);
}

void timer_unschedule(struct timers *t, uint32_t slot) {
  struct slot *s = &t->slots[slot];
  if (s->place < PLACE_RING) heap_remove(t, s->place);
  s->place = PLACE_IDLE;
  s->ticket++;
}

uint64_t timer_first_date(struct timers *t) {
  while (t->heap_count) {
    struct entry top = t->heap[0];
    uint64_t due = t->slots[top.slot].due;
    if (due == top.due) return due;
    sift_down(t, 0, (struct entry){due, top.slot});
  }
  return UINT64_MAX;
}

uint32_t timer_next_fire(struct timers *t, uint64_t now) {
  // Entries are settled when they look due: doing it each pass would undo what noting saves.
  if (!t->heap_count || t->heap[0].due > now || timer_first_date(t) > now) return SLOT_NONE;
  uint32_t slot = (uint32_t)t->heap[0].slot;
  struct slot *s = &t->slots[slot];
  uint64_t every = s->every_us * 1000ull;
  if (every) {
    s->due += every;
    if (s->due <= now) s->due += (now - s->due) / every * every + every;
    sift_down(t, 0, (struct entry){s->due, slot});
  } else {
    heap_remove(t, 0);
    s->place = PLACE_IDLE;
  }
  return slot;
}
