// TLS by the system's OpenSSL, which is opened on first use (tls*.c). It works on bytes in memory,
// never on a descriptor: the caller decides when to read and write. Everything is recorded, so that
// a replay needs neither the library nor its random numbers.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What can be wrong, besides errno values. The calls below return these negated.
enum cmx_tls_code {
  cmx_tls_first = 4096,
  cmx_tls_expired = cmx_tls_first,  // or not valid yet
  cmx_tls_host,
  cmx_tls_untrusted,
  cmx_tls_revoked,
  cmx_tls_weak,
  cmx_tls_certificate,  // invalid in some other way
  cmx_tls_refused,      // the peer said so
  cmx_tls_truncated,
  cmx_tls_protocol,
  cmx_tls_last = cmx_tls_protocol,
};
// The name of a code, such as "ETLS_EXPIRED", and a text for it; NULL if it is unknown.
const char *cmx_tls_name(int code);
const char *cmx_tls_words(int code);

enum { cmx_tls_text_size = 256 };

// PEM: the text itself, or the path of a file.
struct cmx_tls_pem {
  const char *text;  // NULL: none
  bool is_path;
};

struct cmx_tls_plan {
  bool is_server;
  bool verifies;     // the peer must have a valid certificate
  bool is_optional;  // a client may have none
  bool needs_13;     // requires TLS 1.3; otherwise 1.2
  struct cmx_tls_pem certificate, key, authorities, revoked;
  const uint8_t *protocols;  // ALPN, each after its length
  size_t protocols_count;
};

// What many sessions share. Any thread may use it; its owners count references.
typedef struct cmx_tls_context cmx_tls_context;
// NULL: `reason` has the message, at most cmx_tls_text_size bytes, and `code` an errno value.
cmx_tls_context *cmx_tls_context_new(const struct cmx_tls_plan *plan, char *reason, int *code);
// Another certificate of a server, for clients that ask for one of its names. False as above.
bool cmx_tls_context_add(cmx_tls_context *context, struct cmx_tls_pem certificate,
                         struct cmx_tls_pem key, char *reason, int *code);
void cmx_tls_context_free(cmx_tls_context *context);

// One connection, used by one thread.
typedef struct cmx_tls_session cmx_tls_session;
// For a client: `host` is requested, and must match the certificate; NULL: any. Returns NULL
// if there is no memory.
cmx_tls_session *cmx_tls_session_new(cmx_tls_context *context, const char *host);
void cmx_tls_session_free(cmx_tls_session *session);
// Bytes that have arrived.
void cmx_tls_feed(cmx_tls_session *session, const void *bytes, size_t count);
// No more bytes will arrive.
void cmx_tls_feed_end(cmx_tls_session *session);
// Takes bytes to be sent, as many as fit; 0: none.
size_t cmx_tls_take(cmx_tls_session *session, void *buffer, size_t size);
// 1: the handshake is done; 0: it needs more bytes.
int cmx_tls_shake(cmx_tls_session *session);
// Takes what has arrived, decrypted; 0: nothing now; `is_over`: the peer has finished.
intptr_t cmx_tls_read(cmx_tls_session *session, void *buffer, size_t size, bool *is_over);
// Encrypts everything; 0, or what is wrong.
int cmx_tls_write(cmx_tls_session *session, const void *bytes, size_t count);
// Tells the peer that we have finished writing.
void cmx_tls_finish(cmx_tls_session *session);
// Why the last call failed, as text; "" if it did not.
const char *cmx_tls_reason(const cmx_tls_session *session);

// What was negotiated.
enum cmx_tls_fact {
  cmx_tls_fact_version,
  cmx_tls_fact_cipher,
  cmx_tls_fact_protocol,  // by ALPN
  cmx_tls_fact_host,      // that the client asked for
  cmx_tls_fact_subject,   // of the peer's certificate
  cmx_tls_fact_pem,
};
// Its bytes, as many as fit; 0: there is none.
size_t cmx_tls_fact(cmx_tls_session *session, enum cmx_tls_fact fact, char *buffer, size_t size);
