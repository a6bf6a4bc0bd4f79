// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/server_tls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/own_addresses.h"
#include "common/net/tls_credentials.h"
#include "common/net/udp_socket.h"
#include "common/program/private_file.h"
#include "common/program/private_path.h"
#include "common/program/state_dir.h"

#define KEY_FILE         "tls-key.pem"
#define CERTIFICATE_FILE "tls-cert.pem"

struct pem {
    uint8_t text[TLS_PEM_MAX];
    size_t len;
};

static int read_pem(const char *path, const char *option, enum private_use use, struct pem *out)
{
    int fd = private_path_open(AT_FDCWD, path, path, 0);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "rb");
    if (fd != ERR_UNTRUSTED && !file)
        log_error("cannot open '%s' (%s): %s", path, option, strerror(errno));
    if (!file)
        return ERR_IO;
    if (private_check(fileno(file), path, use) != 0) {
        fclose(file);
        return ERR_IO;
    }
    out->len = fread(out->text, 1, sizeof(out->text), file);
    bool whole = feof(file) && !ferror(file);
    fclose(file);
    if (whole)
        return 0;
    log_error("cannot read '%s' (%s), or it has more than %d bytes", path, option, TLS_PEM_MAX);
    return ERR_IO;
}

static int use(const struct pem *certificate, const struct pem *key, const char *where,
               struct tls_credentials **out)
{
    char reason[256];
    *out = tls_credentials_new(certificate->text, certificate->len, key->text, key->len, reason,
                               sizeof(reason));
    if (*out)
        return 0;
    log_error("cannot use the key and the certificate of %s: %s", where, reason);
    return ERR_UNTRUSTED;
}

// A certificate for the addresses of now. The key stays, and the pin with it.
static int renew(const char *dir, const struct sockaddr_storage *addresses, int count,
                 const struct pem *key, struct pem *certificate)
{
    int err = state_file_read(dir, CERTIFICATE_FILE, certificate->text, sizeof(certificate->text),
                              &certificate->len);
    if (err && err != ERR_NOT_FOUND)
        return err;
    if (!err && tls_certificate_covers(certificate->text, certificate->len, key->text, key->len,
                                       addresses, count))
        return 0;
    err = tls_certificate_make(key->text, key->len, addresses, count, certificate->text,
                               sizeof(certificate->text), &certificate->len);
    return err ? err
               : state_file_replace(dir, CERTIFICATE_FILE, certificate->text, certificate->len);
}

static int open_with(const struct server_tls_config *config, struct pem *key,
                     struct pem *certificate, struct tls_credentials **out)
{
    char dir[STATE_PATH_MAX];
    struct sockaddr_storage addresses[TLS_MAX_ADDRESSES];
    const struct sockaddr *listen = (const struct sockaddr *)config->listen;
    *out = NULL;
    int err;
    if (config->certificate) {
        err = read_pem(config->certificate, "--tls-cert", PRIVATE_OWN, certificate);
        if (!err)
            err = read_pem(config->key, "--tls-key", PRIVATE_SHARED, key);
        if (!err)
            err = use(certificate, key, config->certificate, out);
        return err;
    }
    bool required = !sockaddr_is_loopback(listen) && !config->insecure;
    err = state_dir_find(config->state_dir, dir);
    if (err)
        return err;
    if (sockaddr_is_loopback(listen) && !config->state_dir) {
        err = state_file_read(dir, KEY_FILE, key->text, sizeof(key->text), &key->len);
        if (err) // no TLS: the loopback needs none
            return 0;
    } else {
        err = state_file_create_once(dir, KEY_FILE, tls_key_make, NULL, key->text,
                                     sizeof(key->text), &key->len);
    }
    int count = own_addresses(listen, addresses, TLS_MAX_ADDRESSES);
    if (!err)
        err = renew(dir, addresses, count, key, certificate);
    if (!err)
        err = use(certificate, key, dir, out);
    if (err && required)
        log_error("no key for TLS can be kept in %s: --state-dir names another directory; with "
                  "--insecure everything is sent without encryption",
                  dir);
    else if (err && !config->state_dir) { // nobody asked for TLS
        log_warn("no TLS: its key cannot be kept in %s (--state-dir names another directory)", dir);
        err = 0;
    }
    return err;
}

int server_tls_open(const struct server_tls_config *config, struct tls_credentials **out)
{
    struct pems { // not on the stack, as they are large
        struct pem key, certificate;
    } *p = malloc(sizeof(*p));
    *out = NULL;
    if (!p) {
        log_error("no key for TLS: out of memory");
        return ERR_NO_MEMORY;
    }
    int err = open_with(config, &p->key, &p->certificate, out);
    explicit_bzero(p, sizeof(*p));
    free(p);
    return err;
}

void server_url(const struct sockaddr_storage *listen, const char *bound, const char *path,
                const char *key, const struct tls_credentials *credentials, char *out, size_t cap)
{
    const struct sockaddr *at = (const struct sockaddr *)listen;
    bool secure = credentials != NULL;
    struct sockaddr_storage first;
    char address[SOCKADDR_TEXT];
    snprintf(address, sizeof(address), "%s", bound);
    struct sockaddr_storage port;
    if (address_is_any(at) && own_addresses(at, &first, 1) == 1 &&
        sockaddr_parse(bound, &port) == 0) {
        sockaddr_set_port((struct sockaddr *)&first, sockaddr_port((struct sockaddr *)&port));
        sockaddr_url_text((const struct sockaddr *)&first, address, sizeof(address));
    }
    snprintf(out, cap, "%s://%s%s%s%s%s%s", secure ? "rtsps" : "rtsp", address, path,
             *key ? "?key=" : "", key, secure ? (*key ? "&pin=" : "?pin=") : "",
             secure ? tls_credentials_pin(credentials) : "");
}
