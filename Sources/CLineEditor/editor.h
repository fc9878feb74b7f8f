// What the files of the line editor know of one another.
#pragma once
#include <stdatomic.h>
#include <pthread.h>
#include <signal.h>

#include "CLineEditor.h"

struct cle_node {
  struct cle_node *next;
  struct cle_event event;
};

extern struct cle_state {
  pthread_t thread;
  bool has_thread, is_editing;
  void (*notify)(void *context);
  void (*linger)(void *context);
  void *context;
  // Protected by it: what is asked and told.
  pthread_mutex_t lock;
  struct cle_node *events;
  char *prompt, *insertion, *list;
  bool is_answered;
  // Held by the editor's thread while it writes to the terminal, let go of while it waits; by
  // others while they print.
  pthread_mutex_t screen;
  bool is_shown;    // a prompt and a line stand on the terminal
  int rows;         // from that of the prompt to that of the cursor, while they are shown
  bool is_hidden;   // they were wiped off by output, and are to be drawn again
  atomic_bool ends_short;  // that output did not end with a newline
  int bell;         // an eventfd: the thread has something to look at
  // Set by handlers of signals, on any thread; without a lock, so safe there.
  atomic_bool quits, was_interrupted, was_resized, was_continued;
} cle;

void cle_tell(enum cle_kind kind, const char *text, size_t count);
// Waits until the bell has rung, or input is there: then true.
bool cle_wait(int fd);
bool cle_take_interrupt(void);
void cle_ring(void);
// The prompt of a question that was asked since; the caller frees it. NULL: none.
char *cle_take_question(void);

// libedit (libedit.c).
const char *cle_begin_editing(const char *history);
// Takes the prompt over.
void cle_edit(char *prompt);
void cle_end_editing(void);
