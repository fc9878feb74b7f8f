// The intake of a thread: see cmx_intake.h.
#include "cmx_intake.h"

_Thread_local const struct cmx_intake *cmx_intake_here;
volatile bool cmx_intake_is_replayed;

enum cmx_intake_kind cmx_intake_kind(void) {
  if (cmx_intake_here == NULL) return cmx_intake_none;
  return cmx_intake_here->replays ? cmx_intake_replays : cmx_intake_keeps;
}

void *cmx_intake_leave(void) {
  const struct cmx_intake *left = cmx_intake_here;
  cmx_intake_here = NULL;
  return (void *)(uintptr_t)left;
}

// Once over, it stays over.
void cmx_intake_return(void *left) {
  const struct cmx_intake *intake = left;
  if (intake != NULL && !intake->is_over()) cmx_intake_here = intake;
}

bool cmx_intake_look(bool answer) {
  return cmx_intake_here == NULL ? answer : cmx_intake_here->look(answer);
}

int64_t cmx_intake_number(int64_t value) {
  return CMX_TAKEN_IN(cmx_tag_thread, 0, value);
}

void cmx_intake_put(uint32_t key, const void *bytes, size_t count) {
  if (cmx_intake_here != NULL) cmx_intake_here->put(key, bytes, count);
}

size_t cmx_intake_take(uint32_t key, const void **bytes) {
  return cmx_intake_here == NULL ? 0 : cmx_intake_here->take(key, bytes);
}

void cmx_intake_set_aside(bool is_aside) {
  if (cmx_intake_here != NULL) cmx_intake_here->set_aside(is_aside);
}
