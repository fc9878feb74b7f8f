// Warnings. Those of scripts go to the host's hook, or are written as in stock Lua. Errors in
// finalizers, which Lua only
// warns about, are kept until the end of the call and then reported to the host: never lost, and
// never reported in the middle of a collection.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cml_internal.h"

enum { WARNING_BYTES_MAX = 4096 };

static const char finalizer_words[] = "error in __gc";

// Takes ownership of a text, or drops it if too many are kept.
static void keep(struct cml_state *s, const char *text) {
  if (s->untold < CML_UNTOLD_MAX) s->told[s->untold] = strdup(text);
  s->untold++;
}

// Adds a piece to the current warning; excess text is cut.
static void add_piece(struct cml_state *s, const char *piece) {
  if (s->warning == NULL) s->warning = calloc(1, WARNING_BYTES_MAX);
  if (s->warning == NULL) return;
  size_t used = strlen(s->warning);
  snprintf(s->warning + used, WARNING_BYTES_MAX - used, "%s", piece);
}

static void write_warning(struct cml_state *s) {
  const struct cml_program_hooks *hooks = s->program_hooks;
  if (!s->warnings_on) return;
  if (hooks != NULL) hooks->warns(s->warning, hooks->context);
  else fprintf(stderr, "Lua warning: %s\n", s->warning);
}

// A whole warning of a script, of the library, or of a module in C.
static void finish_warning(struct cml_state *s) {
  if (s->warning == NULL) return;
  bool is_error = !s->warning_is_scripts &&
                  strncmp(s->warning, finalizer_words, sizeof finalizer_words - 1) == 0;
  if (!is_error) {
    write_warning(s);
  } else if (s->stop == CML_STOP_NONE) {
    keep(s, s->warning);
  } else {  // it was stopped: the call-out's error reports that, unless the call-out still succeeds
    s->finalizer_stopped = (uint8_t)s->stop;
  }
  s->warning[0] = 0;
}

static void control(struct cml_state *s, const char *message) {
  if (strcmp(message, "@on") == 0) s->warnings_on = true;
  else if (strcmp(message, "@off") == 0) s->warnings_on = false;
}

static void receive(void *context, const char *piece, int goes_on) {
  struct cml_state *s = context;
  if (!s->warning_goes_on && !goes_on && *piece == '@') return control(s, piece);
  add_piece(s, piece);
  if (!goes_on) finish_warning(s);
  s->warning_goes_on = goes_on;
}

// As in stock Lua; the mark distinguishes its warnings from Lua's own.
static int warn(lua_State *L) {
  int count = lua_gettop(L);
  luaL_checkstring(L, 1);
  for (int i = 2; i <= count; i++) luaL_checkstring(L, i);
  struct cml_state *s = cml_of(L);
  s->warning_is_scripts = true;  // nothing below raises: all are strings by now
  for (int i = 1; i <= count; i++) lua_warning(L, lua_tostring(L, i), i < count);
  s->warning_is_scripts = false;
  return 0;
}

void cml_install_warn(lua_State *L) {
  lua_setwarnf(L, receive, cml_of(L));
  lua_register(L, "warn", warn);
}

void cml_note_swallowed_stop(struct cml_state *s) {
  if (s->finalizer_stopped == CML_STOP_NONE) return;
  if (s->untold < CML_UNTOLD_MAX) s->told[s->untold] = NULL;
  s->untold++;
  s->stopped = s->finalizer_stopped;
}

void cml_on_finalizer_error(cml_state *s, void (*tell)(void *context, const char *text, int reason),
                            void *context) {
  s->on_finalizer_error = tell;
  s->on_finalizer_error_context = context;
}

// Reporting may cause more errors in finalizers: those wait for the end of the next call.
void cml_tell_finalizer_errors(struct cml_state *s) {
  if (s->telling) return;
  s->telling = true;
  int count = s->untold;
  char *texts[CML_UNTOLD_MAX];
  int kept = count < CML_UNTOLD_MAX ? count : CML_UNTOLD_MAX;
  memcpy(texts, s->told, (size_t)kept * sizeof *texts);
  s->untold = 0;
  for (int i = 0; i < kept; i++) {
    if (s->on_finalizer_error != NULL)
      s->on_finalizer_error(s->on_finalizer_error_context, texts[i],
                            texts[i] == NULL ? s->stopped : CML_STOP_NONE);
    free(texts[i]);
  }
  if (count > kept && s->on_finalizer_error != NULL) {
    char text[64];
    snprintf(text, sizeof text, "and %d more errors in finalizers (__gc)", count - kept);
    s->on_finalizer_error(s->on_finalizer_error_context, text, CML_STOP_NONE);
  }
  s->telling = false;
}

void cml_warnings_close(struct cml_state *s) {
  for (int i = 0; i < s->untold && i < CML_UNTOLD_MAX; i++) free(s->told[i]);
  s->untold = 0;
  free(s->warning);
}
