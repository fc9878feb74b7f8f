// TLS by the system's OpenSSL, which is opened when it is first asked for (tls*.c). It works on
// bytes in memory and never on a descriptor: who reads and writes those, and when, is not decided
// here. All is recorded, so that a replay needs neither the library nor its random numbers.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What can be wrong, besides errno values. Negative results of the calls below are these, negated.
enum cmx_tls_code {
  cmx_tls_first = 4096,
  cmx_tls_expired = cmx_tls_first,  // or not valid yet
  cmx_tls_host,
  cmx_tls_untrusted,
  cmx_tls_revoked,
  cmx_tls_weak,
  cmx_tls_certificate,  // otherwise not good
  cmx_tls_refused,      // the peer has said so
  cmx_tls_truncated,
  cmx_tls_protocol,
  cmx_tls_last = cmx_tls_protocol,
};
// The name of a code, such as "ETLS_EXPIRED", and words for it; NULL if it is none.
const char *cmx_tls_name(int code);
const char *cmx_tls_words(int code);

enum { cmx_tls_text_size = 256 };

// PEM: the text itself, or the path of a file.
struct cmx_tls_pem {
  const char *text;  // NULL: there is none
  bool is_path;
};

struct cmx_tls_plan {
  bool is_server;
  bool verifies;     // the peer must have a good certificate
  bool is_optional;  // a client may come without one
  bool needs_13;     // TLS 1.3 at least, else 1.2
  struct cmx_tls_pem certificate, key, authorities, revoked;
  const uint8_t *protocols;  // ALPN, each behind its length
  size_t protocols_count;
};

// What many sessions share. Any thread may use it; counted by its owners.
typedef struct cmx_tls_context cmx_tls_context;
// NULL: `reason` has the words, at most cmx_tls_text_size bytes, and `code` an errno value.
cmx_tls_context *cmx_tls_context_new(const struct cmx_tls_plan *plan, char *reason, int *code);
// One more certificate of a server, for clients that ask for one of its names. False as above.
bool cmx_tls_context_add(cmx_tls_context *context, struct cmx_tls_pem certificate,
                         struct cmx_tls_pem key, char *reason, int *code);
void cmx_tls_context_free(cmx_tls_context *context);

// One connection. Of one thread.
typedef struct cmx_tls_session cmx_tls_session;
// Of a client: `host` is asked for, and must be that of the certificate; NULL: any. Returns NULL
// without memory.
cmx_tls_session *cmx_tls_session_new(cmx_tls_context *context, const char *host);
void cmx_tls_session_free(cmx_tls_session *session);
// Bytes that have come.
void cmx_tls_feed(cmx_tls_session *session, const void *bytes, size_t count);
// No more come.
void cmx_tls_feed_end(cmx_tls_session *session);
// Bytes that are to be sent: as many as fit; 0: none.
size_t cmx_tls_take(cmx_tls_session *session, void *buffer, size_t size);
// 1: the handshake is done; 0: it needs more bytes.
int cmx_tls_shake(cmx_tls_session *session);
// What has come, decrypted; 0: nothing now; `is_over`: the peer has ended it.
intptr_t cmx_tls_read(cmx_tls_session *session, void *buffer, size_t size, bool *is_over);
// Encrypts all; 0, or what is wrong.
int cmx_tls_write(cmx_tls_session *session, const void *bytes, size_t count);
// Tells the peer that nothing more is written.
void cmx_tls_finish(cmx_tls_session *session);
// Why the last call failed, in words; "" if none did.
const char *cmx_tls_reason(const cmx_tls_session *session);

// What was agreed on.
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
