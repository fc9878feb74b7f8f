// Terminals: raw mode that is taken back however the program ends, and their size.
#pragma once
#include <stdbool.h>
#include <stdint.h>

bool cmx_is_terminal(int fd);
// Columns and rows; 0 or -errno.
int cmx_terminal_size(int fd, int32_t *columns, int32_t *rows);
// Opens the terminal behind a descriptor anew (-1: the one that controls the process), so that it
// can be made non-blocking without others noticing.
int cmx_terminal_open(int fd);
// Makes a terminal raw, and remembers how it was: its place, or -errno; -EMFILE if too many are.
int cmx_terminal_raw(int fd, bool keeps_signals);
// Makes the terminal at a place what it was.
void cmx_terminal_restore(int place);
// The same for all, also in a signal handler.
void cmx_terminals_restore(void);
