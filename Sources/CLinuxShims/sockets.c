// The system calls for sockets; calls.c has the others.
#define _GNU_SOURCE
#include "cmx_call.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

_Static_assert(sizeof((struct cmx_address *)0)->bytes >= sizeof(struct sockaddr_storage), "room");

static struct sockaddr *raw(const struct cmx_address *address) {
  return (struct sockaddr *)(uintptr_t)address->bytes;
}

// ---- Addresses -----------------------------------------------------------------------------

static void keep(struct cmx_address *out, const void *address, socklen_t size) {
  memset(out, 0, sizeof *out);
  if (size > sizeof out->bytes) size = sizeof out->bytes;
  memcpy(out->bytes, address, size);
  out->size = size;
}

bool cmx_address_parse(struct cmx_address *out, const char *host, int port) {
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  if (inet_pton(AF_INET, host, &v4.sin_addr) == 1) {
    keep(out, &v4, sizeof v4);
    return true;
  }
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
  char text[INET6_ADDRSTRLEN + 1];
  const char *scope = strchr(host, '%');
  size_t length = scope != NULL ? (size_t)(scope - host) : strlen(host);
  if (length >= sizeof text) return false;
  memcpy(text, host, length);
  text[length] = 0;
  if (inet_pton(AF_INET6, text, &v6.sin6_addr) != 1) return false;
  if (scope != NULL) {
    v6.sin6_scope_id = if_nametoindex(scope + 1);
    if (v6.sin6_scope_id == 0) v6.sin6_scope_id = (uint32_t)strtoul(scope + 1, NULL, 10);
    if (v6.sin6_scope_id == 0) return false;
  }
  keep(out, &v6, sizeof v6);
  return true;
}

bool cmx_address_unix(struct cmx_address *out, const char *path, size_t length) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  bool is_abstract = length > 0 && path[0] == '@';
  // A path needs its final zero; an abstract name has none, but begins with a zero.
  if (length == 0 || length > sizeof address.sun_path - (is_abstract ? 0 : 1)) return false;
  if (!is_abstract && memchr(path, 0, length) != NULL) return false;
  memcpy(address.sun_path, path, length);
  if (is_abstract) address.sun_path[0] = 0;
  size_t size = offsetof(struct sockaddr_un, sun_path) + length + (is_abstract ? 0 : 1);
  keep(out, &address, (socklen_t)size);
  return true;
}

static int address_family(const struct cmx_address *address) {
  return address->size < sizeof(sa_family_t) ? 0 : raw(address)->sa_family;
}

int cmx_address_port(const struct cmx_address *address) {
  switch (address_family(address)) {
    case AF_INET: return ntohs(((struct sockaddr_in *)raw(address))->sin_port);
    case AF_INET6: return ntohs(((struct sockaddr_in6 *)raw(address))->sin6_port);
    default: return -1;
  }
}

void cmx_address_set_port(struct cmx_address *address, int port) {
  switch (address_family(address)) {
    case AF_INET: ((struct sockaddr_in *)raw(address))->sin_port = htons((uint16_t)port); break;
    case AF_INET6: ((struct sockaddr_in6 *)raw(address))->sin6_port = htons((uint16_t)port); break;
  }
}

size_t cmx_address_text(const struct cmx_address *address, char *text, size_t size) {
  text[0] = 0;
  switch (address_family(address)) {
    case AF_INET:
      inet_ntop(AF_INET, &((struct sockaddr_in *)raw(address))->sin_addr, text, (socklen_t)size);
      break;
    case AF_INET6: {
      struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)raw(address);
      if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
        inet_ntop(AF_INET, &v6->sin6_addr.s6_addr[12], text, (socklen_t)size);
        break;
      }
      inet_ntop(AF_INET6, &v6->sin6_addr, text, (socklen_t)size);
      char name[IF_NAMESIZE];
      size_t used = strlen(text);
      if (v6->sin6_scope_id != 0 && if_indextoname(v6->sin6_scope_id, name) != NULL)
        snprintf(text + used, size - used, "%%%s", name);
      break;
    }
    case AF_UNIX: {
      size_t start = offsetof(struct sockaddr_un, sun_path);
      if (address->size <= start) return 0;  // unnamed
      size_t count = address->size - start;
      const char *path = ((struct sockaddr_un *)raw(address))->sun_path;
      bool is_abstract = path[0] == 0;
      if (!is_abstract) count = strnlen(path, count);
      if (count > size) count = size;
      memcpy(text, path, count);
      if (is_abstract) text[0] = '@';
      return count;
    }
  }
  return strlen(text);
}

// ---- Sockets -------------------------------------------------------------------------------

static int family_of(enum cmx_family family) {
  return family == cmx_family_unix ? AF_UNIX : family == cmx_family_inet6 ? AF_INET6 : AF_INET;
}

enum cmx_family cmx_family_of(const struct cmx_address *address) {
  switch (address_family(address)) {
    case AF_UNIX: return cmx_family_unix;
    case AF_INET6: return cmx_family_inet6;
    default: return cmx_family_inet;
  }
}

int cmx_socket(enum cmx_family family, bool is_datagram) {
  int type = (is_datagram ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC | SOCK_NONBLOCK;
  return cmx_above_standard_streams(CALL(socket, socket(family_of(family), type, 0)));
}

int cmx_bind(int fd, const struct cmx_address *address) {
  return CALL_ON(bind, fd, bind(fd, raw(address), address->size));
}

int cmx_listen(int fd, int backlog) { return CALL_ON(listen, fd, listen(fd, backlog)); }

int cmx_accept(int fd, struct cmx_address *peer) {
  int result;
  do {
    socklen_t size = sizeof peer->bytes;
    result = CALL_ON(
        accept, fd, accept4(fd, raw(peer), &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
    peer->size = size > sizeof peer->bytes ? sizeof peer->bytes : size;
  } while (result == -EINTR);
  if (result < 0) return result;
  CMX_DATA(peer, sizeof *peer);
  CMX_AT_MOST(peer->size, sizeof peer->bytes);
  return cmx_above_standard_streams(result);
}

// Not repeated on EINTR: the attempt continues, like one in progress.
int cmx_connect(int fd, const struct cmx_address *address) {
  int result = CALL_ON(connect, fd, connect(fd, raw(address), address->size));
  cmx_sent();
  return result == -EINTR ? -EINPROGRESS : result;
}

static int socket_error(int fd) {
  int code = 0;
  socklen_t size = sizeof code;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) < 0) return errno;
  return code;
}

int cmx_socket_error(int fd) { return CMX_TAKEN_IN(cmx_tag_socket_error, fd, socket_error(fd)); }

static int socket_name(int fd, bool is_peer, struct cmx_address *out) {
  socklen_t size = sizeof out->bytes;
  int result = is_peer ? getpeername(fd, raw(out), &size) : getsockname(fd, raw(out), &size);
  out->size = size > sizeof out->bytes ? sizeof out->bytes : size;
  return result < 0 ? -errno : 0;
}

int cmx_socket_name(int fd, bool is_peer, struct cmx_address *out) {
  int result = CMX_TAKEN_IN(cmx_tag_socket_name, fd, socket_name(fd, is_peer, out));
  if (result != 0) return result;
  CMX_DATA(out, sizeof *out);
  CMX_AT_MOST(out->size, sizeof out->bytes);
  return result;
}

bool cmx_socket_credentials(int fd, int *pid, unsigned *uid, unsigned *gid) {
  struct ucred who;
  socklen_t size = sizeof who;
  int result = CMX_TAKEN_IN(
      cmx_tag_credentials, fd, getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size));
  if (result < 0) return false;
  CMX_DATA(&who, sizeof who);
  *pid = who.pid;
  *uid = who.uid;
  *gid = who.gid;
  return true;
}

int cmx_socket_set(int fd, enum cmx_socket_option option, int value) {
  static const struct {
    int level, name;
  } names[] = {
    [cmx_option_reuse_address] = {SOL_SOCKET, SO_REUSEADDR},
    [cmx_option_reuse_port] = {SOL_SOCKET, SO_REUSEPORT},
    [cmx_option_v6_only] = {IPPROTO_IPV6, IPV6_V6ONLY},
    [cmx_option_no_delay] = {IPPROTO_TCP, TCP_NODELAY},
    [cmx_option_keep_alive] = {SOL_SOCKET, SO_KEEPALIVE},
    [cmx_option_keep_idle] = {IPPROTO_TCP, TCP_KEEPIDLE},
    [cmx_option_keep_interval] = {IPPROTO_TCP, TCP_KEEPINTVL},
    [cmx_option_broadcast] = {SOL_SOCKET, SO_BROADCAST},
    [cmx_option_receive_buffer] = {SOL_SOCKET, SO_RCVBUF},
    [cmx_option_send_buffer] = {SOL_SOCKET, SO_SNDBUF},
  };
  int result = CALL(
      setsockopt, setsockopt(fd, names[option].level, names[option].name, &value, sizeof value));
  return result;
}

int cmx_socket_reset_on_close(int fd) {
  struct linger at_once = {.l_onoff = 1, .l_linger = 0};
  return CALL(setsockopt, setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
}

int cmx_shutdown(int fd, bool both_ways) {
  int result = CALL_ON(shutdown, fd, shutdown(fd, both_ways ? SHUT_RDWR : SHUT_WR));
  cmx_sent();
  return result;
}

intptr_t cmx_send_to(int fd, const void *bytes, size_t count, const struct cmx_address *to) {
  intptr_t result = CALL_AGAIN(
      sendto, fd, sendto(fd, bytes, count, MSG_NOSIGNAL, to ? raw(to) : NULL, to ? to->size : 0));
  cmx_sent();
  CMX_AT_MOST(result, count);
  if (__builtin_expect(cmx_intake_here != NULL, 0)) cmx_intake_here->given(bytes, count);
  return result;
}

intptr_t cmx_receive_from(int fd, void *buffer, size_t count, struct cmx_address *from) {
  intptr_t result;
  do {
    socklen_t size = sizeof from->bytes;
    // With MSG_TRUNC the result is the datagram's length, even if the buffer is smaller.
    result = CALL_ON(recvfrom, fd, recvfrom(fd, buffer, count, MSG_TRUNC, raw(from), &size));
    from->size = size > sizeof from->bytes ? sizeof from->bytes : size;
  } while (result == -EINTR);
  if (result >= 0) {
    CMX_DATA(from, sizeof *from);
    CMX_AT_MOST(from->size, sizeof from->bytes);
    CMX_DATA(buffer, (size_t)result < count ? (size_t)result : count);
  }
  return result;
}

// ---- Descriptors in messages ---------------------------------------------------------------

intptr_t cmx_send_descriptor(int fd, const void *bytes, size_t count, int passed) {
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct iovec part = {(void *)(uintptr_t)bytes, count};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                           .msg_controllen = sizeof control.space};
  control.header.cmsg_level = SOL_SOCKET;
  control.header.cmsg_type = SCM_RIGHTS;
  control.header.cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(&control.header), &passed, sizeof passed);
  intptr_t result = CALL_AGAIN(sendmsg, fd, sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT));
  CMX_AT_MOST(result, count);
  return result;
}

int cmx_take_descriptors(struct msghdr *message, int *taken, int most) {
  int count = 0;
  for (struct cmsghdr *h = CMSG_FIRSTHDR(message); h != NULL; h = CMSG_NXTHDR(message, h)) {
    if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) continue;
    size_t received = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < received; i++) {
      int one;
      memcpy(&one, CMSG_DATA(h) + i * sizeof one, sizeof one);
      if (count == most) close(one);
      else taken[count++] = cmx_above_standard_streams(one);
    }
  }
  return count;
}

intptr_t cmx_receive_descriptor(int fd, void *buffer, size_t count, int *passed) {
  enum { MOST = 16 };
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(MOST * sizeof(int))];
  } control;
  struct iovec part = {buffer, count};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                           .msg_controllen = sizeof control.space};
  *passed = -1;
  intptr_t result = CALL_AGAIN(recvmsg, fd, recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT));
  if (result < 0) return result;
  CMX_AT_MOST(result, count);
  CMX_DATA(buffer, result);
  if (cmx_intake_is_replayed) message.msg_controllen = 0;
  cmx_take_descriptors(&message, passed, 1);  // each of our messages carries one
  CMX_DATA(passed, sizeof *passed);
  return result;
}

// ---- From one descriptor to another --------------------------------------------------------

static enum cmx_sort sort_of(int fd) {
  struct stat status;
  if (fstat(fd, &status) < 0) return cmx_sort_other;
  if (S_ISREG(status.st_mode)) return cmx_sort_file;
  if (S_ISFIFO(status.st_mode)) return cmx_sort_pipe;
  return S_ISSOCK(status.st_mode) ? cmx_sort_socket : cmx_sort_other;
}

enum cmx_sort cmx_sort_of(int fd) { return CMX_TAKEN_IN(cmx_tag_sort, fd, sort_of(fd)); }

// An intake would not see what the kernel copies: with one, this is not possible.
intptr_t cmx_sendfile(int to, int from, size_t count) {
  if (cmx_intake_here != NULL) return -EINVAL;
  cmx_sent();
  return CALL_AGAIN(sendfile, to, sendfile(to, from, NULL, count));
}

intptr_t cmx_splice(int from, int to, size_t count) {
  if (cmx_intake_here != NULL) return -EINVAL;
  unsigned flags = SPLICE_F_NONBLOCK | SPLICE_F_MOVE;
  cmx_sent();
  return CALL_AGAIN(splice, to, splice(from, NULL, to, NULL, count, flags));
}

// ---- Names ---------------------------------------------------------------------------------

// The resolver reports an unknown name if the process has no free descriptor.
static int missing_descriptor(void) {
  int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno == EMFILE || errno == ENFILE ? errno : 0;
  close(fd);
  return 0;
}

int cmx_resolve(const char *host, enum cmx_resolve_family family, struct cmx_address *out,
                int most) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
  hints.ai_family = family == cmx_resolve_inet    ? AF_INET
                    : family == cmx_resolve_inet6 ? AF_INET6
                                                  : AF_UNSPEC;
  // A caller that names a family wants it even if no address of it is configured.
  if (family != cmx_resolve_any) hints.ai_flags = 0;
  struct addrinfo *list = NULL;
  int code = getaddrinfo(host, NULL, &hints, &list);
  if (code != 0) {
    int reason = code == EAI_SYSTEM ? errno : missing_descriptor();
    return reason > 0 ? -1000 - reason : -abs(code);
  }
  int count = 0;
  for (struct addrinfo *one = list; one != NULL && count < most; one = one->ai_next)
    keep(&out[count++], one->ai_addr, one->ai_addrlen);
  freeaddrinfo(list);
  return count;
}

const char *cmx_resolve_message(int code) { return gai_strerror(code); }

const char *cmx_resolve_name(int code) {
  switch (code) {
    case EAI_AGAIN: return "EAI_AGAIN";
    case EAI_FAIL: return "EAI_FAIL";
    case EAI_FAMILY: return "EAI_FAMILY";
    case EAI_MEMORY: return "EAI_MEMORY";
    case EAI_NODATA: return "EAI_NODATA";
    case EAI_ADDRFAMILY: return "EAI_ADDRFAMILY";
    case EAI_NONAME: return "EAI_NONAME";
    default: return "EAI_FAIL";
  }
}

// ---- Socket files --------------------------------------------------------------------------

static uint64_t file_identity(const char *path) {
  struct stat status;
  if (lstat(path, &status) < 0 || !S_ISSOCK(status.st_mode)) return 0;
  return (uint64_t)status.st_ino ^ (uint64_t)status.st_dev << 40;
}

uint64_t cmx_file_identity(const char *path) {
  return CMX_TAKEN_IN(cmx_tag_identity, 0, file_identity(path));
}

static bool is_same_file(const char *one, const char *other) {
  struct stat a, b;
  return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool cmx_is_same_file(const char *one, const char *other) {
  return CMX_TAKEN_IN(cmx_tag_identity, 0, is_same_file(one, other));
}

int cmx_unlink(const char *path) {
  return CMX_TAKEN_IN(cmx_tag_unlink, 0, unlink(path) < 0 ? -errno : 0);
}

int cmx_set_mode(int fd, unsigned mode) {
  return CMX_TAKEN_IN(cmx_tag_set_mode, fd, fchmod(fd, (mode_t)mode) < 0 ? -errno : 0);
}
