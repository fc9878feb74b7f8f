// A question at the terminal, which keeps the thread until it is answered.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cmx_terminal.h"

enum { NAP_MS = 50 };

bool cmx_can_ask(void) { return isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1; }

// A program in the background stops here, as with any read, until it is in front again.
static bool set(const struct termios *mode, int when) {
  int result;
  do result = tcsetattr(STDIN_FILENO, when, mode);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

static bool write_all(const char *text, size_t count) {
  while (count > 0) {
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    ssize_t written = write(STDERR_FILENO, text, count);
    if (written < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (written < 0) poll(&out, 1, NAP_MS);
    else text += written, count -= (size_t)written;
  }
  return true;
}

// One byte; 0: the end, -1: the wait was given up. The terminal may be non-blocking.
static int read_byte(char *byte, bool (*is_over)(void *), void *context) {
  while (!is_over(context)) {
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    int ready = poll(&in, 1, NAP_MS);
    if (ready < 0 && errno != EINTR) return 0;
    if (ready <= 0) continue;
    ssize_t count = read(STDIN_FILENO, byte, 1);
    if (count >= 0) return (int)count;
    if (errno != EINTR && errno != EAGAIN) return 0;
  }
  return -1;
}

static int read_line(char *line, int size, bool (*is_over)(void *), void *context) {
  int length = 0;
  for (;;) {
    char byte;
    if (read_byte(&byte, is_over, context) <= 0) return -1;
    if (byte == '\n') break;
    if (length < size - 1) line[length++] = byte;
  }
  line[length] = 0;
  return length;
}

int cmx_ask(const char *question, size_t count, char *line, int size, bool (*is_over)(void *),
            void *context) {
  struct termios before;
  if (tcgetattr(STDIN_FILENO, &before) != 0) return -1;
  struct termios lines = before;
  lines.c_lflag |= ICANON | ECHO | ISIG;
  lines.c_iflag |= ICRNL;
  lines.c_oflag |= OPOST;
  lines.c_cc[VEOF] = 4;
  // TCSAFLUSH throws away unread input.
  if (!set(&lines, TCSAFLUSH)) return -1;
  int length = write_all(question, count) ? read_line(line, size, is_over, context) : -1;
  set(&before, TCSADRAIN);
  return length;
}
