// Shared by the files of the line editor.
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
  // Protects requests and events.
  pthread_mutex_t lock;
  struct cle_node *events;
  char *prompt, *insertion, *list;
  bool is_answered;
  // Held by the editor's thread while it writes to the terminal, released while it waits; held by
  // other threads while they print.
  pthread_mutex_t screen;
  bool is_shown;    // a prompt and a line are on the terminal
  int rows;         // rows from the prompt to the cursor, while they are shown
  bool is_hidden;   // they were erased by output and must be redrawn
  atomic_bool ends_short;  // the output did not end with a newline
  int bell;         // an eventfd that makes the thread look
  // Set by signal handlers on any thread, without a lock.
  atomic_bool quits, was_interrupted, was_resized, was_continued;
} cle;

void cle_tell(enum cle_kind kind, const char *text, size_t count);
// Waits for the bell or for input; true if there is input.
bool cle_wait(int fd);
bool cle_take_interrupt(void);
void cle_ring(void);
// The prompt of a question asked since; the caller frees it. NULL: none.
char *cle_take_question(void);

// libedit (libedit.c).
const char *cle_begin_editing(const char *history);
// Takes ownership of the prompt.
void cle_edit(char *prompt);
void cle_end_editing(void);
