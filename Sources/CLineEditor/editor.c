// The editor's thread, its requests and its events.
#include "editor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

struct cle_state cle = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .screen = PTHREAD_MUTEX_INITIALIZER, .bell = -1};

static struct termios before;
static bool has_before;

// ---- Events ---------------------------------------------------------------------------------

void cle_tell(enum cle_kind kind, const char *text, size_t count) {
  struct cle_node *node = calloc(1, sizeof *node);
  char *copy = malloc(count + 1);
  if (node == NULL || copy == NULL) abort();
  memcpy(copy, text, count);
  copy[count] = 0;
  node->event = (struct cle_event){kind, copy, count};
  pthread_mutex_lock(&cle.lock);
  struct cle_node **last = &cle.events;
  while (*last != NULL) last = &(*last)->next;
  *last = node;
  pthread_mutex_unlock(&cle.lock);
  cle.notify(cle.context);
}

bool cle_next(struct cle_event *out) {
  pthread_mutex_lock(&cle.lock);
  struct cle_node *node = cle.events;
  if (node != NULL) cle.events = node->next;
  bool was_last = node != NULL && cle.events == NULL;
  pthread_mutex_unlock(&cle.lock);
  if (node == NULL) return false;
  if (was_last) cle_ring();  // wakes a thread that waits for it to be taken
  *out = node->event;
  free(node);
  return true;
}

void cle_free(struct cle_event *event) { free(event->text); }

static bool has_events(void) {
  pthread_mutex_lock(&cle.lock);
  bool waits = cle.events != NULL && !cle.quits;
  pthread_mutex_unlock(&cle.lock);
  return waits;
}

bool cle_pause(void) {
  if (!has_events()) return false;
  struct pollfd bell = {cle.bell, POLLIN, 0};
  eventfd_t rings;
  // Other causes for the bell are checked before the next wait.
  if (poll(&bell, 1, 10) > 0) eventfd_read(cle.bell, &rings);
  return has_events();
}

bool cle_is_urged(void) { return cle.was_interrupted; }

void cle_ring(void) { eventfd_write(cle.bell, 1); }

// ---- Signals --------------------------------------------------------------------------------

static void on_signal(int number) {
  int saved = errno;
  if (number == SIGINT) cle.was_interrupted = true;
  if (number == SIGWINCH) cle.was_resized = true;
  if (number == SIGCONT) cle.was_continued = true;
  cle_ring();
  errno = saved;
}

static void restore(void) {
  if (has_before) tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

static void on_end(int number) {
  restore();
  signal(number, SIG_DFL);
  raise(number);  // once the handler has returned
}

// Those that the editor needs; and, from SIGQUIT on, those that end the program, unless
// it handles them itself.
static const int signals[] = {SIGINT,    SIGWINCH, SIGCONT, SIGQUIT, SIGHUP,
                              SIGUSR1,   SIGUSR2,  SIGVTALRM, SIGPROF, SIGIO,
                              SIGPWR,    SIGXCPU,  SIGSTKFLT};
enum { SIGNALS = sizeof signals / sizeof *signals, FIRST_END = 3 };
static struct sigaction others[SIGNALS];

static void catch_signals(void) {
  struct sigaction new = {.sa_flags = SA_RESTART};
  sigemptyset(&new.sa_mask);
  for (int i = 0; i < SIGNALS; i++) {
    sigaction(signals[i], NULL, &others[i]);
    if (i > FIRST_END && others[i].sa_handler != SIG_DFL) continue;
    new.sa_handler = i < FIRST_END ? on_signal : on_end;
    sigaction(signals[i], &new, NULL);
  }
}

static void give_signals_back(void) {
  for (int i = 0; i < SIGNALS; i++) {
    struct sigaction now;
    bool is_ours = sigaction(signals[i], NULL, &now) == 0 &&
                   (now.sa_handler == on_signal || now.sa_handler == on_end);
    if (is_ours) sigaction(signals[i], &others[i], NULL);
  }
}

// ---- The thread -----------------------------------------------------------------------------

bool cle_wait(int fd) {
  struct pollfd places[] = {{cle.bell, POLLIN, 0}, {fd, POLLIN, 0}};
  int count = poll(places, fd < 0 ? 1 : 2, -1);
  if (count > 0 && places[0].revents != 0) {
    eventfd_t rings;
    eventfd_read(cle.bell, &rings);
  }
  return count > 0 && fd >= 0 && places[1].revents != 0;
}

bool cle_take_interrupt(void) { return atomic_exchange(&cle.was_interrupted, false); }

// Lines as they come, without editing.
static void read_plainly(void) {
  static char *held;
  static size_t count, space;
  while (!cle.quits) {
    char *newline = count == 0 ? NULL : memchr(held, '\n', count);
    if (newline != NULL) {
      size_t length = (size_t)(newline - held);
      cle_tell(cle_line, held, length);
      count -= length + 1;
      memmove(held, newline + 1, count);
      return;
    }
    if (!cle_wait(STDIN_FILENO)) continue;
    if (space - count < 4096 && (held = realloc(held, space += 8192)) == NULL) abort();
    ssize_t more = read(STDIN_FILENO, held + count, space - count);
    if (more > 0) {
      count += (size_t)more;
    } else if (more == 0 || (errno != EINTR && errno != EAGAIN)) {
      if (count > 0) cle_tell(cle_line, held, count);
      if (count == 0) cle_tell(cle_end, "", 0);
      count = 0;
      return;
    }
  }
}

char *cle_take_question(void) {
  pthread_mutex_lock(&cle.lock);
  char *prompt = cle.prompt;
  cle.prompt = NULL;
  pthread_mutex_unlock(&cle.lock);
  return prompt;
}

static void *work(void *argument) {
  (void)argument;
  while (!cle.quits) {
    char *prompt = cle_take_question();
    if (prompt == NULL) {
      if (!cle_take_interrupt()) {
        cle_wait(-1);
        continue;
      }
      cle_tell(cle_interrupt, "", 0);
    } else if (cle.is_editing) {
      cle_edit(prompt);
    } else {
      cle_print(prompt, strlen(prompt));
      free(prompt);
      read_plainly();
    }
    cle.linger(cle.context);
  }
  return NULL;
}

// ---- For the owner --------------------------------------------------------------------------

bool cle_is_editing(void) { return cle.is_editing; }

const char *cle_open(
    const char *history, void (*notify)(void *), void (*linger)(void *), void *context) {
  cle.notify = notify;
  cle.linger = linger;
  cle.context = context;
  cle.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const char *obstacle = cle_begin_editing(history);
  cle.is_editing = obstacle == NULL;
  if (cle.is_editing) {
    if (!has_before) atexit(restore);
    has_before = tcgetattr(STDIN_FILENO, &before) == 0;
    catch_signals();
  }
  // Signals are handled on the owner's thread.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  cle.has_thread = pthread_create(&cle.thread, NULL, work, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return cle.has_thread ? obstacle : "no thread could be started";
}

void cle_ask(const char *prompt) {
  char *copy = strdup(prompt);
  pthread_mutex_lock(&cle.lock);
  free(cle.prompt);
  cle.prompt = copy;
  pthread_mutex_unlock(&cle.lock);
  cle_ring();
}

void cle_answer(const char *insertion, const char *list) {
  pthread_mutex_lock(&cle.lock);
  free(cle.insertion);
  free(cle.list);
  cle.insertion = strdup(insertion);
  cle.list = strdup(list);
  cle.is_answered = true;
  pthread_mutex_unlock(&cle.lock);
  cle_ring();
}

void cle_close(void) {
  if (!cle.has_thread) return;
  cle.quits = true;
  cle_ring();
  pthread_join(cle.thread, NULL);
  cle.has_thread = false;
  if (cle.is_editing) {
    give_signals_back();
    cle_end_editing();
    restore();
  }
  struct cle_event event;
  while (cle_next(&event)) cle_free(&event);
  close(cle.bell);
  cle.bell = -1;
  cle.quits = cle.was_interrupted = false;
}
