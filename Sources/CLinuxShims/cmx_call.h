// System calls in this target: the result or -errno, with injected faults.
#pragma once
#include "CLinuxShims.h"
#include "cmx_intake.h"

#include <errno.h>
#include <stdatomic.h>

// The body of a wrapper: the call's result or -errno, unless a fault or an intake replaces it.
#define CALL(name, expression) CALL_ON(name, 0, expression)

// The same, with its descriptor, by which an intake tells calls apart.
#define CALL_ON(name, key, expression) \
  CMX_TAKEN_IN(cmx_call_##name, key, REAL_CALL(name, expression))

#define REAL_CALL(name, expression)                                  \
  ({                                                                 \
    int taken_ = cmx_fault_take(cmx_call_##name);                    \
    __auto_type result_ = taken_ ? (__typeof__(expression))-1 : (expression); \
    result_ < 0 ? -(__typeof__(result_))(taken_ ? taken_ : errno) : result_;  \
  })

#define CALL_AGAIN(name, key, expression)           \
  ({                                                \
    __typeof__(expression) again_;                  \
    do again_ = CALL_ON(name, key, expression);     \
    while (again_ == -EINTR);                       \
    again_;                                         \
  })

// Something may have been sent.
extern _Atomic bool cmx_notes_sends;
void cmx_note_send(void);
static inline void cmx_sent(void) {
  bool notes = atomic_load_explicit(&cmx_notes_sends, memory_order_relaxed);
  if (__builtin_expect(notes, 0)) cmx_note_send();
}

// Something was read: of so much the system may tell the sender that there is room again.
static inline void cmx_received(intptr_t count) {
  if (count >= 512) cmx_sent();
}

// Moves a new descriptor above the standard streams; takes and returns -errno unchanged.
int cmx_above_standard_streams(int fd);

// Takes the descriptors out of a message, above the standard streams; those over `most` are closed.
struct msghdr;
int cmx_take_descriptors(struct msghdr *message, int *taken, int most);
