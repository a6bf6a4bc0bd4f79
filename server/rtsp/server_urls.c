// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/server_urls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/net/own_addresses.h"
#include "common/net/udp_socket.h"
#include "server/access/access.h"
#include "server/rtsp/qr_code.h"
#include "server/rtsp/server_invite.h"
#include "server/rtsp/server_tls.h"

enum { MAX_ADDRESSES = 8 };

struct address {
    struct sockaddr_storage at; // with the port
    char text[SOCKADDR_TEXT];
    bool plain; // viewers at this address may use plain RTSP
};

static int find_addresses(const struct server_urls *u, struct address out[MAX_ADDRESSES])
{
    const struct sockaddr *listen = (const struct sockaddr *)u->listen;
    struct sockaddr_storage own[MAX_ADDRESSES], bound;
    bool is_any = address_is_any(listen) && sockaddr_parse(u->bound, &bound) == 0;
    int count = is_any ? own_addresses(listen, own, MAX_ADDRESSES) : 0;
    if (count == 0) { // the one that it listens on, or all, if they cannot be listed
        own[0] = *u->listen;
        is_any = false;
        count = 1;
    }
    for (int i = 0; i < count; i++) {
        struct sockaddr *at = (struct sockaddr *)&out[i].at;
        out[i].at = own[i];
        out[i].plain = u->insecure || sockaddr_is_loopback(at);
        snprintf(out[i].text, sizeof(out[i].text), "%s", u->bound);
        if (!is_any)
            continue;
        sockaddr_set_port(at, sockaddr_port((struct sockaddr *)&bound));
        sockaddr_url_text(at, out[i].text, sizeof(out[i].text));
    }
    return count;
}

static void url_of(const struct server_urls *u, const struct address *a, const char *key,
                   bool secure, char out[SERVER_URL_MAX])
{
    server_url(&a->at, a->text, u->path, key, secure ? u->credentials : NULL, out, SERVER_URL_MAX);
}

// Turns rtsp:// or rtsps:// into http:// or https://.
static void web_url_of(const char *url, char out[SERVER_URL_MAX])
{
    snprintf(out, SERVER_URL_MAX, "http%s", url + strlen("rtsp"));
}

// Prints URLs with a key that never expires, of the addresses that need one, and writes the first
// one for a browser; empty: it printed none.
static void print_keys(const struct server_urls *u, const struct address *addresses, int count,
                       char web[SERVER_URL_MAX])
{
    char key[ACCESS_KEY_TEXT], url[SERVER_URL_MAX], first[SERVER_URL_MAX] = "";
    *web = '\0';
    struct stat file;
    if (!u->prints_keys || (fstat(STDOUT_FILENO, &file) == 0 &&
                            server_invite_is_journal(getenv("JOURNAL_STREAM"), &file))) {
        log_info("viewers need a key: --invite PATH prints a URL with one");
        return;
    }
    if (access_invite(u->access, u->key_path, ACCESS_WATCH, 0, key) != 0)
        return; // the path cannot have one: --invite says why
    for (int i = 0; i < count; i++) {
        if (addresses[i].plain)
            continue;
        url_of(u, &addresses[i], key, true, url);
        printf("%s\n", url);
        if (!*first)
            snprintf(first, sizeof(first), "%s", url);
    }
    if (!*first || u->is_example)
        return;
    web_url_of(first, web);
    printf("weir-play '%s'\nin a browser: %s\n", first, web);
    (void)fflush(stdout);
}

static void print_qr(const struct server_urls *u, const struct address *addresses, int count,
                     const char *with_key)
{
    char url[SERVER_URL_MAX], web[SERVER_URL_MAX] = "";
    for (int i = 0; i < count && !*web && u->insecure; i++)
        if (!sockaddr_is_loopback((const struct sockaddr *)&addresses[i].at)) {
            url_of(u, &addresses[i], "", false, url);
            web_url_of(url, web);
        }
    const char *shown = *with_key ? with_key : web;
    if (!*shown)
        log_warn("--qr: there is no URL that a phone can open: it needs --listen 0.0.0.0:8554, and "
                 "this program's own key");
    else if (qr_code_print(shown, isatty(STDOUT_FILENO), stdout) < 0)
        log_warn("--qr: the URL is too long for a code");
    else
        printf("%s\n", shown);
    (void)fflush(stdout);
}

void server_urls_print(const struct server_urls *u, char *out, size_t cap)
{
    struct address addresses[MAX_ADDRESSES];
    char url[SERVER_URL_MAX], web[SERVER_URL_MAX] = "";
    int count = find_addresses(u, addresses);
    const struct address *first = &addresses[0];
    if (u->credentials && first->plain) {
        url_of(u, first, "", true, url);
        log_info("encrypted: %s", url);
    }
    if (u->access)
        print_keys(u, addresses, count, web);
    for (int i = 1; i < count; i++) {
        url_of(u, &addresses[i], "", !addresses[i].plain, url);
        log_info("also: %s", url);
    }
    url_of(u, first, "", !first->plain, url);
    if (first->plain && !u->is_example)
        log_info("in a browser: http%s", url + strlen("rtsp"));
    if (first->plain)
        log_info("to watch: weir-play '%s'%s", url,
                 u->is_example ? ", with the words in capitals replaced" : "");
    if (u->qr)
        print_qr(u, addresses, count, web);
    snprintf(out, cap, "%s", url);
}
