// Opens OpenSSL; see tls_library.h.
#define _GNU_SOURCE
#include "tls_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

struct tls_library tls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const int not_tried = -1;
static int outcome = not_tried;  // protected by `lock`

// dlopen does not tell why. Without descriptors nothing is found, and may be the next time.
static int failure_of_dlopen(void) {
  int fd = open("/", O_PATH | O_CLOEXEC);
  if (fd < 0) return errno;
  close(fd);
  return ENOTSUP;
}

static int open_library(void) {
  // Never closed: all threads use it, and it cleans up at the end of the program.
  void *handle = dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == NULL) return failure_of_dlopen();
  void *symbol;
#define FIND(result, name, arguments)                                \
  if ((symbol = dlsym(handle, #name)) == NULL) return ENOTSUP;       \
  memcpy(&tls.name, &symbol, sizeof symbol);
  TLS_FUNCTIONS(FIND)
#undef FIND
  // Other threads may still use it when the program ends.
  return tls.OPENSSL_init_ssl(tls_no_atexit, NULL) == 1 ? 0 : ENOTSUP;
}

int tls_open(void) {
  pthread_mutex_lock(&lock);
  if (outcome != 0 && outcome != ENOTSUP) outcome = open_library();
  int code = outcome;
  pthread_mutex_unlock(&lock);
  return code;
}
