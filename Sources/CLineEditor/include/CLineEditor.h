// A line editor on the terminal of the process, on its own thread: libedit reads and edits; the
// owner gets lines, requests for completion, and Ctrl-C. Names begin with cle_. There is one per
// process, since there is one terminal.
//
// libedit is loaded on demand: a program that never edits a line does not load it.
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum cle_kind {
  cle_nothing,
  cle_line,       // a line was typed; without its newline
  cle_end,        // the input has ended
  cle_interrupt,  // Ctrl-C
  cle_complete,   // complete the text before the cursor: cle_answer
};

struct cle_event {
  enum cle_kind kind;
  char *text;  // freed by the caller
  size_t count;
};

// From now on output to stdout and stderr, if they are the terminal, appears above the edited line.
// Call it before anything keeps the old streams.
void cle_capture_output(void);

// Starts the editor. Its thread calls `notify` when there is an event, and `linger` after a line,
// an end or Ctrl-C: it may wait until the event is taken. Returns NULL; or why lines cannot be
// edited: then they are read as they come, without a prompt.
const char *cle_open(
    const char *history, void (*notify)(void *context), void (*linger)(void *context),
    void *context);
// Whether lines are edited: input and output are a terminal, and libedit is available.
bool cle_is_editing(void);
// Asks for a line.
void cle_ask(const char *prompt);
// Answers a request for completion: text for the cursor's place, and lines to show above.
void cle_answer(const char *insertion, const char *list);
// Writes a text to the standard output, above the edited line.
void cle_print(const char *text, size_t count);
// The next event. false: there is none.
bool cle_next(struct cle_event *out);
void cle_free(struct cle_event *event);
// Waits for a hundredth of a second; on the editor's thread. False: no event is waiting any more,
// or the editor must end.
bool cle_pause(void);
// Whether Ctrl-C was pressed since the waiting event.
bool cle_is_urged(void);
// Ends the thread, saves the history, and restores the terminal.
void cle_close(void);
