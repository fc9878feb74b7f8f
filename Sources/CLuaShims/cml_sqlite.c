// Ends the statements of SQLite when a script is stopped: the one library in C that asks, between
// two steps of its own, whether it should go on. It is the library that a module in C has loaded,
// so nothing is linked, and its functions are declared here: they are part of its stable interface.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "cml_internal.h"

enum { STEPS = 1000 };  // of SQLite's machine between two questions: some 10 microseconds

struct sqlite3;
static void (*set_progress)(struct sqlite3 *, int, int (*)(void *), void *);
static int (*each_connection)(void (*)(void));
static pthread_once_t once = PTHREAD_ONCE_INIT;

// On the thread that runs the statement. True ends it, with "interrupted" as its error.
static int asked(void *unused) {
  (void)unused;
  return cml_is_stopping();
}

static int opened(struct sqlite3 *connection, char **message, const void *interface) {
  (void)message, (void)interface;
  set_progress(connection, STEPS, asked, NULL);
  return 0;
}

static void find(void) {
  void *library = dlopen("libsqlite3.so.0", RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (library == NULL) return;
  void *progress = dlsym(library, "sqlite3_progress_handler");
  void *each = dlsym(library, "sqlite3_auto_extension");
  if (progress == NULL || each == NULL) return;
  memcpy(&set_progress, &progress, sizeof progress);
  memcpy(&each_connection, &each, sizeof each);
  each_connection((void (*)(void))opened);
}

void cml_stop_sqlite(void) { pthread_once(&once, find); }
