// Shared by the files of TLS.
#pragma once
#include "cmx_tls.h"
#include "tls_library.h"

struct cmx_tls_context {
  SSL_CTX *ctx;                  // NULL in a replay
  struct cmx_tls_context *next;  // further certificates of a server
  bool is_server, verifies;
  size_t protocols_count;
  uint8_t protocols[];
};

// What a recording distinguishes.
enum {
  tls_step_context, tls_step_add, tls_step_session, tls_step_shake, tls_step_read, tls_step_write,
  tls_step_take, tls_step_fact,
};
