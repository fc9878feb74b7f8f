// Terminals: raw mode that is restored however the program ends, and their size.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool cmx_is_terminal(int fd);
// Columns and rows; 0 or -errno.
int cmx_terminal_size(int fd, int32_t *columns, int32_t *rows);
// Opens the terminal behind a descriptor again (-1: the controlling terminal), so that it can be
// made non-blocking without affecting others.
int cmx_terminal_open(int fd);
// Makes a terminal raw and saves its state: a slot, or -errno; -EMFILE if there are too many.
int cmx_terminal_raw(int fd, bool keeps_signals);
// Restores the terminal of a slot.
void cmx_terminal_restore(int place);
// Restores all of them; safe in a signal handler.
void cmx_terminals_restore(void);
// Whether questions can be asked: standard input and standard error are terminals.
bool cmx_can_ask(void);
// Writes a question to the terminal and reads a line, without the newline, cut off at `size` - 1.
// What was typed before is thrown away, whatever mode the terminal is in. Returns how many bytes
// the line has; -1 at the end of the input, or when `is_over` says so, which is asked often.
int cmx_ask(const char *question, size_t count, char *line, int size,
            bool (*is_over)(void *context), void *context);
