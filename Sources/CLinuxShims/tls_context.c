// What TLS sessions share: certificates, trusted roots, protocols.
#define _GNU_SOURCE
#include "cmx_call.h"
#include "tls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Failures --------------------------------------------------------------------------------

// The library's first complaint; "" if there is none.
static const char *complaint(void) {
  unsigned long code = tls.ERR_get_error();
  const char *words = code == 0 ? NULL : tls.ERR_reason_error_string(code);
  tls.ERR_clear_error();
  return words == NULL ? "" : words;
}

// Composes the reason of a failure; returns `code`.
static int fail(char *reason, int code, const char *what, const char *why) {
  snprintf(reason, cmx_tls_text_size, "%s%s%s", what, *why ? ": " : "", why);
  return code;
}

// ---- PEM -------------------------------------------------------------------------------------

// An encrypted key is refused: there is no prompt for its password.
static int no_password(char *buffer, int size, int writes, void *context) {
  (void)buffer, (void)size, (void)writes, (void)context;
  return -1;
}

// Opens a text or a file. NULL: `code` and `reason` say why.
static BIO *open_pem(struct cmx_tls_pem pem, const char *what, char *reason, int *code) {
  tls.ERR_clear_error();
  if (!pem.is_path) return tls.BIO_new_mem_buf(pem.text, (int)strlen(pem.text));
  errno = 0;
  BIO *file = tls.BIO_new_file(pem.text, "r");
  if (file != NULL) return file;
  *code = errno == 0 ? EIO : errno;
  char words[cmx_tls_text_size];
  snprintf(words, sizeof words, "'%s' of %s cannot be read", pem.text, what);
  fail(reason, *code, words, strerror(*code));
  return NULL;
}

// The certificate, with its chain, and its key.
static int use_identity(SSL_CTX *ctx, struct cmx_tls_pem certificate, struct cmx_tls_pem key,
                        char *reason) {
  int code = 0;
  BIO *bio = open_pem(certificate, "'cert'", reason, &code);
  if (bio == NULL) return code;
  X509 *one = tls.PEM_read_bio_X509(bio, NULL, no_password, NULL);
  if (one == NULL) code = fail(reason, EINVAL, "'cert' holds no certificate in PEM form", "");
  else if (tls.SSL_CTX_use_certificate(ctx, one) != 1)
    code = fail(reason, EINVAL, "the certificate in 'cert' cannot be used", complaint());
  if (one != NULL) tls.X509_free(one);
  while (code == 0 && (one = tls.PEM_read_bio_X509(bio, NULL, no_password, NULL)) != NULL)
    if (tls.SSL_CTX_ctrl(ctx, tls_ctrl_chain, 0, one) != 1) {
      tls.X509_free(one);
      code = fail(reason, EINVAL, "the chain in 'cert' cannot be used", complaint());
    }
  tls.BIO_free(bio);
  if (code != 0) return code;
  bio = open_pem(key.text ? key : certificate, "'key'", reason, &code);
  if (bio == NULL) return code;
  EVP_PKEY *secret = tls.PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
  tls.BIO_free(bio);
  if (secret == NULL && key.text != NULL)
    return fail(reason, EINVAL, "'key' holds no unencrypted private key in PEM form", "");
  if (secret == NULL) {
    char words[cmx_tls_text_size];
    snprintf(words, sizeof words, "'%s' contains no unencrypted private key; give 'key'",
             certificate.is_path ? certificate.text : "cert");
    return fail(reason, EINVAL, words, "");
  }
  // A key of the wrong kind is taken, and refused by the check alone.
  if (tls.SSL_CTX_use_PrivateKey(ctx, secret) != 1 || tls.SSL_CTX_check_private_key(ctx) != 1)
    code = fail(reason, EINVAL, "'key' is not the key of the certificate", "");
  (void)complaint();
  tls.EVP_PKEY_free(secret);
  return code;
}

static int trust(SSL_CTX *ctx, const struct cmx_tls_plan *plan, char *reason) {
  if (plan->authorities.text == NULL) {
    tls.SSL_CTX_set_default_verify_paths(ctx);  // if there are none, no peer is trusted
    return 0;
  }
  int code = 0, count = 0;
  BIO *bio = open_pem(plan->authorities, "'ca'", reason, &code);
  if (bio == NULL) return code;
  X509_STORE *store = tls.SSL_CTX_get_cert_store(ctx);
  for (X509 *one; (one = tls.PEM_read_bio_X509(bio, NULL, no_password, NULL)); count++) {
    tls.X509_STORE_add_cert(store, one);
    if (plan->is_server) tls.SSL_CTX_add_client_CA(ctx, one);
    tls.X509_free(one);
  }
  tls.BIO_free(bio);
  return count > 0 ? 0 : fail(reason, EINVAL, "'ca' holds no certificate in PEM form", "");
}

static int revoke(SSL_CTX *ctx, const struct cmx_tls_plan *plan, char *reason) {
  if (plan->revoked.text == NULL) return 0;
  int code = 0, count = 0;
  BIO *bio = open_pem(plan->revoked, "'crl'", reason, &code);
  if (bio == NULL) return code;
  X509_STORE *store = tls.SSL_CTX_get_cert_store(ctx);
  for (X509_CRL *one; (one = tls.PEM_read_bio_X509_CRL(bio, NULL, no_password, NULL)); count++) {
    tls.X509_STORE_add_crl(store, one);
    tls.X509_CRL_free(one);
  }
  tls.BIO_free(bio);
  tls.X509_STORE_set_flags(store, tls_flag_crl);
  return count > 0 ? 0 : fail(reason, EINVAL, "'crl' holds no revocation list in PEM form", "");
}

// ---- Choices of a server ---------------------------------------------------------------------

static int choose_protocol(SSL *ssl, const unsigned char **chosen, unsigned char *count,
                           const unsigned char *offered, unsigned offered_count, void *argument) {
  (void)ssl;
  enum { taken = 0, refused = 2, negotiated = 1 };
  struct cmx_tls_context *context = argument;
  int found = tls.SSL_select_next_proto((unsigned char **)chosen, count, context->protocols,
                                        (unsigned)context->protocols_count, offered,
                                        offered_count);
  return found == negotiated ? taken : refused;
}

static int choose_certificate(SSL *ssl, int *alert, void *argument) {
  (void)alert;
  const char *host = tls.SSL_get_servername(ssl, 0);
  for (struct cmx_tls_context *one = argument; one != NULL && host != NULL; one = one->next) {
    X509 *certificate = tls.SSL_CTX_get0_certificate(one->ctx);
    if (certificate == NULL) continue;
    if (tls.X509_check_host(certificate, host, 0, tls_no_partial_wildcards, NULL) == 1)
      return tls.SSL_set_SSL_CTX(ssl, one->ctx), 0;
  }
  return 0;  // the first one; the client decides
}

// ---- Contexts --------------------------------------------------------------------------------

static SSL_CTX *make_ctx(bool needs_13) {
  SSL_CTX *ctx = tls.SSL_CTX_new(tls.TLS_method());
  if (ctx == NULL) return NULL;
  tls.SSL_CTX_ctrl(ctx, tls_ctrl_min_version, needs_13 ? tls_version_13 : tls_version_12, NULL);
  tls.SSL_CTX_set_security_level(ctx, 2);
  tls.SSL_CTX_set_options(ctx, TLS_NO_COMPRESSION | TLS_NO_RENEGOTIATION | TLS_NO_TICKET);
  // Sessions are never resumed: each handshake checks the certificates.
  tls.SSL_CTX_set_num_tickets(ctx, 0);
  tls.SSL_CTX_ctrl(ctx, tls_ctrl_cache, 0, NULL);
  tls.SSL_CTX_ctrl(ctx, tls_ctrl_mode, tls_mode_release_buffers, NULL);
  return ctx;
}

static int fill(struct cmx_tls_context *context, const struct cmx_tls_plan *plan, char *reason) {
  int code = tls_open();
  if (code == ENOTSUP)
    return fail(reason, code, "TLS needs OpenSSL 3; install it (on Debian: libssl3)", "");
  if (code != 0) return fail(reason, code, "OpenSSL cannot be loaded", strerror(code));
  context->ctx = make_ctx(plan->needs_13);
  if (context->ctx == NULL) return fail(reason, ENOMEM, "no TLS context", complaint());
  if (plan->certificate.text)
    code = use_identity(context->ctx, plan->certificate, plan->key, reason);
  if (code == 0 && plan->verifies) code = trust(context->ctx, plan, reason);
  if (code == 0 && plan->verifies) code = revoke(context->ctx, plan, reason);
  if (code != 0) return code;
  int required = plan->is_server && !plan->is_optional ? tls_verify_required : 0;
  tls.SSL_CTX_set_verify(context->ctx, plan->verifies ? tls_verify_peer | required : 0, NULL);
  if (plan->is_server) {
    tls.SSL_CTX_callback_ctrl(context->ctx, tls_ctrl_host_callback,
                              (void (*)(void))choose_certificate);
    tls.SSL_CTX_ctrl(context->ctx, tls_ctrl_host_argument, 0, context);
  }
  if (plan->protocols_count == 0) return 0;
  if (plan->is_server) {
    memcpy(context->protocols, plan->protocols, plan->protocols_count);
    context->protocols_count = plan->protocols_count;
    tls.SSL_CTX_set_alpn_select_cb(context->ctx, choose_protocol, context);
  } else {
    tls.SSL_CTX_set_alpn_protos(context->ctx, plan->protocols, (unsigned)plan->protocols_count);
  }
  return 0;
}

// Runs a step that gives a reason if it fails, and records both.
#define STEP(what, step)                                              \
  ({                                                                  \
    int code_ = CMX_TAKEN_IN(cmx_tag_tls, what, step);                \
    if (code_ != 0) CMX_DATA(reason, cmx_tls_text_size);              \
    code_;                                                            \
  })

cmx_tls_context *cmx_tls_context_new(const struct cmx_tls_plan *plan, char *reason, int *code) {
  struct cmx_tls_context *context = calloc(1, sizeof *context + plan->protocols_count);
  memset(reason, 0, cmx_tls_text_size);
  if (context == NULL) {
    *code = fail(reason, ENOMEM, "no memory for a TLS context", "");
    return NULL;
  }
  context->is_server = plan->is_server;
  context->verifies = plan->verifies;
  *code = STEP(tls_step_context, fill(context, plan, reason));
  if (*code == 0) return context;
  cmx_tls_context_free(context);
  return NULL;
}

// A session that switches to another context also takes roots and protocols from there.
static int add(struct cmx_tls_context *more, struct cmx_tls_context *first,
               struct cmx_tls_pem certificate, struct cmx_tls_pem key, char *reason) {
  more->ctx = make_ctx(false);
  if (more->ctx == NULL) return fail(reason, ENOMEM, "no TLS context", complaint());
  tls.SSL_CTX_set1_cert_store(more->ctx, tls.SSL_CTX_get_cert_store(first->ctx));
  if (first->protocols_count > 0)
    tls.SSL_CTX_set_alpn_select_cb(more->ctx, choose_protocol, first);
  return use_identity(more->ctx, certificate, key, reason);
}

bool cmx_tls_context_add(cmx_tls_context *context, struct cmx_tls_pem certificate,
                         struct cmx_tls_pem key, char *reason, int *code) {
  struct cmx_tls_context *more = calloc(1, sizeof *more);
  memset(reason, 0, cmx_tls_text_size);
  *code = more == NULL ? fail(reason, ENOMEM, "no memory for a TLS context", "")
                       : STEP(tls_step_add, add(more, context, certificate, key, reason));
  if (*code != 0) {
    cmx_tls_context_free(more);
    return false;
  }
  struct cmx_tls_context *last = context;
  while (last->next != NULL) last = last->next;
  last->next = more;
  return true;
}

void cmx_tls_context_free(cmx_tls_context *context) {
  while (context != NULL) {
    struct cmx_tls_context *next = context->next;
    if (context->ctx != NULL) tls.SSL_CTX_free(context->ctx);
    free(context);
    context = next;
  }
}
