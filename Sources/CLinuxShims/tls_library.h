// The functions of OpenSSL 3 that we use, looked up in the library by name. They are declared
// here, so that building needs none of its headers; its interface is stable throughout version 3.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ssl_ctx_st SSL_CTX;
typedef struct ssl_st SSL;
typedef struct ssl_method_st SSL_METHOD;
typedef struct bio_st BIO;
typedef struct bio_method_st BIO_METHOD;
typedef struct x509_st X509;
typedef struct X509_crl_st X509_CRL;
typedef struct x509_store_st X509_STORE;
typedef struct X509_name_st X509_NAME;
typedef struct X509_VERIFY_PARAM_st X509_VERIFY_PARAM;
typedef struct evp_pkey_st EVP_PKEY;

typedef int tls_verifier(int, void *);
typedef int tls_password(char *, int, int, void *);
typedef int tls_chooser(SSL *, const unsigned char **, unsigned char *, const unsigned char *,
                        unsigned, void *);

// X(result, name, arguments)
#define TLS_FUNCTIONS(X)                                                                       \
  X(const SSL_METHOD *, TLS_method, (void))                                                    \
  X(SSL_CTX *, SSL_CTX_new, (const SSL_METHOD *))                                              \
  X(void, SSL_CTX_free, (SSL_CTX *))                                                           \
  X(long, SSL_CTX_ctrl, (SSL_CTX *, int, long, void *))                                        \
  X(long, SSL_CTX_callback_ctrl, (SSL_CTX *, int, void (*)(void)))                             \
  X(uint64_t, SSL_CTX_set_options, (SSL_CTX *, uint64_t))                                      \
  X(int, SSL_CTX_set_num_tickets, (SSL_CTX *, size_t))                                         \
  X(void, SSL_CTX_set_security_level, (SSL_CTX *, int))                                        \
  X(void, SSL_CTX_set_verify, (SSL_CTX *, int, tls_verifier *))                                \
  X(int, SSL_CTX_set_default_verify_paths, (SSL_CTX *))                                        \
  X(X509_STORE *, SSL_CTX_get_cert_store, (const SSL_CTX *))                                   \
  X(void, SSL_CTX_set1_cert_store, (SSL_CTX *, X509_STORE *))                                  \
  X(int, SSL_CTX_use_certificate, (SSL_CTX *, X509 *))                                         \
  X(int, SSL_CTX_use_PrivateKey, (SSL_CTX *, EVP_PKEY *))                                      \
  X(int, SSL_CTX_check_private_key, (const SSL_CTX *))                                         \
  X(X509 *, SSL_CTX_get0_certificate, (const SSL_CTX *))                                       \
  X(int, SSL_CTX_add_client_CA, (SSL_CTX *, X509 *))                                           \
  X(int, SSL_CTX_set_alpn_protos, (SSL_CTX *, const unsigned char *, unsigned))                \
  X(void, SSL_CTX_set_alpn_select_cb, (SSL_CTX *, tls_chooser *, void *))                      \
  X(int, SSL_select_next_proto, (unsigned char **, unsigned char *, const unsigned char *,     \
                                 unsigned, const unsigned char *, unsigned))                   \
  X(SSL *, SSL_new, (SSL_CTX *))                                                               \
  X(void, SSL_free, (SSL *))                                                                   \
  X(void, SSL_set_bio, (SSL *, BIO *, BIO *))                                                  \
  X(void, SSL_set_connect_state, (SSL *))                                                      \
  X(void, SSL_set_accept_state, (SSL *))                                                       \
  X(SSL_CTX *, SSL_set_SSL_CTX, (SSL *, SSL_CTX *))                                            \
  X(long, SSL_ctrl, (SSL *, int, long, void *))                                                \
  X(X509_VERIFY_PARAM *, SSL_get0_param, (SSL *))                                              \
  X(int, SSL_do_handshake, (SSL *))                                                            \
  X(int, SSL_read, (SSL *, void *, int))                                                       \
  X(int, SSL_write, (SSL *, const void *, int))                                                \
  X(int, SSL_shutdown, (SSL *))                                                                \
  X(int, SSL_get_error, (const SSL *, int))                                                    \
  X(long, SSL_get_verify_result, (const SSL *))                                                \
  X(const char *, SSL_get_version, (const SSL *))                                              \
  X(const void *, SSL_get_current_cipher, (const SSL *))                                       \
  X(const char *, SSL_CIPHER_get_name, (const void *))                                         \
  X(void, SSL_get0_alpn_selected, (const SSL *, const unsigned char **, unsigned *))           \
  X(const char *, SSL_get_servername, (const SSL *, int))                                      \
  X(X509 *, SSL_get1_peer_certificate, (const SSL *))                                          \
  X(BIO *, BIO_new, (const BIO_METHOD *))                                                      \
  X(const BIO_METHOD *, BIO_s_mem, (void))                                                     \
  X(BIO *, BIO_new_mem_buf, (const void *, int))                                               \
  X(BIO *, BIO_new_file, (const char *, const char *))                                         \
  X(int, BIO_free, (BIO *))                                                                    \
  X(int, BIO_read, (BIO *, void *, int))                                                       \
  X(int, BIO_write, (BIO *, const void *, int))                                                \
  X(long, BIO_ctrl, (BIO *, int, long, void *))                                                \
  X(X509 *, PEM_read_bio_X509, (BIO *, X509 **, tls_password *, void *))                       \
  X(X509_CRL *, PEM_read_bio_X509_CRL, (BIO *, X509_CRL **, tls_password *, void *))           \
  X(EVP_PKEY *, PEM_read_bio_PrivateKey, (BIO *, EVP_PKEY **, tls_password *, void *))         \
  X(int, PEM_write_bio_X509, (BIO *, const X509 *))                                            \
  X(void, X509_free, (X509 *))                                                                 \
  X(void, X509_CRL_free, (X509_CRL *))                                                         \
  X(void, EVP_PKEY_free, (EVP_PKEY *))                                                         \
  X(int, X509_STORE_add_cert, (X509_STORE *, X509 *))                                          \
  X(int, X509_STORE_add_crl, (X509_STORE *, X509_CRL *))                                       \
  X(int, X509_STORE_set_flags, (X509_STORE *, unsigned long))                                  \
  X(int, X509_check_host, (X509 *, const char *, size_t, unsigned, char **))                   \
  X(X509_NAME *, X509_get_subject_name, (const X509 *))                                        \
  X(int, X509_NAME_print_ex, (BIO *, const X509_NAME *, int, unsigned long))                   \
  X(const char *, X509_verify_cert_error_string, (long))                                       \
  X(int, X509_VERIFY_PARAM_set1_host, (X509_VERIFY_PARAM *, const char *, size_t))             \
  X(int, X509_VERIFY_PARAM_set1_ip_asc, (X509_VERIFY_PARAM *, const char *))                   \
  X(void, X509_VERIFY_PARAM_set_hostflags, (X509_VERIFY_PARAM *, unsigned))                    \
  X(unsigned long, ERR_get_error, (void))                                                      \
  X(void, ERR_clear_error, (void))                                                             \
  X(const char *, ERR_reason_error_string, (unsigned long))                                    \
  X(int, OPENSSL_init_ssl, (uint64_t, const void *))

struct tls_library {
#define TLS_FIELD(result, name, arguments) result(*name) arguments;
  TLS_FUNCTIONS(TLS_FIELD)
#undef TLS_FIELD
};

// Filled once the library is found; only then can there be a context, and so any use of it.
extern struct tls_library tls;
// Opens the library: 0, ENOTSUP if it is not there, or why it could not be opened this time. Any
// thread.
int tls_open(void);

// The numbers behind macros in its headers.
enum {
  tls_ctrl_min_version = 123,  // SSL_CTRL_SET_MIN_PROTO_VERSION
  tls_ctrl_chain = 89,         // SSL_CTRL_CHAIN_CERT, whose argument counts its owner if 1
  tls_ctrl_cache = 44,         // SSL_CTRL_SET_SESS_CACHE_MODE
  tls_ctrl_host_callback = 53, // SSL_CTRL_SET_TLSEXT_SERVERNAME_CB
  tls_ctrl_host_argument = 54,
  tls_ctrl_host = 55,          // SSL_CTRL_SET_TLSEXT_HOSTNAME
  tls_ctrl_mode = 33,          // SSL_CTRL_MODE
  tls_mode_release_buffers = 16,
  tls_version_12 = 0x0303,
  tls_version_13 = 0x0304,
  tls_verify_peer = 1,
  tls_verify_required = 2,
  tls_want_read = 2,
  tls_zero_return = 6,
  tls_bio_pending = 10,  // BIO_CTRL_PENDING
  tls_flag_crl = 4,      // X509_V_FLAG_CRL_CHECK
  tls_no_partial_wildcards = 4,
  tls_rfc2253 = 0x1110313,       // XN_FLAG_RFC2253, with UTF-8 as it is
  tls_no_atexit = 0x80000,
};
#define TLS_NO_COMPRESSION ((uint64_t)1 << 17)
#define TLS_NO_RENEGOTIATION ((uint64_t)1 << 30)
#define TLS_NO_TICKET ((uint64_t)1 << 14)
