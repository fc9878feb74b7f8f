// Our Lua sources, as they stand in lua/, to be found by the name that `require` asks for, and what
// they have in C.
#ifndef MOONLOOPLUA_H
#define MOONLOOPLUA_H

#include <stddef.h>

struct lua_State;

// A module in Lua; all of it is constant.
struct cmo_source {
  const char *module;  // what `require` asks for
  const char *chunk;   // what tracebacks call it
  const char *text;
};

// All of them, and how many there are. Any thread.
const struct cmo_source *cmo_sources(size_t *count);

// The reference for people: annotated declarations, not modules; `module` is the subject, `chunk`
// the file. Any thread.
const struct cmo_source *cmo_reference(size_t *count);

/// docs/README.md, which lists the pages.
const char *cmo_pages(void);

// Opens the module for the heads of HTTP messages. A function of Lua's: for Lua to call. (heads.c)
int cmo_open_heads(struct lua_State *L);

#endif
