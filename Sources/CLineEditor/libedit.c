// Edits with libedit, whose functions are loaded by name here; its header has the types.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#include "editor.h"

enum { HISTORY = 1000 };

static struct {
  __typeof__(el_init) *init;
  __typeof__(el_end) *end;
  __typeof__(el_gets) *gets;
  __typeof__(el_set) *set;
  __typeof__(el_line) *line;
  __typeof__(el_insertstr) *insert;
  __typeof__(el_resize) *resize;
  __typeof__(el_source) *source;
  __typeof__(history_init) *history_init;
  __typeof__(history_end) *history_end;
  __typeof__(history) *history;
} lib;

static EditLine *editor;
static History *past;
static HistEvent found;
static char *history_path;
static char *prompt_now;
static FILE *screen;
static bool was_dropped;  // the current line, set by Ctrl-C
// Ctrl-C, unless the user has chosen another key. While a line is edited it is a key like others: a
// signal could come before what was typed before it, or after what was typed after it.
static cc_t interrupt_key;

static bool find(void *handle, void *place, const char *name) {
  void *symbol = dlsym(handle, name);
  memcpy(place, &symbol, sizeof symbol);
  return symbol != NULL;
}

static bool load(void) {
  void *handle = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) handle = dlopen("libedit.so.0", RTLD_NOW | RTLD_LOCAL);
  return handle != NULL && find(handle, &lib.init, "el_init") && find(handle, &lib.end, "el_end") &&
         find(handle, &lib.gets, "el_gets") && find(handle, &lib.set, "el_set") &&
         find(handle, &lib.line, "el_line") && find(handle, &lib.insert, "el_insertstr") &&
         find(handle, &lib.resize, "el_resize") && find(handle, &lib.source, "el_source") &&
         find(handle, &lib.history_init, "history_init") &&
         find(handle, &lib.history_end, "history_end") && find(handle, &lib.history, "history");
}

// ---- Where the line stands -------------------------------------------------------------------

static int columns_now(void) {
  struct winsize size;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

struct place { int row, column; };

// Where a text that begins at a position ends.
static struct place end_of(const char *text, size_t count, struct place at, int columns) {
  mbstate_t state = {0};
  while (count > 0) {
    wchar_t c = 0;
    size_t used = mbrtowc(&c, text, count, &state);
    if (used == 0 || used > count) return at;
    int width = iswcntrl((wint_t)c) ? 2 : wcwidth(c);
    if (width > 0 && at.column + width > columns) at = (struct place){at.row + 1, 0};
    if (width > 0) at.column += width;
    if (at.column >= columns) at = (struct place){at.row + 1, 0};
    text += used;
    count -= used;
  }
  return at;
}

// The rows from the prompt to the cursor.
static int rows_to_cursor(void) {
  const LineInfo *line = lib.line(editor);
  int columns = columns_now();
  struct place begin = end_of(prompt_now, strlen(prompt_now), (struct place){0, 0}, columns);
  return end_of(line->buffer, (size_t)(line->cursor - line->buffer), begin, columns).row;
}

static void write_all(const char *text, size_t count) {
  while (count > 0) {
    ssize_t done = write(STDOUT_FILENO, text, count);
    if (done < 0 && errno != EINTR) return;
    if (done > 0) text += done, count -= (size_t)done;
  }
}

// Erases the prompt and the line. Flushes the library's output.
static void wipe(void) {
  char text[32];
  int up = cle.rows > 0 ? snprintf(text, sizeof text, "\033[%dA", cle.rows) : 0;
  if (up > 0) write_all(text, (size_t)up);
  write_all("\r\033[J", 4);
}

// Makes Ctrl-C a signal, or a key.
static void set_interrupt(cc_t key) {
  struct termios mode;
  if (tcgetattr(STDIN_FILENO, &mode) != 0) return;
  mode.c_cc[VINTR] = key;
  tcsetattr(STDIN_FILENO, TCSANOW, &mode);
}

static void take_terminal(void) {
  lib.set(editor, EL_PREP_TERM, 1);
  set_interrupt(_POSIX_VDISABLE);
}

// ---- Waiting for a key ----------------------------------------------------------------------

static void draw_again(void) {
  if (cle.ends_short) fputc('\n', screen);
  cle.ends_short = cle.is_hidden = false;
  lib.set(editor, EL_REFRESH);
  fflush(screen);
}

// Output written in pieces continues soon: do not show the prompt in between. Not while the screen
// is ours.
static void let_settle(void) {
  struct pollfd none = {-1, 0, 0};
  poll(&none, 1, cle.ends_short ? 20 : 2);
}

// Handles what happened while the editor waited. The screen is ours.
static void look_up(void) {
  if (cle.is_hidden) {
    cle.is_shown = true;
    pthread_mutex_unlock(&cle.screen);
    let_settle();
    pthread_mutex_lock(&cle.screen);
    cle.is_shown = false;
  }
  char *other = cle_take_question();
  if (other != NULL) {
    free(prompt_now);
    prompt_now = other;
    if (!cle.is_hidden) wipe();
    cle.is_hidden = true;
  }
  if (atomic_exchange(&cle.was_continued, false)) {
    take_terminal();
    cle.is_hidden = true;
  }
  if (atomic_exchange(&cle.was_resized, false)) {
    // Some terminals reflow the line; what is above it is never erased.
    int rows = rows_to_cursor();
    if (rows < cle.rows) cle.rows = rows;
    if (!cle.is_hidden) wipe();
    cle.is_hidden = true;
    lib.resize(editor);
  }
  if (cle.is_hidden) draw_again();
}

// One character in the terminal's encoding.
static int next_key(EditLine *line, wchar_t *out) {
  (void)line;
  mbstate_t state = {0};
  while (true) {
    look_up();
    if (cle.quits) return 0;
    if (cle_take_interrupt()) {
      was_dropped = true;
      return 0;
    }
    cle.is_shown = true;
    cle.rows = rows_to_cursor();
    pthread_mutex_unlock(&cle.screen);
    bool is_there = cle_wait(STDIN_FILENO);
    pthread_mutex_lock(&cle.screen);
    cle.is_shown = false;
    if (!is_there) continue;
    char byte;
    ssize_t count = read(STDIN_FILENO, &byte, 1);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return 0;
    if (interrupt_key != _POSIX_VDISABLE && (cc_t)byte == interrupt_key) {
      was_dropped = true;
      return 0;
    }
    size_t used = mbrtowc(out, &byte, 1, &state);
    if (used == (size_t)-2) continue;
    if (used == (size_t)-1) {
      memset(&state, 0, sizeof state);
      continue;
    }
    // A Ctrl-D typed before the terminal was ours arrives as a zero byte.
    if (byte == 0) *out = 4;
    if (cle.is_hidden) draw_again();
    return 1;
  }
}

// ---- Completion -----------------------------------------------------------------------------

static unsigned char complete(EditLine *line, int key) {
  (void)key;
  const LineInfo *now = lib.line(line);
  pthread_mutex_lock(&cle.lock);
  cle.is_answered = false;
  pthread_mutex_unlock(&cle.lock);
  cle_tell(cle_complete, now->buffer, (size_t)(now->cursor - now->buffer));
  bool is_answered = false;
  cle.is_shown = true;
  cle.rows = rows_to_cursor();
  pthread_mutex_unlock(&cle.screen);
  set_interrupt(interrupt_key);  // no keys are read meanwhile
  while (!cle.quits && !cle.was_interrupted && !is_answered) {
    cle_wait(-1);
    pthread_mutex_lock(&cle.lock);
    is_answered = cle.is_answered;
    pthread_mutex_unlock(&cle.lock);
  }
  set_interrupt(_POSIX_VDISABLE);
  pthread_mutex_lock(&cle.screen);
  cle.is_shown = false;
  if (cle.is_hidden) draw_again();
  if (!is_answered) return CC_NORM;
  unsigned char result = CC_NORM;
  pthread_mutex_lock(&cle.lock);
  if (cle.insertion[0] != 0) result = lib.insert(line, cle.insertion) == 0 ? CC_REFRESH : CC_ERROR;
  if (cle.list[0] != 0) {
    fprintf(screen, "\n%s\n", cle.list);
    result = CC_REDISPLAY;
  }
  if (result == CC_NORM) result = CC_ERROR;  // a beep
  pthread_mutex_unlock(&cle.lock);
  return result;
}

// ---- Lines ----------------------------------------------------------------------------------

static char *prompt_of(EditLine *line) {
  (void)line;
  return prompt_now;
}

// Appends after what others have saved meanwhile, in the library's format: the library would save
// everything, or a number of lines that differs between releases.
static void save(const char *line) {
  static const char cookie[] = "_HiStOrY_V2_\n";
  if (history_path == NULL) return;
  int fd = open(history_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  struct stat status;
  char *text = malloc(sizeof cookie + 4 * strlen(line) + 1);
  if (text == NULL) abort();
  char *end = text;
  if (fstat(fd, &status) == 0 && status.st_size == 0) end = stpcpy(end, cookie);
  for (const unsigned char *c = (const unsigned char *)line; *c != 0; c++) {
    if (*c > ' ' && *c != '\\' && *c != 127) *end++ = (char)*c;
    else end += sprintf(end, "\\%03o", (unsigned)*c);
  }
  *end++ = '\n';
  if (write(fd, text, (size_t)(end - text)) < 0) history_path = NULL;
  free(text);
  close(fd);
}

void cle_edit(char *prompt) {
  free(prompt_now);
  prompt_now = prompt;
  if (cle.ends_short) let_settle();
  pthread_mutex_lock(&cle.screen);
  if (cle.ends_short) {
    fputc('\n', screen);
    cle.ends_short = false;
  }
  was_dropped = cle.is_hidden = false;
  int count = 0;
  // Before the prompt appears, which is what people and programs wait for.
  take_terminal();
  const char *line = lib.gets(editor, &count);
  lib.set(editor, EL_PREP_TERM, 0);
  if (was_dropped || line == NULL || count <= 0) {
    if (cle.quits) wipe();
    else fputs(was_dropped ? "^C\n" : "\n", screen);
    fflush(screen);
    pthread_mutex_unlock(&cle.screen);
    if (was_dropped) cle_tell(cle_interrupt, "", 0);
    else if (!cle.quits) cle_tell(cle_end, "", 0);
    return;
  }
  fflush(screen);
  pthread_mutex_unlock(&cle.screen);
  size_t length = (size_t)count;
  if (line[length - 1] == '\n') length--;
  if (length > 0) {
    lib.history(past, &found, H_ENTER, line);
    save(line);
  }
  cle_tell(cle_line, line, length);
}

// ---- Output ---------------------------------------------------------------------------------

void cle_print(const char *text, size_t count) {
  if (count == 0) return;
  if (!cle.is_editing) return write_all(text, count);
  pthread_mutex_lock(&cle.screen);
  if (cle.is_shown && !cle.is_hidden) wipe();
  write_all(text, count);
  cle.ends_short = text[count - 1] != '\n';
  bool must_draw = cle.is_shown && !cle.is_hidden;
  if (cle.is_shown) cle.is_hidden = true;
  pthread_mutex_unlock(&cle.screen);
  if (must_draw) cle_ring();
}

static ssize_t write_above(void *cookie, const char *text, size_t count) {
  (void)cookie;
  cle_print(text, count);
  return (ssize_t)count;
}

static void capture(FILE **stream, int mode) {
  cookie_io_functions_t functions = {.write = write_above};
  FILE *made = fopencookie(NULL, "w", functions);
  if (made == NULL) return;
  setvbuf(made, NULL, mode, BUFSIZ);
  fflush(*stream);
  *stream = made;
}

void cle_capture_output(void) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return;
  capture(&stdout, _IOLBF);
  if (isatty(STDERR_FILENO)) capture(&stderr, _IONBF);
}

// ---- Begin and end --------------------------------------------------------------------------

static void make_folders(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    mkdir(path, 0700);
    *slash = '/';
  }
}

const char *cle_begin_editing(const char *path) {
  const char *kind = getenv("TERM");
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return "not a terminal";
  if (kind == NULL || strcmp(kind, "dumb") == 0) return "the terminal cannot edit";
  if (!load()) return "libedit is not installed (Debian: apt-get install libedit2)";
  // Without a suitable locale, terminals still send UTF-8.
  if (setlocale(LC_CTYPE, "") == NULL || strcmp(nl_langinfo(CODESET), "ANSI_X3.4-1968") == 0)
    setlocale(LC_CTYPE, "C.UTF-8");
  int out = dup(STDOUT_FILENO);
  screen = out < 0 ? NULL : fdopen(out, "w");
  if (screen == NULL) return "too many open files";
  editor = lib.init("moonloop", stdin, screen, screen);
  past = lib.history_init();
  if (editor == NULL || past == NULL) return "libedit does not support the terminal";
  lib.history(past, &found, H_SETSIZE, HISTORY);
  lib.history(past, &found, H_SETUNIQUE, 1);
  if (path[0] != 0 && (history_path = strdup(path)) != NULL) {
    make_folders(history_path);
    // Drops what was too much.
    if (lib.history(past, &found, H_LOAD, history_path) >= HISTORY)
      lib.history(past, &found, H_SAVE, history_path);
  }
  lib.set(editor, EL_PROMPT, prompt_of);
  lib.set(editor, EL_EDITOR, "emacs");
  lib.set(editor, EL_SIGNAL, 0);
  lib.set(editor, EL_HIST, lib.history, past);
  lib.set(editor, EL_GETCFN, next_key);
  struct termios mode;
  interrupt_key = tcgetattr(STDIN_FILENO, &mode) == 0 ? mode.c_cc[VINTR] : _POSIX_VDISABLE;
  // Otherwise a signal from the keyboard drops the input it had seen, and the read waits forever.
  lib.set(editor, EL_SETTY, "-d", "+noflsh", NULL);
  lib.set(editor, EL_ADDFN, "moonloop-complete", "Complete what is typed", complete);
  lib.set(editor, EL_BIND, "^I", "moonloop-complete", NULL);
  lib.set(editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
  lib.source(editor, NULL);
  return NULL;
}

void cle_end_editing(void) {
  if (!cle.is_editing) return;
  cle.is_editing = false;
  lib.end(editor);
  lib.history_end(past);
  fclose(screen);
}
