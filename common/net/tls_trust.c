// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/tls_trust.h"

#include <fcntl.h>
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"

static gnutls_x509_trust_list_t system_list; // of the whole program, as loading it takes a while
static pthread_once_t system_once = PTHREAD_ONCE_INIT;

static void load_system_list(void)
{
    int count = 0;
    if (gnutls_x509_trust_list_init(&system_list, 0) != 0)
        system_list = NULL;
    else
        count = gnutls_x509_trust_list_add_system_trust(system_list, 0, 0);
    log_debug("%d CAs of the system are trusted", count > 0 ? count : 0);
}

void tls_trust_load(void)
{
    pthread_once(&system_once, load_system_list);
}

// A self-signed certificate is in no system's list, as a rule: the list need not be loaded.
static bool is_signed_by_ca(const struct tls_trust *t, gnutls_x509_crt_t *chain, unsigned count)
{
    unsigned status = 0;
    gnutls_typed_vdata_st host = {
        .type = GNUTLS_DT_DNS_HOSTNAME, .data = (unsigned char *)(uintptr_t)t->host, .size = 0};
    if (count == 1 && gnutls_x509_crt_check_issuer(chain[0], chain[0]))
        return false;
    tls_trust_load();
    return system_list &&
           gnutls_x509_trust_list_verify_crt2(system_list, chain, count, &host, 1, 0, &status,
                                              NULL) == 0 &&
           status == 0;
}

// Writes the pin of the key that a line of the file stores: |g0|HOST|PORT|EXPIRES|BASE64.
// Returns false if the line is about another host.
static bool read_known(const struct tls_trust *t, const char *line, char out[TLS_PIN_TEXT])
{
    char head[300];
    int len = snprintf(head, sizeof(head), "|g0|%s|%d|", t->host, t->port);
    if (len < 0 || (size_t)len >= sizeof(head) || strncasecmp(line, head, (size_t)len) != 0)
        return false;
    const char *key = strchr(line + len, '|');
    if (!key)
        return false;
    gnutls_datum_t text = {(unsigned char *)(uintptr_t)(key + 1),
                           (unsigned)strcspn(key + 1, "\r\n")};
    gnutls_datum_t der = {0};
    uint8_t hash[TLS_PIN_BYTES];
    bool good = gnutls_base64_decode2(&text, &der) == 0 &&
                gnutls_hash_fast(GNUTLS_DIG_SHA256, der.data, der.size, hash) == 0;
    gnutls_free(der.data);
    if (!good)
        return false;
    len = snprintf(out, TLS_PIN_TEXT, "sha256:");
    for (int i = 0; i < TLS_PIN_BYTES; i++)
        len += snprintf(out + len, (size_t)(TLS_PIN_TEXT - len), "%02x", hash[i]);
    return true;
}

static void known_pin(const struct tls_trust *t, char out[TLS_PIN_TEXT])
{
    char line[4096];
    snprintf(out, TLS_PIN_TEXT, "another one");
    FILE *file = fopen(t->known_hosts, "re");
    if (!file)
        return;
    while (fgets(line, sizeof(line), file) && !read_known(t, line, out))
        ;
    fclose(file);
}

static int check_known(const struct tls_trust *t, const gnutls_datum_t *der, const char *pin,
                       char *reason, size_t cap)
{
    char service[16], known[TLS_PIN_TEXT];
    snprintf(service, sizeof(service), "%d", t->port);
    if (!*t->known_hosts)
        return err_say(reason, cap, ERR_UNTRUSTED,
                       "its certificate is signed by no known CA, and its key cannot be "
                       "remembered (mend that, or add pin=%s to the URL if this is its key): %s",
                       pin, *t->no_file ? t->no_file : "there is no state directory");
    int err = gnutls_verify_stored_pubkey(t->known_hosts, NULL, t->host, service, GNUTLS_CRT_X509,
                                          der, 0);
    if (err == 0)
        return 0;
    if (err == GNUTLS_E_CERTIFICATE_KEY_MISMATCH) {
        known_pin(t, known);
        return err_say(reason, cap, ERR_UNTRUSTED,
                       "its key has changed: it was %s, it is %s. Another machine may answer in "
                       "its place (if the key was replaced on purpose, remove the line of %s from "
                       "%s)",
                       known, pin, t->host, t->known_hosts);
    }
    if (err != GNUTLS_E_NO_CERTIFICATE_FOUND)
        return err_say(reason, cap, ERR_UNTRUSTED, "%s cannot be read: %s", t->known_hosts,
                       gnutls_strerror(err));
    // GnuTLS would make the file with the mode of the umask, which is that of all threads.
    int fd = open(t->known_hosts, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    err = gnutls_store_pubkey(t->known_hosts, NULL, t->host, service, GNUTLS_CRT_X509, der, 0, 0);
    if (err)
        return err_say(reason, cap, ERR_UNTRUSTED,
                       "its key %s cannot be stored in %s: %s (add pin=%s to the URL if this is "
                       "the key)",
                       pin, t->known_hosts, gnutls_strerror(err), pin);
    log_warn("%s port %d is seen for the first time: its key %s is trusted from now on (%s)",
             t->host, t->port, pin, t->known_hosts);
    return 0;
}

int tls_trust_check(const struct tls_trust *t, gnutls_session_t session, char *reason, size_t cap)
{
    unsigned count = 0;
    const gnutls_datum_t *sent = gnutls_certificate_get_peers(session, &count);
    enum { CHAIN = 16 };
    gnutls_x509_crt_t chain[CHAIN];
    unsigned ready = 0;
    char pin[TLS_PIN_TEXT] = "";
    int err = ERR_UNTRUSTED;
    while (sent && ready < count && ready < CHAIN && gnutls_x509_crt_init(&chain[ready]) == 0) {
        bool good = gnutls_x509_crt_import(chain[ready], &sent[ready], GNUTLS_X509_FMT_DER) == 0;
        ready++;
        if (!good)
            goto free_chain;
    }
    if (!ready || ready < count || tls_pin_of(chain[0], pin) != 0) {
        snprintf(reason, cap, "its certificate cannot be read");
        goto free_chain;
    }
    if (*t->pin && strcmp(t->pin, pin) == 0)
        err = 0;
    else if (*t->pin)
        snprintf(reason, cap,
                 "its key is %s, the URL's pin is %s. Another machine may answer in its place (if "
                 "the key was replaced, ask for the new URL)",
                 pin, t->pin);
    else
        err = is_signed_by_ca(t, chain, ready) ? 0 : check_known(t, &sent[0], pin, reason, cap);
free_chain:
    for (unsigned i = 0; i < ready; i++)
        gnutls_x509_crt_deinit(chain[i]);
    return err;
}
