// The floor's timers: slots, a 4-ary heap with 16-byte entries, a ring for what is due at once.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// A slot's place when it is not in the heap; anything below is its index there.
enum { PLACE_IDLE = 0xFFFFFFFFu, PLACE_RING = 0xFFFFFFFEu, SLOT_NONE = 0xFFFFFFFFu };

enum kind { KIND_FREE, KIND_TIMER, KIND_TASK, KIND_SOURCE, KIND_DESCRIPTOR };

struct slot {
  uint64_t due;         // When the timer is really due: may be later than its heap entry says.
  uint32_t every_us;    // The interval of a repeating timer; 0 for a one-shot.
  uint32_t place;       // Heap index, or one of PLACE_*.
  uint32_t generation;  // Changes when the slot is freed: stale handles and events do not match.
  uint32_t ticket;      // Names the one ring entry that counts; in a free slot, the next free one.
  uint8_t kind;
  bool is_object;       // The handler gets the userdata that stands for the slot.
  bool is_pending;      // Sources: signalled and not yet performed.
};

struct timers {
  struct slot *slots;
  uint32_t slot_count, slot_capacity, slot_free;
  struct entry { uint64_t due; uint64_t slot; } *heap;
  uint32_t heap_count, heap_capacity;
  struct ring_entry { uint32_t slot, ticket; } *ring;  // Capacity is a power of two.
  uint32_t ring_head, ring_tail, ring_capacity;
};

void timers_init(struct timers *t);
uint32_t slot_take(struct timers *t, enum kind kind);
void slot_free(struct timers *t, uint32_t slot);

// Schedules an idle slot; `due` not after `now` goes into the ring, the rest into the heap.
void timer_schedule(struct timers *t, uint32_t slot, uint64_t due, uint64_t now);
// Moves a timer. A later date is only noted: the heap entry moves when it comes to the top.
void timer_rearm(struct timers *t, uint32_t slot, uint64_t due, uint64_t now);
void timer_unschedule(struct timers *t, uint32_t slot);
// Takes the timer that is due first, or SLOT_NONE; a repeating one goes on to its next date.
uint32_t timer_next_fire(struct timers *t, uint64_t now);
// The date of the first heap entry, settled so that it is real; UINT64_MAX when there is none.
uint64_t timer_first_date(struct timers *t);
