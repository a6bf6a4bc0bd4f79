// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/tls_credentials.h"

#include <assert.h>
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"

static const time_t YEAR_2000 = 946684800;

struct tls_credentials {
    gnutls_certificate_credentials_t native; // owned
    char pin[TLS_PIN_TEXT];
};

static gnutls_datum_t datum_of(const uint8_t *data, size_t len)
{
    return (gnutls_datum_t){(unsigned char *)(uintptr_t)data, (unsigned)len}; // only read
}

int tls_pin_of(gnutls_x509_crt_t certificate, char out[TLS_PIN_TEXT])
{
    gnutls_pubkey_t key;
    gnutls_datum_t der = {0};
    uint8_t hash[TLS_PIN_BYTES];
    if (gnutls_pubkey_init(&key) != 0)
        return ERR_MALFORMED;
    int err = gnutls_pubkey_import_x509(key, certificate, 0);
    if (!err)
        err = gnutls_pubkey_export2(key, GNUTLS_X509_FMT_DER, &der);
    if (!err)
        err = gnutls_hash_fast(GNUTLS_DIG_SHA256, der.data, der.size, hash);
    gnutls_free(der.data);
    gnutls_pubkey_deinit(key);
    if (err)
        return ERR_MALFORMED;
    int len = snprintf(out, TLS_PIN_TEXT, "sha256:");
    for (int i = 0; i < TLS_PIN_BYTES; i++)
        len += snprintf(out + len, (size_t)(TLS_PIN_TEXT - len), "%02x", hash[i]);
    return 0;
}

// Returns 0, or GnuTLS's error.
static int import_chain(gnutls_certificate_credentials_t native, const gnutls_datum_t *pem,
                        const gnutls_datum_t *key, char pin[TLS_PIN_TEXT])
{
    // gnutls_certificate_set_x509_key_mem() leaks if it can read the key but not the certificates.
    gnutls_x509_crt_t *chain;
    unsigned count;
    int err = gnutls_x509_crt_list_import2(&chain, &count, pem, GNUTLS_X509_FMT_PEM, 0);
    if (err < 0)
        return err;
    if (tls_pin_of(chain[0], pin) != 0)
        err = GNUTLS_E_PK_INVALID_PUBKEY;
    for (unsigned i = 0; i < count; i++)
        gnutls_x509_crt_deinit(chain[i]);
    gnutls_free(chain);
    return err < 0 ? err
                   : gnutls_certificate_set_x509_key_mem(native, pem, key, GNUTLS_X509_FMT_PEM);
}

struct tls_credentials *tls_credentials_new(const uint8_t *certificate, size_t certificate_len,
                                            const uint8_t *key, size_t key_len, char *reason,
                                            size_t reason_cap)
{
    struct tls_credentials *c = calloc(1, sizeof(*c));
    snprintf(reason, reason_cap, "out of memory");
    if (!c || gnutls_certificate_allocate_credentials(&c->native) != 0) {
        free(c);
        return NULL;
    }
    gnutls_datum_t crt = datum_of(certificate, certificate_len), pem = datum_of(key, key_len);
    int err = import_chain(c->native, &crt, &pem, c->pin);
    if (err >= 0)
        return c;
    snprintf(reason, reason_cap, "%s", gnutls_strerror(err));
    tls_credentials_free(c);
    return NULL;
}

void tls_credentials_free(struct tls_credentials *c)
{
    if (!c)
        return;
    gnutls_certificate_free_credentials(c->native);
    free(c);
}

const char *tls_credentials_pin(const struct tls_credentials *c)
{
    return c->pin;
}

gnutls_certificate_credentials_t tls_credentials_native(const struct tls_credentials *c)
{
    return c->native;
}

// Logs what failed. Returns ERR_TOO_BIG or ERR_IO.
static int failed(const char *what, int err)
{
    log_error("cannot make %s: %s", what, gnutls_strerror(err));
    return err == GNUTLS_E_SHORT_MEMORY_BUFFER ? ERR_TOO_BIG : ERR_IO;
}

int tls_key_make(void *ctx, uint8_t *out, size_t cap, size_t *len)
{
    (void)ctx;
    gnutls_x509_privkey_t key;
    int err = gnutls_x509_privkey_init(&key);
    if (err)
        return failed("a key", err);
    *len = cap;
    err = gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
                                       GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    if (!err)
        err = gnutls_x509_privkey_export_pkcs8(key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN,
                                               out, len);
    gnutls_x509_privkey_deinit(key);
    return err ? failed("a key", err) : 0;
}

// Writes the address's bytes; returns their number: 4 or 16.
static unsigned ip_of(const struct sockaddr_storage *address, uint8_t out[16])
{
    if (address->ss_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof(v6));
        memcpy(out, &v6.sin6_addr, 16);
        return 16;
    }
    struct sockaddr_in v4;
    assert(address->ss_family == AF_INET);
    memcpy(&v4, address, sizeof(v4));
    memcpy(out, &v4.sin_addr, 4);
    return 4;
}

static int describe(gnutls_x509_crt_t crt, const struct sockaddr_storage *addresses, int count)
{
    static const char name[] = "Weir";
    uint8_t serial[16];
    int err = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof(serial));
    serial[0] = (uint8_t)((serial[0] & 0x7f) | 0x40); // positive, and its first byte not 0
    if (!err)
        err = gnutls_x509_crt_set_version(crt, 3);
    if (!err)
        err = gnutls_x509_crt_set_serial(crt, serial, sizeof(serial));
    if (!err)
        err = gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, name,
                                            sizeof(name) - 1);
    if (!err)
        err = gnutls_x509_crt_set_activation_time(crt, YEAR_2000);
    if (!err)
        err = gnutls_x509_crt_set_expiration_time(crt, (time_t)-1);
    if (!err)
        err = gnutls_x509_crt_set_basic_constraints(crt, 0, -1);
    if (!err)
        err = gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_DIGITAL_SIGNATURE);
    if (!err)
        err = gnutls_x509_crt_set_key_purpose_oid(crt, GNUTLS_KP_TLS_WWW_SERVER, 0);
    for (int i = 0; i < count && !err; i++) {
        uint8_t ip[16];
        unsigned len = ip_of(&addresses[i], ip);
        err = gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, ip, len,
                                                   GNUTLS_FSAN_APPEND);
    }
    return err;
}

int tls_certificate_make(const uint8_t *key, size_t key_len,
                         const struct sockaddr_storage *addresses, int count, uint8_t *out,
                         size_t cap, size_t *len)
{
    gnutls_x509_privkey_t private_key = NULL;
    gnutls_x509_crt_t crt = NULL;
    gnutls_datum_t pem = datum_of(key, key_len);
    int err = gnutls_x509_privkey_init(&private_key);
    if (!err)
        err = gnutls_x509_privkey_import2(private_key, &pem, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (!err)
        err = gnutls_x509_crt_init(&crt);
    if (!err)
        err = gnutls_x509_crt_set_key(crt, private_key);
    if (!err)
        err = describe(crt, addresses, count);
    if (!err)
        err = gnutls_x509_crt_sign2(crt, crt, private_key, GNUTLS_DIG_SHA256, 0);
    *len = cap;
    if (!err)
        err = gnutls_x509_crt_export(crt, GNUTLS_X509_FMT_PEM, out, len);
    if (crt)
        gnutls_x509_crt_deinit(crt);
    if (private_key)
        gnutls_x509_privkey_deinit(private_key);
    return err ? failed("a certificate", err) : 0;
}

bool tls_certificate_covers(const uint8_t *certificate, size_t certificate_len, const uint8_t *key,
                            size_t key_len, const struct sockaddr_storage *addresses, int count)
{
    char reason[128];
    struct tls_credentials *c =
        tls_credentials_new(certificate, certificate_len, key, key_len, reason, sizeof(reason));
    if (!c)
        return false;
    tls_credentials_free(c);
    gnutls_x509_crt_t crt;
    gnutls_datum_t pem = datum_of(certificate, certificate_len);
    if (gnutls_x509_crt_init(&crt) != 0)
        return false;
    bool covers = gnutls_x509_crt_import(crt, &pem, GNUTLS_X509_FMT_PEM) == 0;
    for (int i = 0; i < count && covers; i++) {
        uint8_t ip[16];
        unsigned len = ip_of(&addresses[i], ip);
        covers = gnutls_x509_crt_check_ip(crt, ip, len, 0) != 0;
    }
    gnutls_x509_crt_deinit(crt);
    return covers;
}
