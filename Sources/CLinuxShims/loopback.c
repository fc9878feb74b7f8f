// Bytes that this process has sent to itself but not yet received. A loopback device usually
// delivers at once, and later if the machine is busy or the device is shaped; a clock that jumps
// when idle would then jump past what is still on its way.
#define _GNU_SOURCE
#include "cmx_call.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

_Atomic bool cmx_notes_sends = false;

void cmx_note_sends(void) { atomic_store_explicit(&cmx_notes_sends, true, memory_order_relaxed); }

// The processors on which something was sent; each has its own queue.
enum { processors = CPU_SETSIZE, per_word = 64 };
static _Atomic uint64_t senders[processors / per_word];

void cmx_note_send(void) {
  int processor = sched_getcpu();
  if (processor < 0 || processor >= processors) processor = 0;
  atomic_fetch_or_explicit(
      &senders[processor / per_word], UINT64_C(1) << processor % per_word, memory_order_release);
}

// The socket that sends to itself, of this process and not of its parent before a fork. It stays
// open, out of the way of numbers that others close and reuse.
static struct {
  pthread_mutex_t lock;
  int fd;
  pid_t owner;
  uint64_t sent;
} echo = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static bool connect_to_itself(int fd) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  struct timeval patience = {.tv_usec = 200000};  // longer means that it was lost
  return bind(fd, (struct sockaddr *)&address, size) == 0 &&
         getsockname(fd, (struct sockaddr *)&address, &size) == 0 &&
         connect(fd, (struct sockaddr *)&address, size) == 0 &&
         setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0;
}

static bool open_echo(void) {
  enum { above = 900 };
  if (echo.fd >= 0 && echo.owner == getpid()) return true;
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, above);
  if (moved >= 0) {
    close(fd);
    fd = moved;
  }
  if (fd < 0) return false;
  if (!connect_to_itself(fd)) {
    close(fd);
    return false;
  }
  echo.fd = fd;
  echo.owner = getpid();
  return true;
}

// Sends a datagram and waits for it to arrive: the queues keep their order. What arrives may be
// answered by the system, behind the datagram: a connection takes three such turns, a refusal two,
// as do bytes that wait for an acknowledgement.
static void follow(void) {
  enum { turns = 3 };
  for (int turn = 0; turn < turns; turn++) {
    uint64_t number = ++echo.sent, got = 0;
    if (send(echo.fd, &number, sizeof number, MSG_DONTWAIT) != sizeof number) return;
    while (got != number && recv(echo.fd, &got, sizeof got, 0) == sizeof got) {
    }
    if (got != number) return;
  }
}

static void follow_on(int processor, cpu_set_t *allowed) {
  if (processor == sched_getcpu()) return follow();
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(processor, &only);
  // Refused where the thread may not run any more; its queue then empties without us.
  bool moved = sched_setaffinity(0, sizeof only, &only) == 0;
  follow();
  if (moved) (void)sched_setaffinity(0, sizeof *allowed, allowed);
}

// Waits for what the processors in one word have sent.
static void await_word(int word, uint64_t processors_of_word) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  pthread_mutex_lock(&echo.lock);
  if (open_echo()) {
    for (uint64_t bits = processors_of_word; bits != 0; bits &= bits - 1)
      follow_on(word * per_word + __builtin_ctzll(bits), &allowed);
  }
  pthread_mutex_unlock(&echo.lock);
}

bool cmx_await_loopback(void) {
  bool any = false;
  for (int word = 0; word < processors / per_word; word++) {
    if (atomic_load_explicit(&senders[word], memory_order_relaxed) == 0) continue;
    uint64_t bits = atomic_exchange_explicit(&senders[word], 0, memory_order_acquire);
    if (bits != 0) await_word(word, bits);
    any = any || bits != 0;
  }
  return any;
}
