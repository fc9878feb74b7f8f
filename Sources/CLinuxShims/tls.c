// TLS sessions on bytes in memory; see cmx_tls.h.
#define _GNU_SOURCE
#include "cmx_call.h"
#include "tls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cmx_tls_session {
  SSL *ssl;  // NULL in a replay, and until it is made
  BIO *in, *out;  // owned by `ssl`, once it has them
  bool is_ended;  // no more bytes will arrive
  bool is_over;   // the peer has said that it has finished writing
  int failure;    // what the next read reports, after the bytes it still has
  char reason[cmx_tls_text_size];
};

// ---- Codes -----------------------------------------------------------------------------------

static const struct { const char *name, *words; } codes[] = {
    {"ETLS_EXPIRED", "the certificate has expired, or is not valid yet"},
    {"ETLS_HOST", "the certificate is for another host"},
    {"ETLS_UNTRUSTED", "the certificate is not from a trusted issuer"},
    {"ETLS_REVOKED", "the certificate was revoked"},
    {"ETLS_WEAK", "the certificate is too weak"},
    {"ETLS_CERTIFICATE", "the certificate cannot be accepted"},
    {"ETLS_REFUSED", "the other side has refused the connection"},
    {"ETLS_TRUNCATED", "the connection ended without the end of TLS: bytes may be missing"},
    {"ETLS_PROTOCOL", "the other side does not speak TLS"},
};
_Static_assert(sizeof codes / sizeof *codes == cmx_tls_last - cmx_tls_first + 1, "one for each");

static bool is_tls(int code) { return code >= cmx_tls_first && code <= cmx_tls_last; }

const char *cmx_tls_name(int code) {
  return is_tls(code) ? codes[code - cmx_tls_first].name : NULL;
}

const char *cmx_tls_words(int code) {
  return is_tls(code) ? codes[code - cmx_tls_first].words : NULL;
}

// ---- Failures --------------------------------------------------------------------------------

// The code for what is wrong with a certificate, by the numbers of x509_vfy.h.
static int code_of_certificate(long wrong) {
  switch (wrong) {
    case 9: case 10: case 11: case 12: return cmx_tls_expired;
    case 2: case 18: case 19: case 20: case 21: case 24: case 27: return cmx_tls_untrusted;
    case 23: return cmx_tls_revoked;
    case 62: case 64: return cmx_tls_host;
    case 66: case 67: case 68: return cmx_tls_weak;
    default: return cmx_tls_certificate;
  }
}

static int say(cmx_tls_session *session, int code, const char *detail) {
  const char *words = cmx_tls_words(code);
  bool is_detailed = detail != NULL && *detail;
  snprintf(session->reason, sizeof session->reason, "%s%s%s%s", words, is_detailed ? " (" : "",
           is_detailed ? detail : "", is_detailed ? ")" : "");
  return -code;
}

// Why the library gave up; negative.
static int failed(cmx_tls_session *session) {
  enum { of_ssl = 20, bad_certificate = 134, no_certificate = 199, first_alert = 1000 };
  unsigned long error = tls.ERR_get_error();
  int library = error >> 23 & 0xff, reason = error & 0x7fffff;
  const char *words = error == 0 ? NULL : tls.ERR_reason_error_string(error);
  tls.ERR_clear_error();
  if (library != of_ssl) return say(session, cmx_tls_protocol, words);
  long wrong = tls.SSL_get_verify_result(session->ssl);
  if (reason == bad_certificate && wrong != 0)
    return say(session, code_of_certificate(wrong), tls.X509_verify_cert_error_string(wrong));
  if (reason == no_certificate) return say(session, cmx_tls_certificate, "there is none");
  if (reason >= first_alert) return say(session, cmx_tls_refused, words);
  return say(session, cmx_tls_protocol, words);
}

// The result of a call, recorded with its reason.
#define STEP(what, step)                                                                   \
  ({                                                                                       \
    __auto_type result_ = CMX_TAKEN_IN(cmx_tag_tls, what, step);                           \
    if (result_ < 0) CMX_DATA(session->reason, sizeof session->reason);                    \
    result_;                                                                               \
  })

// ---- Life ------------------------------------------------------------------------------------

static int make(cmx_tls_session *session, cmx_tls_context *context, const char *host) {
  session->ssl = tls.SSL_new(context->ctx);
  session->in = tls.BIO_new(tls.BIO_s_mem());
  session->out = tls.BIO_new(tls.BIO_s_mem());
  if (session->ssl == NULL || session->in == NULL || session->out == NULL) {
    if (session->in != NULL) tls.BIO_free(session->in);
    if (session->out != NULL) tls.BIO_free(session->out);
    return -ENOMEM;
  }
  tls.SSL_set_bio(session->ssl, session->in, session->out);
  if (context->is_server) return tls.SSL_set_accept_state(session->ssl), 0;
  tls.SSL_set_connect_state(session->ssl);
  if (host == NULL) return 0;
  X509_VERIFY_PARAM *wanted = tls.SSL_get0_param(session->ssl);
  tls.X509_VERIFY_PARAM_set_hostflags(wanted, tls_no_partial_wildcards);
  if (tls.X509_VERIFY_PARAM_set1_ip_asc(wanted, host) == 1) return 0;  // no name to ask for
  tls.ERR_clear_error();
  tls.X509_VERIFY_PARAM_set1_host(wanted, host, 0);
  tls.SSL_ctrl(session->ssl, tls_ctrl_host, 0, (void *)(uintptr_t)host);
  return 0;
}

cmx_tls_session *cmx_tls_session_new(cmx_tls_context *context, const char *host) {
  cmx_tls_session *session = calloc(1, sizeof *session);
  if (session == NULL) return NULL;
  if (STEP(tls_step_session, make(session, context, host)) == 0) return session;
  cmx_tls_session_free(session);
  return NULL;
}

void cmx_tls_session_free(cmx_tls_session *session) {
  if (session->ssl != NULL) tls.SSL_free(session->ssl);
  free(session);
}

const char *cmx_tls_reason(const cmx_tls_session *session) { return session->reason; }

// ---- Bytes of the connection -----------------------------------------------------------------

void cmx_tls_feed(cmx_tls_session *session, const void *bytes, size_t count) {
  if (session->ssl != NULL) tls.BIO_write(session->in, bytes, (int)count);
}

void cmx_tls_feed_end(cmx_tls_session *session) { session->is_ended = true; }

static size_t take(cmx_tls_session *session, void *buffer, size_t size) {
  if (tls.BIO_ctrl(session->out, tls_bio_pending, 0, NULL) == 0) return 0;
  int count = tls.BIO_read(session->out, buffer, (int)size);
  return count > 0 ? (size_t)count : 0;
}

size_t cmx_tls_take(cmx_tls_session *session, void *buffer, size_t size) {
  size_t count = CMX_TAKEN_IN(cmx_tag_tls, tls_step_take, take(session, buffer, size));
  CMX_AT_MOST(count, size);
  if (count > 0) CMX_DATA(buffer, count);
  return count;
}

// ---- Bytes of the user -----------------------------------------------------------------------

static int shake(cmx_tls_session *session) {
  tls.ERR_clear_error();
  int result = tls.SSL_do_handshake(session->ssl);
  if (result == 1) return 1;
  if (tls.SSL_get_error(session->ssl, result) != tls_want_read) return failed(session);
  if (!session->is_ended) return 0;
  return say(session, cmx_tls_truncated, "in the handshake");
}

int cmx_tls_shake(cmx_tls_session *session) {
  return STEP(tls_step_shake, shake(session));
}

// What a read without bytes means; 0: nothing yet.
static int look(cmx_tls_session *session, int result) {
  switch (tls.SSL_get_error(session->ssl, result)) {
    case tls_zero_return:
      session->is_over = true;
      return 0;
    case tls_want_read:
      return session->is_ended ? say(session, cmx_tls_truncated, "") : 0;
    default: return failed(session);
  }
}

static intptr_t read_all(cmx_tls_session *session, char *buffer, size_t size) {
  if (session->failure != 0) return session->failure;
  size_t count = 0;
  while (count < size && !session->is_over) {  // one call returns at most one record
    tls.ERR_clear_error();
    size_t room = size - count;
    int result = tls.SSL_read(session->ssl, buffer + count, room > 1 << 30 ? 1 << 30 : (int)room);
    if (result > 0) {
      count += (size_t)result;
      continue;
    }
    session->failure = look(session, result);
    return count > 0 ? (intptr_t)count : session->failure;
  }
  return (intptr_t)count;
}

intptr_t cmx_tls_read(cmx_tls_session *session, void *buffer, size_t size, bool *is_over) {
  enum { over = 1 << 30 };  // recorded together with the count
  intptr_t told = STEP(tls_step_read, ({
    intptr_t count = read_all(session, buffer, size);
    count >= 0 && session->is_over ? count | over : count;
  }));
  *is_over = told > 0 && (told & over);
  if (told <= 0) return told;
  told &= ~(intptr_t)over;
  CMX_AT_MOST(told, size);
  if (told > 0) CMX_DATA(buffer, told);
  return told;
}

static int write_all(cmx_tls_session *session, const char *bytes, size_t count) {
  while (count > 0) {
    tls.ERR_clear_error();
    int part = count > 1 << 20 ? 1 << 20 : (int)count;
    int result = tls.SSL_write(session->ssl, bytes, part);
    if (result <= 0) return failed(session);
    bytes += result;
    count -= (size_t)result;
  }
  return 0;
}

int cmx_tls_write(cmx_tls_session *session, const void *bytes, size_t count) {
  return STEP(tls_step_write, write_all(session, bytes, count));
}

void cmx_tls_finish(cmx_tls_session *session) {
  if (session->ssl == NULL) return;
  tls.ERR_clear_error();
  tls.SSL_shutdown(session->ssl);
  tls.ERR_clear_error();
}

// ---- Facts -----------------------------------------------------------------------------------

static size_t copy(const void *bytes, size_t count, char *buffer, size_t size) {
  if (count > size) count = size;
  if (count > 0) memcpy(buffer, bytes, count);
  return count;
}

static size_t copy_text(const char *text, char *buffer, size_t size) {
  return text == NULL ? 0 : copy(text, strlen(text), buffer, size);
}

// A fact from the peer's certificate.
static size_t describe(SSL *ssl, bool whole, char *buffer, size_t size) {
  X509 *certificate = tls.SSL_get1_peer_certificate(ssl);
  if (certificate == NULL) return 0;
  BIO *text = tls.BIO_new(tls.BIO_s_mem());
  int count = 0;
  if (text != NULL) {
    if (whole) tls.PEM_write_bio_X509(text, certificate);
    else tls.X509_NAME_print_ex(text, tls.X509_get_subject_name(certificate), 0, tls_rfc2253);
    count = tls.BIO_read(text, buffer, (int)size);
    tls.BIO_free(text);
  }
  tls.X509_free(certificate);
  return count > 0 ? (size_t)count : 0;
}

static size_t fact_of(SSL *ssl, enum cmx_tls_fact fact, char *buffer, size_t size) {
  const unsigned char *protocol = NULL;
  unsigned count = 0;
  switch (fact) {
    case cmx_tls_fact_version: return copy_text(tls.SSL_get_version(ssl), buffer, size);
    case cmx_tls_fact_cipher: {
      const void *cipher = tls.SSL_get_current_cipher(ssl);
      return cipher ? copy_text(tls.SSL_CIPHER_get_name(cipher), buffer, size) : 0;
    }
    case cmx_tls_fact_protocol:
      tls.SSL_get0_alpn_selected(ssl, &protocol, &count);
      return copy(protocol, count, buffer, size);
    case cmx_tls_fact_host: return copy_text(tls.SSL_get_servername(ssl, 0), buffer, size);
    case cmx_tls_fact_subject: return describe(ssl, false, buffer, size);
    case cmx_tls_fact_pem: return describe(ssl, true, buffer, size);
  }
  return 0;
}

size_t cmx_tls_fact(cmx_tls_session *session, enum cmx_tls_fact fact, char *buffer, size_t size) {
  size_t count = CMX_TAKEN_IN(cmx_tag_tls, tls_step_fact + fact,
                              fact_of(session->ssl, fact, buffer, size));
  CMX_AT_MOST(count, size);
  if (count > 0) CMX_DATA(buffer, count);
  return count;
}
