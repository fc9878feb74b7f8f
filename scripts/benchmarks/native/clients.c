// The clients of W6 and of the HTTP rows, in their own process: one message is always under way on
// each connection, so that the server's CPU time is measured alone.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <lua.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "threads.h"

// What is sent on each connection, and when the answer to it is over.
struct talk {
  const char *message;
  size_t size;  // Of an answer too, unless there is
  int last;     // the byte that an answer ends with; -1 if there is none.
};

static int connected(uint16_t port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) return -1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
}

static void send_whole(int fd, const struct talk *talk) {
  for (size_t sent = 0; sent < talk->size;) {
    ssize_t count = write(fd, talk->message + sent, talk->size - sent);
    if (count > 0) sent += (size_t)count;
    else if (errno != EAGAIN) _exit(0);
    else poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
  }
}

// Whether the answer is over; takes what has come of it.
static bool has_answer(int fd, size_t *received, const struct talk *talk) {
  static char buffer[1 << 16];
  ssize_t got = read(fd, buffer, sizeof buffer);
  if (got == 0 || (got < 0 && errno != EAGAIN)) _exit(0);
  if (got < 0) return false;
  *received += (size_t)got;
  bool is_over = talk->last < 0 ? *received == talk->size : buffer[got - 1] == (char)talk->last;
  if (is_over) *received = 0;
  return is_over;
}

// Only system calls: the process may have had other threads when it was forked.
static _Noreturn void talk(uint16_t port, int connections, const struct talk *talk,
                           size_t *received) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int poll = epoll_create1(EPOLL_CLOEXEC);
  for (int i = 0; i < connections; i++) {
    int fd = connected(port);
    struct epoll_event event = {.events = EPOLLIN,
                                .data.u64 = (uint64_t)i << 32 | (uint32_t)fd};
    if (fd < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event)) _exit(1);
    send_whole(fd, talk);
  }
  for (;;) {
    struct epoll_event events[64];
    int count = epoll_wait(poll, events, 64, -1);
    for (int i = 0; i < count; i++) {
      int fd = (int)(uint32_t)events[i].data.u64;
      if (has_answer(fd, &received[events[i].data.u64 >> 32], talk)) send_whole(fd, talk);
    }
  }
}

// clients(port, connections, message [, last]): starts the clients; they end with their server. The
// answer is as long as the message, or ends with the byte `last`.
int probe_clients(lua_State *L) {
  uint16_t port = (uint16_t)luaL_checkinteger(L, 1);
  int connections = (int)luaL_checkinteger(L, 2);
  struct talk what = {.last = -1};
  what.message = luaL_checklstring(L, 3, &what.size);
  if (!lua_isnoneornil(L, 4)) what.last = *luaL_checkstring(L, 4);
  size_t *received = calloc((size_t)connections, sizeof *received);
  if (received == NULL) return luaL_error(L, "no memory for %d connections", connections);
  pid_t child = fork();
  if (child < 0) return luaL_error(L, "fork: %s", strerror(errno));
  if (child == 0) talk(port, connections, &what, received);
  free(received);
  return 0;
}

// listen(): a listening socket on a free port of this machine, and the port.
int probe_listen(lua_State *L) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) || listen(fd, 1024) ||
      getsockname(fd, (struct sockaddr *)&address, &size))
    return luaL_error(L, "listen: %s", strerror(errno));
  lua_pushinteger(L, fd);
  lua_pushinteger(L, ntohs(address.sin_port));
  return 2;
}

// accept(fd): the next connection, or nil.
int probe_accept(lua_State *L) {
  int yes = 1;
  int fd = accept4((int)luaL_checkinteger(L, 1), NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return 0;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  lua_pushinteger(L, fd);
  return 1;
}
