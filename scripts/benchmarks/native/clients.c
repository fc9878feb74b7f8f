// The clients of servers, in a process of their own: on each active connection one message is
// always under way. Measures from outside what a server makes of it, the same for every peer.
//
// usage: clients PID PORT CONNECTIONS ACTIVE SIZE MESSAGES
//   PID       the server, whose CPU time is read; 0: nothing is measured
//   ACTIVE    so many of the connections talk, each far from the next
//   SIZE      bytes of a message, whose answer is as long; http: a request of HTTP
//   MESSAGES  how many are measured; 0: each connection has one answer, then they stay idle
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// As wrk asks.
static const char request[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n";
enum { END_OF_PAGE = '~' };

static struct {
  const char *bytes;
  size_t size;
  bool is_http;  // Then the answer ends with the last byte of the page.
} message;

static struct connection {
  int fd;
  size_t received;
  int64_t sent;
} *connections;

static int64_t nanoseconds(clockid_t clock) {
  struct timespec t;
  if (clock_gettime(clock, &t)) exit(1);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "clients: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int connected(uint16_t port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) fail("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
}

static bool has_answer(struct connection *c) {
  static char buffer[1 << 16];
  ssize_t got = read(c->fd, buffer, sizeof buffer);
  if (got < 0 && errno == EAGAIN) return false;
  if (got == 0) errno = ECONNRESET;
  if (got <= 0) fail("read");
  c->received += (size_t)got;
  return message.is_http ? buffer[got - 1] == END_OF_PAGE : c->received == message.size;
}

// A server that answers before it has read everything may have no room for more until it is read.
static void send_message(struct connection *c) {
  c->sent = nanoseconds(CLOCK_MONOTONIC);
  c->received = 0;
  for (size_t sent = 0; sent < message.size;) {
    ssize_t count = write(c->fd, message.bytes + sent, message.size - sent);
    if (count > 0) sent += (size_t)count;
    else if (errno != EAGAIN) fail("write");
    else {
      struct pollfd ready = {.fd = c->fd, .events = POLLIN | POLLOUT};
      poll(&ready, 1, -1);
      if (ready.revents & POLLIN) has_answer(c);
    }
  }
}

static int by_size(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

struct account { clockid_t server; int64_t cpu, wall, *times; long count; };

static void report(struct account *a) {
  int64_t cpu = nanoseconds(a->server) - a->cpu, wall = nanoseconds(CLOCK_MONOTONIC) - a->wall;
  qsort(a->times, (size_t)a->count, sizeof *a->times, by_size);
  printf("{\"operations\": %ld, \"cpu\": %.3f, \"wall\": %.3f, \"rate\": %.3f, \"p50\": %.3f, "
         "\"p99\": %.3f}\n",
         a->count, (double)cpu / (double)a->count, (double)wall / (double)a->count,
         (double)a->count * 1e9 / (double)wall, (double)a->times[a->count / 2] / 1e3,
         (double)a->times[a->count * 99 / 100] / 1e3);
}

// Talks until so many messages are measured, after so many that are not.
static void talk(int poll, struct account *a, long before, long measured) {
  long seen = 0;
  for (;;) {
    struct epoll_event events[64];
    int ready = epoll_wait(poll, events, 64, -1);
    for (int i = 0; i < ready; i++) {
      struct connection *c = events[i].data.ptr;
      if (!has_answer(c)) continue;
      if (++seen == before) {
        a->cpu = nanoseconds(a->server), a->wall = nanoseconds(CLOCK_MONOTONIC);
      } else if (seen > before) {
        a->times[a->count++] = nanoseconds(CLOCK_MONOTONIC) - c->sent;
        if (a->count == measured) return report(a);
      }
      send_message(c);
    }
  }
}

static void wait_for_answer(struct connection *c) {
  do poll(&(struct pollfd){.fd = c->fd, .events = POLLIN}, 1, -1);
  while (!has_answer(c));
}

int main(int argc, char **argv) {
  if (argc != 7) {
    fprintf(stderr, "usage: clients PID PORT CONNECTIONS ACTIVE SIZE MESSAGES\n");
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  pid_t pid = atoi(argv[1]);
  long count = atol(argv[3]), active = atol(argv[4]), measured = atol(argv[6]);
  message.is_http = !strcmp(argv[5], "http");
  size_t most = message.is_http ? sizeof request + strlen(argv[2]) : (size_t)atol(argv[5]) + 1;
  char *bytes = malloc(most);
  connections = calloc((size_t)count, sizeof *connections);
  if (bytes == NULL || connections == NULL) fail("memory");
  message.bytes = message.is_http ? bytes : memset(bytes, 'x', most);
  message.size = message.is_http ? (size_t)snprintf(bytes, most, request, argv[2]) : most - 1;

  struct account a = {.times = calloc((size_t)measured + 1, sizeof *a.times)};
  if (a.times == NULL || (pid && clock_getcpuclockid(pid, &a.server))) fail("account");
  int poll = epoll_create1(EPOLL_CLOEXEC);
  for (long i = 0; i < count; i++) {
    struct connection *c = &connections[i];
    c->fd = connected((uint16_t)atoi(argv[2]));
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, c->fd, &event)) fail("epoll_ctl");
    if (measured > 0 && i % (count / active) != 0) continue;
    send_message(c);
    if (measured == 0) wait_for_answer(c);
  }
  if (measured == 0) for (;;) pause();
  talk(poll, &a, active * 4 + 1000, measured);
  return 0;
}
