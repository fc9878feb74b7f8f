// Opens OpenSSL; see tls_library.h.
#define _GNU_SOURCE
#include "tls_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

struct tls_library tls;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_open;

static void open_library(void) {
  // Never closed: all threads use it, and it cleans up at the end of the program.
  void *handle = dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == NULL) return;
  void *symbol;
#define FIND(result, name, arguments)                                \
  if ((symbol = dlsym(handle, #name)) == NULL) return;               \
  memcpy(&tls.name, &symbol, sizeof symbol);
  TLS_FUNCTIONS(FIND)
#undef FIND
  // Other threads may still use it when the program ends.
  is_open = tls.OPENSSL_init_ssl(tls_no_atexit, NULL) == 1;
}

bool tls_open(void) {
  pthread_once(&once, open_library);
  return is_open;
}
