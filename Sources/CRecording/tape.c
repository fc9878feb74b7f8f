// Recordings. A file is a head and parts; a part is a length, a checksum, the number of its first
// event, and events; an event is a tag, the question, the answer, and bytes. All numbers in events
// are differences with seven bits per byte, so that a clock read takes three bytes.
#define _GNU_SOURCE
#include "CRecording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shared.h"

static const unsigned char magic[8] = {0x89, 'M', 'L', 'T', 'A', 'P', '\n', 0x1A};
enum { VERSION = cmr_format_version, PART_BYTES = 1 << 16, HELD_BYTES = 1 << 20 };
static const int64_t flush_every_ns = 20000000;
// Limits for forged recordings: no Linux clock exceeds the first, no call returns less than the
// second.
static const int64_t latest_ns = INT64_MAX / 2;
enum { least_result = 1000 + 4095 };  // a resolver's, which adds 1000 to the system's number
enum { longest_tick_ns = 1000000000 };

struct head { unsigned char magic[8]; uint64_t version; };
struct part { uint32_t mark, length; uint64_t sum, first; };
static const uint32_t part_mark = 0x74726150;  // "Part"

static struct {
  bool records;  // else it plays
  int fd, failure;
  uint64_t events, first;
  int64_t clocks[3];
  int64_t flushed_at;
  int ending;
  unsigned char *bytes;  // recording: the buffer; playing: the file
  size_t count, capacity;
  size_t at, part_end;  // playing
  bool is_endless, is_over, is_aside, is_held;
  int64_t looks;  // since the last yes
} tape;

static const struct cmx_intake recorder, player;
static void (*tell_divergence)(const char *message, bool is_end);

void cmr_on_divergence(void (*tell)(const char *, bool)) { tell_divergence = tell; }

// Each step is a bijection of the sum, so no single changed word goes unseen.
static uint64_t sum_of(const void *bytes, size_t count, uint64_t sum) {
  const unsigned char *at = bytes;
  sum ^= count * UINT64_C(0x9E3779B97F4A7C15);
  for (; count >= 8; at += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    sum = (sum ^ word) * UINT64_C(0xD6E8FEB86659FD93);
    sum ^= sum >> 32;
  }
  uint64_t word = 0;
  memcpy(&word, at, count);
  sum = (sum ^ word) * UINT64_C(0xD6E8FEB86659FD93);
  return sum ^ sum >> 29;
}

__attribute__((noreturn)) static void diverge(const char *message) {
  cmx_intake_here = NULL;
  if (tell_divergence != NULL) tell_divergence(message, false);
  _exit(1);
}

__attribute__((noreturn)) static void impossible(void) {
  diverge("the recording was not written by moonloop");
}

// ---- Writing -------------------------------------------------------------------------------

static void write_all(const void *bytes, size_t count) {
  const char *at = bytes;
  while (count > 0 && tape.failure == 0) {
    ssize_t written = write(tape.fd, at, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      tape.failure = written < 0 ? errno : EIO;
      return;
    }
    at += written;
    count -= (size_t)written;
  }
}

// Drops what was kept. The memory stays: an event may be half written.
void cmr_let_go(void) {
  if (!cmr_is_held()) return;
  cmx_intake_here = NULL, cmx_ending_waits = false;
  cmx_ending_take_deferred();
}

static void flush(void) {
  if (tape.count == 0) return;
  if (tape.is_held) {
    if (tape.count > HELD_BYTES) cmr_let_go();
    return;
  }
  struct part part = {part_mark, (uint32_t)tape.count, 0, tape.first};
  part.sum = sum_of(tape.bytes, tape.count, tape.first);
  write_all(&part, sizeof part);
  write_all(tape.bytes, tape.count);
  tape.count = 0;
  tape.first = tape.events;
}

static unsigned char *room(size_t more) {
  if (__builtin_expect(tape.count + more > tape.capacity, 0)) {
    size_t capacity = (tape.count + more) * 2;
    unsigned char *larger = realloc(tape.bytes, capacity);
    if (larger == NULL) abort();
    tape.bytes = larger;
    tape.capacity = capacity;
  }
  return tape.bytes + tape.count;
}

static inline size_t put_number(unsigned char *to, int64_t value) {
  uint64_t rest = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
  size_t count = 0;
  while (rest >= 0x80) {
    to[count++] = (unsigned char)(rest | 0x80);
    rest >>= 7;
  }
  to[count++] = (unsigned char)rest;
  return count;
}

// Only between events, so that no event spans two parts.
static inline void begin_event(int tag) {
  if (__builtin_expect(tape.count >= PART_BYTES, 0)) flush();
  unsigned char *to = room(32);
  *to = (unsigned char)tag;
  tape.count++;
  tape.events++;
}

static inline void number(int64_t value) { tape.count += put_number(room(10), value); }

static void note_ending(void) {
  cmx_ending_take_deferred();
  if (cmx_ending() == tape.ending) return;
  tape.ending = cmx_ending();
  begin_event(cmx_tag_ending);
  number(tape.ending);
}

static void note(int tag, int64_t key, int64_t result) {
  note_ending();
  begin_event(tag);
  number(key);
  number(result);
}

int cmr_hold(void) {
  memset(&tape, 0, sizeof tape);
  tape.records = tape.is_held = true;
  tape.bytes = malloc(tape.capacity = PART_BYTES * 2);
  if (tape.bytes == NULL) return -ENOMEM;
  cmx_intake_here = &recorder;
  cmx_ending_waits = true;
  return 0;
}

static void write_head(void) {
  struct head head = {.version = VERSION};
  memcpy(head.magic, magic, sizeof magic);
  write_all(&head, sizeof head);
}

bool cmr_is_held(void) { return cmx_intake_here != NULL && tape.is_held; }

// After a failure all of it is still held, so that another file can be tried.
int cmr_commit(int fd) {
  size_t held = tape.count;
  tape.fd = fd;
  tape.is_held = false;
  write_head();
  flush();
  int failure = tape.failure;
  if (failure != 0) tape.is_held = true, tape.count = held, tape.first = 0, tape.failure = 0;
  return -failure;
}

// ---- Reading -------------------------------------------------------------------------------

static bool next_part(void) {
  struct part part;
  if (tape.at + sizeof part > tape.count) return false;
  memcpy(&part, tape.bytes + tape.at, sizeof part);
  tape.at += sizeof part;
  tape.part_end = tape.at + part.length;
  return true;
}

// The checksums were right, so it was written like this; the limit is for forged recordings.
static int64_t take_number(void) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && tape.at < tape.part_end; shift += 7) {
    unsigned char byte = tape.bytes[tape.at++];
    value |= (uint64_t)(byte & 0x7F) << shift;
    if (byte < 0x80) return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
  }
  impossible();
}

// The tag of the next event, without consuming it.
static int peek(void) {
  while (tape.at == tape.part_end)
    if (!next_part()) return -1;
  return tape.bytes[tape.at];
}

// The numbers are those of the recording, counted from 1.
__attribute__((noreturn)) static void mismatch(int tag, int64_t key, int found, int64_t found_key) {
  char asked[100], has[100], text[400];
  cmr_describe(asked, sizeof asked, tag, key);
  if (found < 0 || found == cmx_tag_end) {
    const char *why = tape.is_endless ? " (its program was killed there)" : "";
    snprintf(text, sizeof text, "event %llu: the script asked for %s; the recording ends here%s",
             (unsigned long long)tape.events + 1, asked, why);
  } else {
    cmr_describe(has, sizeof has, found, found_key);
    snprintf(text, sizeof text, "event %llu: the script asked for %s; the recording has %s",
             (unsigned long long)tape.events + 1, asked, has);
  }
  diverge(text);
}

static void take_endings(void) {
  while (peek() == cmx_tag_ending) {
    tape.at++;
    tape.events++;
    int64_t found = take_number();
    if (found < -64 || found > 64) impossible();
    int reason = (int)found;
    if (reason != 0 && cmx_ending() == 0) cmx_ending_begin(reason);
  }
}

static void expect(int tag, int64_t key) {
  take_endings();
  int found = peek();
  if (__builtin_expect(found != tag, 0)) {
    int64_t found_key = 0;
    if (found >= 0 && (found < cmx_tag_monotonic || found > cmx_tag_wall)) {
      tape.at++;
      found_key = take_number();
    }
    mismatch(tag, key, found, found_key);
  }
  tape.at++;
}

// Whether a question of this kind can have such an answer.
static bool is_possible(int tag, int64_t result) {
  if (tag == cmx_tag_identity || tag == cmx_tag_thread) return true;  // any 64 bits
  if (tag == cmx_tag_tick) return result >= 0 && result <= longest_tick_ns;
  return result >= -least_result && result <= INT32_MAX;
}

static int64_t answer(int tag, int64_t key) {
  expect(tag, key);
  int64_t found = take_number();
  if (__builtin_expect(found != key, 0)) mismatch(tag, key, tag, found);
  tape.events++;
  int64_t result = take_number();
  if (!is_possible(tag, result)) impossible();
  return result;
}

static size_t take_size(void) {
  int64_t size = take_number();
  if (size < 0 || (uint64_t)size > tape.part_end - tape.at) impossible();
  return (size_t)size;
}

static void data(void *bytes, size_t count) {
  if (tape.records) {
    number((int64_t)count);
    memcpy(room(count), bytes, count);
    tape.count += count;
    return;
  }
  size_t size = take_size();
  if (size != count) impossible();
  memcpy(bytes, tape.bytes + tape.at, count);
  tape.at += size;
}

static void given(const void *bytes, size_t count) {
  uint32_t sum = (uint32_t)sum_of(bytes, count, 0);
  if (tape.records) {
    memcpy(room(4), &sum, 4);
    tape.count += 4;
    return;
  }
  uint32_t found = 0;
  if (tape.part_end - tape.at < 4) impossible();
  memcpy(&found, tape.bytes + tape.at, 4);
  tape.at += 4;
  if (found == sum) return;
  char text[300], shown[61];
  size_t length = count < 60 ? count : 60;
  for (size_t i = 0; i < length; i++) {
    unsigned char byte = ((const unsigned char *)bytes)[i];
    shown[i] = byte < 0x20 || byte > 0x7E ? '.' : (char)byte;
  }
  shown[length] = 0;
  snprintf(text, sizeof text,
           "event %llu: the script writes %zu bytes '%s%s'; the recording has others",
           (unsigned long long)tape.events, count, shown, count > 60 ? "..." : "");
  diverge(text);
}

static int64_t read_clock(int tag, int64_t (*read)(void)) {
  int64_t *last = &tape.clocks[tag - cmx_tag_monotonic];
  if (tape.is_aside) return tape.records ? read() : *last;
  if (tape.records) {
    note_ending();
    int64_t now = read();
    begin_event(tag);
    number(now - *last);
    return *last = now;
  }
  expect(tag, 0);
  tape.events++;
  int64_t now;
  if (__builtin_add_overflow(*last, take_number(), &now) || now < 0 || now > latest_ns)
    impossible();
  return *last = now;
}

static void set_aside(bool is_aside) { tape.is_aside = is_aside; }
static bool is_over(void) { return tape.is_over; }

// ---- Other threads -------------------------------------------------------------------------

// Only a yes is recorded, with the number of looks since the last: looking in vain costs a counter.
// No signal is recorded here, or it would come between the looks.
static bool look(bool answer) {
  if (tape.is_aside) return answer;
  tape.looks++;
  if (tape.records) {
    if (!answer) return false;
    begin_event(cmx_tag_yes);
    number(tape.looks);
    tape.looks = 0;
    return true;
  }
  if (peek() != cmx_tag_yes) return false;
  size_t at = tape.at++;
  if (take_number() != tape.looks) {
    tape.at = at;
    return false;
  }
  tape.events++;
  tape.looks = 0;
  return true;
}

// ---- For the host --------------------------------------------------------------------------

static void put(uint32_t key, const void *bytes, size_t count) {
  note(cmx_tag_host, key, 0);
  data((void *)(uintptr_t)bytes, count);
}

static size_t take(uint32_t key, const void **bytes) {
  answer(cmx_tag_host, key);
  size_t size = take_size();
  *bytes = tape.bytes + tape.at;
  tape.at += size;
  return size;
}

struct cmr_look cmr_check(const void *bytes, size_t size) {
  const unsigned char *file = bytes;
  struct cmr_look look = {cmr_sound, 0, 0};
  struct head head;
  if (size < sizeof head || memcmp(file, magic, sizeof magic) != 0) {
    // Recognizable even if cut inside its head.
    bool is_ours = size > 0 && memcmp(file, magic, size < 8 ? size : 8) == 0;
    look.flaw = is_ours ? cmr_truncated : cmr_foreign;
    look.byte = size;
    return look;
  }
  memcpy(&head, file, sizeof head);
  if (head.version != VERSION) return (struct cmr_look){cmr_version, 0, head.version};
  size_t at = sizeof head;
  uint64_t known = 0;
  bool has_end = false;
  while (at < size) {
    struct part part = {0};
    look.event = known;
    look.byte = at;
    if (size - at < sizeof part) return look.flaw = cmr_truncated, look;
    memcpy(&part, file + at, sizeof part);
    if (part.mark != part_mark || part.first < known || has_end)
      return look.flaw = cmr_damaged, look;
    known = look.event = part.first;
    if (size - at - sizeof part < part.length)
      return look.flaw = cmr_truncated, look.byte = size, look;
    if (sum_of(file + at + sizeof part, part.length, part.first) != part.sum)
      return look.flaw = cmr_damaged, look;
    at += sizeof part + part.length;
    // The end is its own part: a tag, and the number of events.
    has_end = part.length > 0 && file[at - part.length] == cmx_tag_end;
  }
  look.event = known;
  look.byte = size;
  look.flaw = has_end ? cmr_sound : cmr_endless;
  return look;
}

void cmr_play(const void *bytes, size_t size, bool is_endless) {
  memset(&tape, 0, sizeof tape);
  tape.is_endless = is_endless;
  tape.count = size;
  tape.bytes = (unsigned char *)(uintptr_t)bytes;
  tape.at = tape.part_end = sizeof(struct head);
  cmx_intake_here = &player;
  cmx_intake_is_replayed = true;
}

int cmr_finish(void) {
  if (cmx_intake_here == NULL || tape.is_over) return 0;
  tape.is_over = true;
  cmx_intake_here = NULL;
  cmx_ending_waits = false;
  if (tape.is_held) return 0;
  if (tape.records) {
    flush();
    begin_event(cmx_tag_end);
    flush();
    if (close(tape.fd) != 0 && tape.failure == 0) tape.failure = errno;
    free(tape.bytes);
    cmr_settle(tape.failure == 0);
    return -tape.failure;
  }
  take_endings();
  int found = peek();
  if (found == cmx_tag_end) return 0;
  if (found < 0) {
    if (!tape.is_endless) return 0;
    diverge("the recording ends here: its program was killed or is still running");
  }
  char text[300], has[100];
  tape.at++;
  cmr_describe(has, sizeof has, found, found > cmx_tag_wall || found < 64 ? take_number() : 0);
  snprintf(text, sizeof text, "event %llu: the script has ended; the recording continues with %s",
           (unsigned long long)tape.events + 1, has);
  diverge(text);
}

int cmr_end_here(void) {
  if (cmx_intake_here == NULL) return 0;
  int result = cmr_finish();
  if (!tape.records) {
    tell_divergence("the script ended its recording here", true);
    _exit(0);
  }
  return result;
}

// Called before sleeps, but not every one: a killed program loses at most this much time.
static void before_sleep(int64_t timeout_ns) {
  if (!tape.records || tape.is_held) return;
  if (timeout_ns == 0 || tape.count == 0) return;
  // Not on the tape: a loop without dates reads no clock.
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  int64_t now = time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
  if (now - tape.flushed_at < flush_every_ns) return;
  tape.flushed_at = now;
  flush();
}

static const struct cmx_intake recorder = {
  .note = note, .bytes = data, .given = given, .clock = read_clock, .before_sleep = before_sleep,
  .echo = cmr_echo, .copied = cmr_copied, .look = look, .put = put, .take = take,
  .set_aside = set_aside, .is_over = is_over, .impossible = impossible,
};

static const struct cmx_intake player = {
  .replays = true, .answer = answer, .bytes = data, .given = given, .clock = read_clock,
  .before_sleep = before_sleep, .echo = cmr_echo, .copied = cmr_copied, .look = look, .put = put,
  .take = take, .set_aside = set_aside, .is_over = is_over, .impossible = impossible,
};
