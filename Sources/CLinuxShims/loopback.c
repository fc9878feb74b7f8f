// Bytes that this process has sent to itself and not got yet. A loopback device delivers at once as
// a rule, and later where the machine is busy or the device is shaped; a clock that jumps when idle
// would then jump past what is on its way.
#define _GNU_SOURCE
#include "cmx_call.h"

#include <netinet/in.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

_Atomic bool cmx_notes_sends = false;

void cmx_note_sends(void) { atomic_store_explicit(&cmx_notes_sends, true, memory_order_relaxed); }

// The processors on which something was sent: each has a queue of its own.
enum { processors = CPU_SETSIZE, per_word = 64 };
static _Atomic uint64_t senders[processors / per_word];

void cmx_note_send(void) {
  int processor = sched_getcpu();
  if (processor < 0 || processor >= processors) processor = 0;
  atomic_fetch_or_explicit(
      &senders[processor / per_word], UINT64_C(1) << processor % per_word, memory_order_release);
}

// Sends a datagram to itself and waits until it has come: the queues keep the order.
static void follow(int fd) {
  char byte = 0;
  if (send(fd, &byte, 1, MSG_DONTWAIT) == 1) (void)recv(fd, &byte, 1, 0);
}

static int open_echo(void) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  struct timeval patience = {.tv_usec = 200000};  // Longer means that it was lost.
  if (bind(fd, (struct sockaddr *)&address, size) == 0 &&
      getsockname(fd, (struct sockaddr *)&address, &size) == 0 &&
      connect(fd, (struct sockaddr *)&address, size) == 0 &&
      setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0) {
    return fd;
  }
  close(fd);
  return -1;
}

static void follow_on(int fd, int processor, cpu_set_t *allowed) {
  if (processor == sched_getcpu()) return follow(fd);
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(processor, &only);
  // Refused where the thread may not run any more; its queue then empties without us.
  bool moved = sched_setaffinity(0, sizeof only, &only) == 0;
  follow(fd);
  if (moved) (void)sched_setaffinity(0, sizeof *allowed, allowed);
}

bool cmx_await_loopback(void) {
  int fd = -1;
  bool any = false;
  cpu_set_t allowed;
  for (int word = 0; word < processors / per_word; word++) {
    if (atomic_load_explicit(&senders[word], memory_order_relaxed) == 0) continue;
    uint64_t bits = atomic_exchange_explicit(&senders[word], 0, memory_order_acquire);
    for (; bits != 0; bits &= bits - 1) {
      if (!any && sched_getaffinity(0, sizeof allowed, &allowed) == 0) fd = open_echo();
      any = true;
      if (fd >= 0) follow_on(fd, word * per_word + __builtin_ctzll(bits), &allowed);
    }
  }
  if (fd >= 0) close(fd);
  return any;
}
