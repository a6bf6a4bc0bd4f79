// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/server_invite.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/tls_credentials.h"
#include "common/net/udp_socket.h"

enum { DAY_S = 24 * 3600 };

static bool print_url(const char *url)
{
    return printf("%s\n", url) >= 0 && fflush(stdout) == 0;
}

static int make_key(const struct server_invite *invite, const char *path, unsigned right,
                    char key[ACCESS_KEY_TEXT])
{
    const char *time = invite->options->invite_for;
    struct access_config config = {.state_dir = invite->state_dir};
    struct access *a = access_new(&config);
    int64_t seconds = time ? access_options_seconds(time) : (int64_t)ACCESS_FOR_DAYS * DAY_S;
    int err = a ? access_invite(a, path, right, seconds, key) : ERR_IO;
    access_free(a);
    return err;
}

bool server_invite_is_journal(const char *value, const struct stat *file)
{
    char text[64];
    snprintf(text, sizeof(text), "%ju:%ju", (uintmax_t)file->st_dev, (uintmax_t)file->st_ino);
    return value && strcmp(value, text) == 0;
}

int server_invite(const struct server_invite *invite)
{
    struct server_tls_config tls = {.listen = invite->listen,
                                    .certificate = invite->certificate,
                                    .key = invite->key,
                                    .state_dir = invite->state_dir};
    struct tls_credentials *credentials = NULL;
    char key[ACCESS_KEY_TEXT], at[SOCKADDR_TEXT], url[SERVER_URL_MAX];
    const char *what = invite->options->invite;
    bool is_control = strcmp(what, ACCESS_INVITE_CONTROL) == 0;
    bool is_metrics = is_control || strcmp(what, ACCESS_INVITE_METRICS) == 0; // of its server
    if (is_metrics && invite->metrics->ss_family == AF_UNSPEC) {
        log_error("--invite %s requires --metrics ADDR:PORT", what);
        return EXIT_FAILURE;
    }
    size_t prefix = strlen(ACCESS_INVITE_PUBLISH);
    bool is_publish = strncmp(what, ACCESS_INVITE_PUBLISH, prefix) == 0;
    const char *path = is_metrics ? "/" : is_publish ? what + prefix : what;
    int err = make_key(invite, path,
                       is_control   ? ACCESS_CONTROL
                       : is_metrics ? ACCESS_METRICS
                       : is_publish ? ACCESS_PUBLISH
                                    : ACCESS_WATCH,
                       key);
    if (err) {
        log_error("cannot make a key: %s", err_text(err));
        return EXIT_FAILURE;
    }
    if (is_metrics) {
        sockaddr_text((const struct sockaddr *)invite->metrics, at, sizeof(at));
        snprintf(url, sizeof(url), "http://%s/%s?key=%s", at, is_control ? "control/sessions" : "",
                 key);
        return print_url(url) ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    if (!invite->options->insecure && server_tls_open(&tls, &credentials) != 0)
        return EXIT_FAILURE;
    sockaddr_text((const struct sockaddr *)invite->listen, at, sizeof(at));
    server_url(invite->listen, at, path, key, credentials, url, sizeof(url));
    tls_credentials_free(credentials);
    return print_url(url) ? EXIT_SUCCESS : EXIT_FAILURE;
}
