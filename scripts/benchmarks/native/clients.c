// The clients of W6, in their own process: one message of 64 bytes is always under way on each
// connection, so that the server's CPU time is measured alone.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <lua.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "threads.h"

enum { MESSAGE = 64 };

static int connected(uint16_t port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) return -1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
}

// Only system calls: the process may have had other threads when it was forked.
static _Noreturn void talk(uint16_t port, int connections) {
  static char message[MESSAGE];
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int poll = epoll_create1(EPOLL_CLOEXEC);
  for (int i = 0; i < connections; i++) {
    int fd = connected(port);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (fd < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event)) _exit(1);
    if (write(fd, message, MESSAGE) != MESSAGE) _exit(1);
  }
  for (;;) {
    struct epoll_event events[64];
    int count = epoll_wait(poll, events, 64, -1);
    for (int i = 0; i < count; i++) {
      int fd = events[i].data.fd;
      ssize_t got = read(fd, message, MESSAGE);
      if (got <= 0 && errno != EAGAIN) _exit(0);
      if (got > 0 && write(fd, message, (size_t)got) != got) _exit(0);
    }
  }
}

// clients(port, connections): starts the clients; they end with their server.
int probe_clients(lua_State *L) {
  uint16_t port = (uint16_t)luaL_checkinteger(L, 1);
  int connections = (int)luaL_checkinteger(L, 2);
  pid_t child = fork();
  if (child < 0) return luaL_error(L, "fork: %s", strerror(errno));
  if (child == 0) talk(port, connections);
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
