// The system calls that sockets need, as calls.c has the others.
#define _GNU_SOURCE
#include "cmx_call.h"

#include <sys/socket.h>

int cmx_shutdown_writing(int fd) { return CALL(shutdown, shutdown(fd, SHUT_WR)); }
