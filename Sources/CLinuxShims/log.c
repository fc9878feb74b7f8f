// See cmx_log.h. The lock is held for system calls that do not wait, and for copies. A write to a
// file waits as long as its disk does, whatever the mode of the descriptor: a thread makes it.
#define _GNU_SOURCE
#include "cmx_log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  MOST_LOGS = 64,
  BUFFER_SIZE = 1 << 20,
  EXIT_MS = 1000,   // how long the end of the process waits for a slow reader
  FULL_MS = 10,     // how long until a full disk is tried again
  AWAIT_MS = 500,   // for how long a flush waits at once
  LOOK_US = 100,    // how often they look whether the thread is done
};

struct log {
  int fd;           // our own descriptor; open while users > 0, or while something waits
  int shared_with;  // the number that was given, or -1
  int users;
  bool is_file;     // it is the thread's to write
  bool is_written;  // the thread writes the first part of what is queued, without the lock
  bool is_socket;
  bool has_to_ask;  // its descriptor blocks, so poll is asked before each write
  bool is_broken;   // whether its reader has gone: nothing is ever written again
  int problem;      // why the last write failed, such as ENOSPC; 0: it did not
  char *buffer;     // a ring, made when it is first needed
  size_t begin, count;
};

static struct log logs[MOST_LOGS];
static struct cmx_log_loss loss;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_queued = PTHREAD_COND_INITIALIZER;

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool is_ready(int fd, int64_t milliseconds) {
  struct pollfd one = {fd, POLLOUT, 0};
  int64_t until = milliseconds > 0 ? now_ms() + milliseconds : 0;
  while (true) {
    int result = poll(&one, 1, (int)milliseconds);
    if (result >= 0 || errno != EINTR) return result > 0;
    if (milliseconds > 0 && (milliseconds = until - now_ms()) < 0) milliseconds = 0;
  }
}

// A full disk may get room again; a reader that has gone does not come back.
static bool is_transient(int code) {
  return code == EAGAIN || code == ENOSPC || code == EDQUOT || code == EFBIG || code == EIO;
}

// How many bytes were written now; marks the log if none will ever be.
static size_t write_now(struct log *log, const char *bytes, size_t count) {
  size_t done = 0;
  while (done < count) {
    size_t part = count - done;
    if (log->has_to_ask) {
      if (!is_ready(log->fd, 0)) break;
      if (part > PIPE_BUF) part = PIPE_BUF;
    }
    ssize_t result = log->is_socket
        ? send(log->fd, bytes + done, part, MSG_DONTWAIT | MSG_NOSIGNAL)
        : write(log->fd, bytes + done, part);
    if (result < 0 && errno == EINTR) continue;
    log->problem = result < 0 && errno != EAGAIN ? errno : 0;
    if (result < 0 && !is_transient(errno)) log->is_broken = true;
    if (result <= 0) break;
    done += (size_t)result;
  }
  return done;
}

// How much of what is queued lies in one piece, from its begin.
static size_t first_part(const struct log *log) {
  return BUFFER_SIZE - log->begin < log->count ? BUFFER_SIZE - log->begin : log->count;
}

// A reader that has gone, or is slow, loses nothing: it has chosen so.
static void lose(const struct log *log, const char *bytes, size_t count) {
  if (count == 0 || log->problem == 0) return;
  if (!log->is_file && !is_transient(log->problem)) return;
  for (size_t i = 0; i < count; i++) loss.records += bytes[i] == '\n';
  if (loss.problem != 0) return;
  loss.problem = log->problem;
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", log->fd);
  ssize_t length = readlink(link, loss.path, sizeof loss.path - 1);
  loss.path[length > 0 ? length : 0] = 0;
}

static void lose_queue(const struct log *log) {
  size_t part = first_part(log);
  lose(log, log->buffer + log->begin, part);
  lose(log, log->buffer, log->count - part);
}

static void take_off(struct log *log, size_t done) {
  log->count -= done;
  log->begin = (log->begin + done) % BUFFER_SIZE;
  if (log->is_broken) lose_queue(log), log->count = 0;
  // From the front again, so that no more of the buffer is touched than is needed.
  if (log->count == 0) log->begin = 0;
}

static size_t drain(struct log *log) {
  while (log->count > 0 && !log->is_file) {
    size_t part = first_part(log);
    size_t done = write_now(log, log->buffer + log->begin, part);
    take_off(log, done);
    if (done < part) break;
  }
  return log->count;
}

static void queue(struct log *log, const char *bytes, size_t count) {
  size_t end = (log->begin + log->count) % BUFFER_SIZE;
  size_t part = BUFFER_SIZE - end < count ? BUFFER_SIZE - end : count;
  memcpy(log->buffer + end, bytes, part);
  memcpy(log->buffer, bytes + part, count - part);
  log->count += count;
}

bool cmx_log_write(int number, const void *bytes, size_t count) {
  struct log *log = &logs[number];
  pthread_mutex_lock(&lock);
  size_t done = 0;
  if (!log->is_file && drain(log) == 0 && !log->is_broken) done = write_now(log, bytes, count);
  bool is_taken = done == count;
  if (!is_taken && !log->is_broken) {
    if (log->buffer == NULL) log->buffer = malloc(BUFFER_SIZE);
    is_taken = log->buffer != NULL && BUFFER_SIZE - log->count >= count - done;
    if (is_taken) queue(log, (const char *)bytes + done, count - done);
    if (is_taken && log->is_file) pthread_cond_signal(&is_queued);
  }
  if (!is_taken) lose(log, bytes, count);
  pthread_mutex_unlock(&lock);
  return is_taken;
}

size_t cmx_log_drain(int number) {
  pthread_mutex_lock(&lock);
  size_t left = drain(&logs[number]);
  pthread_mutex_unlock(&lock);
  return left;
}

bool cmx_log_is_file(int number) {
  pthread_mutex_lock(&lock);
  bool is_file = logs[number].is_file;
  pthread_mutex_unlock(&lock);
  return is_file;
}

int cmx_log_problem(int number) {
  pthread_mutex_lock(&lock);
  int problem = logs[number].problem;
  pthread_mutex_unlock(&lock);
  return problem;
}

static bool is_free(const struct log *log) {
  return log->users == 0 && log->count == 0 && !log->is_written;
}

static void release(struct log *log) {
  close(log->fd);
  free(log->buffer);
  log->buffer = NULL;
}

// ---- Files ---------------------------------------------------------------------------------

static void write_part(struct log *log) {
  size_t part = first_part(log);
  log->is_written = true;
  struct log seen = *log;  // others may look at the log meanwhile
  pthread_mutex_unlock(&lock);
  size_t done = write_now(&seen, seen.buffer + seen.begin, part);
  pthread_mutex_lock(&lock);
  log->problem = seen.problem;
  log->is_broken = seen.is_broken;
  log->is_written = false;
  take_off(log, done);
  if (is_free(log)) release(log);
}

static void *write_files(void *argument) {
  (void)argument;
  pthread_mutex_lock(&lock);
  while (true) {
    bool is_idle = true, is_stuck = false;
    for (int i = 0; i < MOST_LOGS; i++) {
      struct log *log = &logs[i];
      if (!log->is_file || log->count == 0) continue;
      is_idle = false;
      write_part(log);
      is_stuck = is_stuck || log->problem != 0;
    }
    if (is_idle) pthread_cond_wait(&is_queued, &lock);
    if (!is_stuck) continue;
    pthread_mutex_unlock(&lock);
    nanosleep(&(struct timespec){.tv_nsec = FULL_MS * 1000000}, NULL);
    pthread_mutex_lock(&lock);
  }
}

// Whether there is a thread for files; else they are written at once.
static bool has_thread(void) {
  static bool is_there;
  if (is_there) return true;
  sigset_t all, before;
  sigfillset(&all);
  pthread_t thread;
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the program's signals are for others
  is_there = pthread_create(&thread, NULL, write_files, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (is_there) pthread_detach(thread);
  return is_there;
}

static bool files_wait(void) {
  for (int i = 0; i < MOST_LOGS; i++)
    if (logs[i].is_file && logs[i].count > 0) return true;
  return false;
}

static bool take_lock(int64_t until) {
  while (pthread_mutex_trylock(&lock) != 0) {
    if (now_ms() >= until) return false;
    nanosleep(&(struct timespec){.tv_nsec = LOOK_US * 1000}, NULL);
  }
  return true;
}

int cmx_log_await(int number) {
  int64_t until = now_ms() + AWAIT_MS;
  bool is_done = false;
  while (!is_done && now_ms() < until) {
    pthread_mutex_lock(&lock);
    is_done = logs[number].count == 0 || logs[number].problem != 0;
    pthread_mutex_unlock(&lock);
    if (!is_done) nanosleep(&(struct timespec){.tv_nsec = LOOK_US * 1000}, NULL);
  }
  return 0;
}

// ---- The end -------------------------------------------------------------------------------

static void write_out(struct log *log, int64_t until) {
  while (log->count > 0 && drain(log) > 0 && !log->is_file) {
    int64_t left = until - now_ms();
    if (left <= 0 || !is_ready(log->fd, left)) return;
    if (log->problem != 0) nanosleep(&(struct timespec){.tv_nsec = FULL_MS * 1000000}, NULL);
  }
}

// The thread goes on while this one waits. If this one has crashed with the lock, what is queued
// is left alone. Called again, it waits no longer than the first time.
void cmx_log_write_out(void) {
  static _Atomic int64_t ends;
  int64_t until = ends != 0 ? ends : (ends = now_ms() + EXIT_MS);
  while (take_lock(until)) {
    for (int i = 0; i < MOST_LOGS; i++) write_out(&logs[i], until);
    bool waits = files_wait() && now_ms() < until;
    pthread_mutex_unlock(&lock);
    if (!waits) return;
    nanosleep(&(struct timespec){.tv_nsec = LOOK_US * 1000}, NULL);
  }
}

struct cmx_log_loss cmx_log_finish(void) {
  cmx_log_write_out();
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST_LOGS; i++) lose_queue(&logs[i]);
  struct cmx_log_loss found = loss;
  pthread_mutex_unlock(&lock);
  return found;
}

static const int fatal[] = {
  SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGHUP, SIGQUIT,
};
// What was installed before: a backtracer, a sanitizer, or nothing.
static struct sigaction former[NSIG];

// A backtracer may return, as Swift's does: also after a signal that another process has sent.
static void on_fatal(int number, siginfo_t *info, void *context) {
  cmx_log_write_out();
  const struct sigaction *action = &former[number];
  if (action->sa_flags & (int)SA_SIGINFO) {
    action->sa_sigaction(number, info, context);
  } else if (action->sa_handler != SIG_DFL) {
    action->sa_handler(number);
  }
  signal(number, SIG_DFL);
  raise(number);  // its default action, once this returns
}

static void catch_fatal(bool also_default) {
  for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
    struct sigaction old;
    if (sigaction(fatal[i], NULL, &old) != 0) continue;
    bool is_handled = (old.sa_flags & (int)SA_SIGINFO)
        || (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN);
    bool is_ours = is_handled && old.sa_sigaction == on_fatal;
    if (is_ours || (!is_handled && (!also_default || old.sa_handler == SIG_IGN))) continue;
    former[fatal[i]] = old;
    struct sigaction action = {
      .sa_sigaction = on_fatal, .sa_mask = old.sa_mask,
      .sa_flags = (int)SA_SIGINFO | (int)SA_RESETHAND
          | (old.sa_flags & ((int)SA_ONSTACK | (int)SA_NODEFER)),
    };
    sigaction(fatal[i], &action, NULL);
  }
}

void cmx_end_at_fatal_signals(void) { catch_fatal(false); }

static void catch_ends(void) {
  atexit(cmx_log_write_out);
  catch_fatal(true);
}

// ---- Opening -------------------------------------------------------------------------------

// An open file description of our own, so that non-blocking mode affects no other user; or a copy.
static int open_own(struct log *log, int fd, mode_t mode) {
  if (S_ISFIFO(mode) || S_ISCHR(mode)) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own >= 0) return own;
    log->has_to_ask = true;
  }
  log->is_socket = S_ISSOCK(mode);
  return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

static int open_log(struct log *log, int fd, const char *path) {
  struct stat status;
  *log = (struct log){.shared_with = path == NULL ? fd : -1};
  if (path != NULL) {
    log->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  } else {
    log->fd = fstat(fd, &status) < 0 ? -1 : open_own(log, fd, status.st_mode);
  }
  if (log->fd < 0) return -errno;
  log->is_file = path != NULL && fstat(log->fd, &status) == 0 && S_ISREG(status.st_mode)
      && has_thread();
  log->users = 1;
  return 0;
}

int cmx_log_open(int fd, const char *path) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, catch_ends);
  int found = -EMFILE;
  pthread_mutex_lock(&lock);
  for (int i = MOST_LOGS - 1; i >= 0; i--) {
    if (is_free(&logs[i]) && found < 0) found = i;
    if (!is_free(&logs[i]) && path == NULL && logs[i].shared_with == fd) found = i;
  }
  if (found >= 0 && !is_free(&logs[found])) {
    logs[found].users++;
  } else if (found >= 0) {
    int code = open_log(&logs[found], fd, path);
    if (code < 0) found = code;
  }
  pthread_mutex_unlock(&lock);
  return found;
}

// What is still queued is written at the end of the process.
void cmx_log_close(int number) {
  struct log *log = &logs[number];
  pthread_mutex_lock(&lock);
  if (--log->users == 0 && drain(log) == 0 && !log->is_written) release(log);
  pthread_mutex_unlock(&lock);
}
