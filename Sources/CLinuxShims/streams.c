// The standard streams of a program: never closed, and flushed before the loop sleeps.
#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>

static int print_failure;  // why `cmx_print` failed; the stream keeps only that it did

int cmx_flush_standard_output(void) {
  // Without locks: only the loop's thread prints, and this is called before every sleep.
  if (__fpending(stdout) == 0 && !ferror_unlocked(stdout)) return 0;
  errno = 0;
  bool failed_before = ferror_unlocked(stdout);
  if (fflush(stdout) == 0 && !failed_before) return 0;
  int code = errno != 0 ? errno : print_failure != 0 ? print_failure : EIO;
  if (code == EAGAIN) return 0;  // some process made it non-blocking: try the rest again
  __fpurge(stdout);
  clearerr_unlocked(stdout);
  print_failure = 0;
  return -code;
}

void cmx_print(const void *bytes, size_t count) {
  if (fwrite(bytes, 1, count, stdout) < count) print_failure = errno;
}
