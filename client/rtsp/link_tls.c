// SPDX-License-Identifier: GPL-2.0-or-later
#include "client/rtsp/link_tls.h"

#include <stdio.h>
#include <string.h>

#include "common/base/log.h"
#include "common/net/tcp_conn.h"
#include "common/net/tls_filter.h"
#include "common/net/tls_trust.h"
#include "common/program/state_dir.h"

void link_tls_init(struct link_tls *t, const struct url *url)
{
    *t = (struct link_tls){.wanted = url->secure};
    memcpy(t->pin, url->pin, sizeof(t->pin));
}

static int make_nothing(void *ctx, uint8_t *out, size_t cap, size_t *len)
{
    (void)ctx, (void)out, (void)cap;
    *len = 0;
    return 0;
}

// Leaves the path empty if there can be no such file, and writes why.
static void find_known_hosts(struct tls_trust *trust)
{
    char dir[STATE_PATH_MAX] = "";
    uint8_t all[STATE_FILE_MAX];
    size_t len;
    struct log_errors errors = {{0}}, *before = log_errors_kept();
    log_errors_keep(&errors);
    bool there =
        state_dir_find(NULL, dir) == 0 &&
        state_file_create_once(dir, "known_hosts", make_nothing, NULL, all, sizeof(all), &len) == 0;
    log_errors_keep(before);
    if (before && !*before->first)
        *before = errors;
    int written = snprintf(trust->known_hosts, sizeof(trust->known_hosts), "%s/known_hosts", dir);
    if (there && written > 0 && (size_t)written < sizeof(trust->known_hosts))
        return;
    trust->known_hosts[0] = '\0';
    snprintf(trust->no_file, sizeof(trust->no_file), "%s", errors.first);
}

bool link_tls_open(struct link_tls *t, struct tcp_conn *conn, const char *host, int port)
{
    if (!t->wanted)
        return true;
    struct tls_trust trust = {.port = port};
    snprintf(trust.host, sizeof(trust.host), "%s", host);
    memcpy(trust.pin, t->pin, sizeof(trust.pin));
    if (!*trust.pin)
        find_known_hosts(&trust);
    t->filter = tls_client_filter_new(&trust);
    if (t->filter && tcp_conn_push_filter(conn, t->filter) == 0)
        return true;
    t->filter = NULL;
    return false;
}

bool link_tls_refused(const struct link_tls *t, const struct tcp_conn *conn, const char *host,
                      int port, char *out, size_t cap)
{
    const char *reason = t->filter ? tls_filter_reason(t->filter) : "";
    if (!*reason || tcp_conn_is_secure(conn))
        return false;
    snprintf(out, cap, "the server %s port %d is refused: %s", host, port, reason);
    return true;
}
