// A server's socket for the floor, which has nothing of its own.
#define _GNU_SOURCE
#include <errno.h>
#include <lauxlib.h>
#include <lua.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "threads.h"

// listen(port): a listening socket on a port of this machine, and the port; 0: a free one.
int probe_listen(lua_State *L) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)luaL_optinteger(L, 1, 0)),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
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

// close(fd)
int probe_close(lua_State *L) {
  close((int)luaL_checkinteger(L, 1));
  return 0;
}
