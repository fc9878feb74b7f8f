// Output in a replay: the bytes written to the standard streams, or to copies of them.
#include <errno.h>
#include <unistd.h>

#include "shared.h"

enum { COPIES = 16 };
static struct { int fd, stream; } copies[COPIES];
static int copy_count;

void cmr_echo(int fd, const void *bytes, int64_t count) {
  int to = fd == 1 || fd == 2 ? fd : 0;
  for (int i = 0; i < copy_count; i++)
    if (copies[i].fd == fd) to = copies[i].stream;
  if (to == 0) return;
  if (to == 1) cmx_flush_standard_output();
  const char *at = bytes;
  while (count > 0) {
    ssize_t written = write(to, at, (size_t)count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    at += written;
    count -= written;
  }
}

void cmr_copied(int from, int to) {
  if (!cmx_intake_is_replayed || to < 0) return;
  int stream = from == 1 || from == 2 ? from : 0;
  for (int i = 0; i < copy_count; i++) {
    if (copies[i].fd == from) stream = copies[i].stream;
    if (copies[i].fd == to) copies[i--] = copies[--copy_count];
  }
  if (stream == 0 || copy_count == COPIES) return;
  copies[copy_count].fd = to;
  copies[copy_count++].stream = stream;
}
