// Stock Lua beside ours, for tests that compare the two.
#pragma once
#include <stddef.h>

// Pushes a table of liblua's own libraries by name ("_G", "string", ...), whose functions are those
// of the library and not ours. `L` is a lua_State. [-0, +1, m]
void cts_push_stock(void *L);

// Runs text in a fresh stock state. Returns the result as text ("" if there is none), or '!' and
// the error; the caller frees it.
char *cts_run(const char *text, size_t size, const char *name);
