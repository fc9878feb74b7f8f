// How the calls of this target meet the tape: asked before the system, told after it.
#pragma once
#include "cmx_tape.h"
#include "CLinuxShims.h"

struct cmx_tape;
// The tape of this thread; NULL nearly always.
extern _Thread_local struct cmx_tape *cmx_tape_here;
// Whether some thread plays: then descriptors are numbers that mean nothing here.
extern volatile bool cmx_tape_is_playing;
// Whether some thread records: then a signal ends the program where the tape can tell.
extern volatile bool cmx_tape_is_recording;
void cmx_ending_take_deferred(void);

// Events that are no calls with a fault of their own.
enum cmx_tape_tag {
  cmx_tag_monotonic = 64,
  cmx_tag_coarse,
  cmx_tag_wall,
  cmx_tag_host,
  cmx_tag_ending,
  cmx_tag_end,
  cmx_tag_look,  // from here on: looks that cannot fail in a way that matters
  cmx_tag_tick = cmx_tag_look,
  cmx_tag_traits,
  cmx_tag_is_ready,
  cmx_tag_is_open,
  cmx_tag_socket_error,
  cmx_tag_socket_name,
  cmx_tag_credentials,
  cmx_tag_sort,
  cmx_tag_identity,
  cmx_tag_unlink,
  cmx_tag_set_mode,
  cmx_tag_exit_of,
  cmx_tag_process_signal,
  cmx_tag_await_exits,
  cmx_tag_hung_up,
  cmx_tag_hangup_open,
  cmx_tag_alarm,
  cmx_tag_signal_block,
  cmx_tag_signal_divert,
  cmx_tag_signal_send,
  cmx_tag_own_id,
  cmx_tag_is_terminal,
  cmx_tag_terminal_size,
  cmx_tag_terminal_open,
  cmx_tag_terminal_raw,
  cmx_tag_look_at,
  cmx_tag_list,
  cmx_tag_read_link,
  cmx_tag_folder,
  cmx_tag_watch_limit,
  cmx_tag_spawn,
  cmx_tag_yes,     // another thread has done something: a look that was answered with yes
  cmx_tag_thread,  // what another thread has answered
  cmx_tag_count,
};

// What was asked for, in words. (tape_names.c)
void cmx_tape_describe(char *text, size_t size, int tag, int64_t key);
bool cmx_tape_plays_here(struct cmx_tape *tape);
int64_t cmx_tape_answer(int tag, int64_t key);
void cmx_tape_note(int tag, int64_t key, int64_t result);
// Bytes of the event at hand: kept, or filled in.
void cmx_tape_data(void *bytes, size_t count);
// Bytes that the script gave away: a recording keeps a trace of them, to compare.
void cmx_tape_given(const void *bytes, size_t count);
int64_t cmx_tape_clock(int tag, int64_t (*read)(void));
// Before a sleep: writes out what is old, for whoever is killed in it.
void cmx_tape_before_sleep(int64_t timeout_ns);
// In a playing tape: what is written to the standard streams is written.
void cmx_tape_echo(int fd, const void *bytes, int64_t count);
// Whether a copy of a descriptor is a copy of a standard stream.
void cmx_tape_copied(int from, int to);

#define CMX_TAPED(tag, key, expression)                                     \
  ({                                                                        \
    struct cmx_tape *tape_ = cmx_tape_here;                                 \
    __typeof__(expression) told_;                                           \
    if (__builtin_expect(tape_ == NULL, 1)) {                               \
      told_ = (expression);                                                 \
    } else if (cmx_tape_plays_here(tape_)) {                                \
      told_ = (__typeof__(told_))cmx_tape_answer(tag, (int64_t)(key));      \
    } else {                                                                \
      cmx_tape_here = NULL; /* what is asked inside is part of this */      \
      told_ = (expression);                                                 \
      cmx_tape_here = tape_;                                                \
      cmx_tape_note(tag, (int64_t)(key), (int64_t)told_);                   \
    }                                                                       \
    told_;                                                                  \
  })

// Bytes that came with an answer.
#define CMX_DATA(bytes, count)                                                       \
  do {                                                                               \
    if (__builtin_expect(cmx_tape_here != NULL, 0)) cmx_tape_data(bytes, (size_t)(count)); \
  } while (0)

// What has no answer and must not be done when its descriptors mean nothing.
#define CMX_UNLESS_PLAYING(statement)         \
  do {                                        \
    if (!cmx_tape_is_playing) { statement; }  \
  } while (0)
