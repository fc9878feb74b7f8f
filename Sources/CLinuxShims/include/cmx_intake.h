// The intake: input from outside reaches a thread through it, if there is one. It records the
// system's answers, or replays earlier ones.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The questions besides `enum cmx_call`.
enum cmx_intake_tag {
  cmx_tag_monotonic = 64,
  cmx_tag_coarse,
  cmx_tag_wall,
  cmx_tag_host,
  cmx_tag_ending,
  cmx_tag_end,
  cmx_tag_look,  // from here on: queries whose failures do not matter
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
  cmx_tag_tls,
  cmx_tag_yes,     // another thread has done something: a look answered with yes
  cmx_tag_thread,  // another thread's answer
  cmx_tag_count,
};

// Called by the calls of this target and by loops. Constant.
struct cmx_intake {
  bool replays;  // it answers instead of the system
  // The answer to a question; only in a replay.
  int64_t (*answer)(int tag, int64_t key);
  // The system's answer; not in a replay.
  void (*note)(int tag, int64_t key, int64_t result);
  // Bytes that belong to that answer: recorded, or filled in.
  void (*bytes)(void *bytes, size_t count);
  // Bytes that the script sent.
  void (*given)(const void *bytes, size_t count);
  // A clock: one of the three tags.
  int64_t (*clock)(int tag, int64_t (*read)(void));
  void (*before_sleep)(int64_t timeout_ns);
  // A replay writes only to the standard streams and to copies of them.
  void (*echo)(int fd, const void *bytes, int64_t count);
  void (*copied)(int from, int to);
  // A question about other threads, to which the answer is nearly always no.
  bool (*look)(bool answer);
  // Content from the host, by key: recorded, or returned.
  void (*put)(uint32_t key, const void *bytes, size_t count);
  size_t (*take)(uint32_t key, const void **bytes);
  // Whether clocks are read without it now.
  void (*set_aside)(bool is_aside);
  // Whether it has ended for good.
  bool (*is_over)(void);
  // A replay was given an answer that no system gives; does not return.
  void (*impossible)(void);
};

// The intake of this thread; NULL: the system answers.
extern _Thread_local const struct cmx_intake *cmx_intake_here;
// Whether some thread replays: then descriptors are meaningless numbers here.
extern volatile bool cmx_intake_is_replayed;

// ---- For Swift (intake.c) --------------------------------------------------------------------
enum cmx_intake_kind { cmx_intake_none, cmx_intake_keeps, cmx_intake_replays };
enum cmx_intake_kind cmx_intake_kind(void);
// Between these the thread has no intake: what it does is not recorded.
void *cmx_intake_leave(void);
void cmx_intake_return(void *left);
// In a replay the arguments do not count.
bool cmx_intake_look(bool answer);
int64_t cmx_intake_number(int64_t value);
void cmx_intake_put(uint32_t key, const void *bytes, size_t count);
size_t cmx_intake_take(uint32_t key, const void **bytes);
void cmx_intake_set_aside(bool is_aside);

// ---- For the calls of this target ------------------------------------------------------------

#define CMX_TAKEN_IN(tag, key, expression)                                       \
  ({                                                                             \
    const struct cmx_intake *intake_ = cmx_intake_here;                          \
    __typeof__(expression) told_;                                                \
    if (__builtin_expect(intake_ == NULL, 1)) {                                  \
      told_ = (expression);                                                      \
    } else if (intake_->replays) {                                               \
      told_ = (__typeof__(told_))intake_->answer(tag, (int64_t)(key));           \
    } else {                                                                     \
      cmx_intake_here = NULL; /* calls made inside are part of this one */      \
      told_ = (expression);                                                      \
      cmx_intake_here = intake_;                                                 \
      intake_->note(tag, (int64_t)(key), (int64_t)told_);                        \
    }                                                                            \
    told_;                                                                       \
  })

// Bounds an answer that a call has a bound for: one in a replay was perhaps made up.
#define CMX_AT_MOST(result, most)                                                \
  do {                                                                           \
    if (__builtin_expect(cmx_intake_here != NULL, 0) && (result) > 0 &&          \
        (uint64_t)(result) > (uint64_t)(most))                                   \
      cmx_intake_here->impossible();                                             \
  } while (0)

// Bytes of an answer.
#define CMX_DATA(data, count)                                                    \
  do {                                                                           \
    if (__builtin_expect(cmx_intake_here != NULL, 0))                            \
      cmx_intake_here->bytes(data, (size_t)(count));                             \
  } while (0)

// Calls without an answer, skipped when their descriptors are meaningless.
#define CMX_UNLESS_REPLAYED(statement)              \
  do {                                              \
    if (!cmx_intake_is_replayed) { statement; }     \
  } while (0)
