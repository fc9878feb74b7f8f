// A shell's command that the calling thread waits for, as `system` of the C library runs it; but
// that ignores SIGINT meanwhile, also from another process, which asks this one to end.
#define _GNU_SOURCE
#include "CLinuxShims.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int running;                  // under the lock
static struct sigaction quit_before;  // under the lock
static atomic_int waiting;
static atomic_bool was_interrupted;

// Ctrl-C at the terminal reaches the command too: that decides what it means, as in a shell.
bool cmx_command_takes_interrupt(void) {
  if (atomic_load(&waiting) == 0) return false;
  atomic_store(&was_interrupted, true);
  return true;
}

// Ctrl-\ is the command's alone, as with `system`. Returns whether it was ignored before.
static bool begin(void) {
  pthread_mutex_lock(&lock);
  if (running++ == 0) {
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGQUIT, &ignore, &quit_before);
    atomic_store(&was_interrupted, false);
  }
  bool was_ignored = quit_before.sa_handler == SIG_IGN;
  atomic_fetch_add(&waiting, 1);
  pthread_mutex_unlock(&lock);
  return was_ignored;
}

static void end(void) {
  pthread_mutex_lock(&lock);
  atomic_fetch_sub(&waiting, 1);
  if (--running == 0) sigaction(SIGQUIT, &quit_before, NULL);
  pthread_mutex_unlock(&lock);
}

static int start(const char *command, bool ignores_quit, pid_t *pid) {
  posix_spawnattr_t attributes;
  sigset_t defaults;
  sigemptyset(&defaults);
  if (!ignores_quit) sigaddset(&defaults, SIGQUIT);
  sigaddset(&defaults, SIGPIPE);  // ignored here alone: cmx_ignore_write_signals
  sigaddset(&defaults, SIGXFSZ);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  char *const words[] = {"sh", "-c", "--", (char *)command, NULL};
  int code = posix_spawn(pid, "/bin/sh", NULL, &attributes, words, environ);
  posix_spawnattr_destroy(&attributes);
  return code;
}

int cmx_command_run(const char *command) {
  if (command == NULL) return access("/bin/sh", X_OK) == 0;
  pid_t pid;
  int status = -1;
  int code = start(command, begin(), &pid);
  if (code == 0)
    while (waitpid(pid, &status, 0) < 0) {
      if (errno == EINTR) continue;
      code = errno;
      break;
    }
  end();
  bool has_ended = WIFSIGNALED(status) ? WTERMSIG(status) == SIGINT
                                       : WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGINT;
  if (code == 0 && has_ended && atomic_exchange(&was_interrupted, false)) kill(getpid(), SIGINT);
  errno = code;
  return code == 0 ? status : -1;
}
