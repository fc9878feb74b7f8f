// A line editor on the terminal of the process, on a thread of its own: libedit reads and edits,
// and whoever owns the editor hears of lines, of wishes to complete, and of Ctrl-C. Names begin
// with cle_. There is one for a process, since there is one terminal.
//
// libedit is opened when it is wanted: a program that never edits a line does not load it.
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum cle_kind {
  cle_nothing,
  cle_line,       // a line was typed; without its newline
  cle_end,        // the input has ended
  cle_interrupt,  // Ctrl-C
  cle_complete,   // the text before the cursor is to be completed: cle_answer
};

struct cle_event {
  enum cle_kind kind;
  char *text;  // of the caller, who frees it
  size_t count;
};

// From now on what the process writes to stdout and stderr, if they are the terminal, stands above
// the line that is edited. Before anybody has kept the old streams.
void cle_capture_output(void);

// Begins. On the thread of the editor: `notify` is called when there is an event, and `linger`
// after a line, an end or Ctrl-C was told: it may wait, and see to it that the event is taken.
// Returns NULL; or why lines are not edited: then they are read as they come, without a prompt.
const char *cle_open(
    const char *history, void (*notify)(void *context), void (*linger)(void *context),
    void *context);
// Whether lines are edited: the input and the output are a terminal, and libedit is there.
bool cle_is_editing(void);
// Asks for a line.
void cle_ask(const char *prompt);
// Answers a wish to complete: text for the place of the cursor, and lines to show above.
void cle_answer(const char *insertion, const char *list);
// Writes a text to the standard output, above the line that is edited.
void cle_print(const char *text, size_t count);
// The next event. false: there is none.
bool cle_next(struct cle_event *out);
void cle_free(struct cle_event *event);
// Waits for a hundredth of a second; for the thread of the editor. false: nothing waits to be taken
// any more, or the editor is to end.
bool cle_pause(void);
// Whether Ctrl-C was pressed since what waits was told.
bool cle_is_urged(void);
// Ends the thread, saves the history, and gives the terminal back.
void cle_close(void);
