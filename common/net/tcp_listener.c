// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/tcp_listener.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"

enum {
    BACKLOG = 1024,
    ACCEPTS = 16, // max. connections accepted per wake-up
};
static const usec_t RETRY = USEC_PER_SEC;

struct tcp_listener {
    struct tcp_listener_config config;
    uv_poll_t poll;
    struct timer *retry; // owned; without a descriptor for one more connection
    int fd;
};

static const char *advice(int error)
{
    switch (error) {
    case EADDRINUSE:
        return "; choose another port with ";
    case EADDRNOTAVAIL:
        return "; it is not this machine's: choose another with ";
    case EACCES:
        return "; ports below 1024 take CAP_NET_BIND_SERVICE: choose another with ";
    default:
        return NULL;
    }
}

static int open_socket(const struct sockaddr *at, const char *option)
{
    int fd = socket(at->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int one = 1;
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (fd >= 0 && bind(fd, at, sockaddr_len(at)) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    char text[SOCKADDR_TEXT];
    const char *why = strerror(errno);
    const char *then = advice(errno);
    sockaddr_text(at, text, sizeof(text));
    log_error("cannot listen on %s: %s%s%s%s", text, why, then ? then : "", then ? option : "",
              then ? " ADDR:PORT" : "");
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool lacks_room(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

static void on_acceptable(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    struct tcp_listener *l = poll->data;
    usec_t now = clock_now();
    for (int i = 0; i < ACCEPTS; i++) {
        struct sockaddr_storage peer = {0};
        socklen_t len = sizeof(peer);
        int fd = accept4(l->fd, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            l->config.on_accepted(l->config.ctx, fd, (const struct sockaddr *)&peer, now);
            continue;
        }
        if (lacks_room(errno)) { // the backlog would wake the loop again at once
            log_error("cannot accept %s: %s; raise the limit with ulimit -n", l->config.whom,
                      strerror(errno));
            uv_poll_stop(&l->poll);
            timer_set(l->retry, now + RETRY);
        }
        return;
    }
}

static void on_retry(void *ctx, usec_t now)
{
    struct tcp_listener *l = ctx;
    (void)now;
    uv_poll_start(&l->poll, UV_READABLE, on_acceptable);
}

struct tcp_listener *tcp_listener_new(const struct tcp_listener_config *config)
{
    struct tcp_listener *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    l->config = *config;
    l->config.at = NULL; // it is not needed any more
    l->fd = open_socket(config->at, config->option);
    if (l->fd < 0)
        goto free_listener;
    l->retry = timer_new(config->loop, on_retry, l);
    if (!l->retry)
        goto close_fd;
    if (uv_poll_init(config->loop, &l->poll, l->fd) != 0) {
        log_error("cannot watch the socket of %s", config->option);
        goto free_timer;
    }
    l->poll.data = l;
    uv_poll_start(&l->poll, UV_READABLE, on_acceptable);
    return l;

free_timer:
    timer_free(l->retry);
close_fd:
    close(l->fd);
free_listener:
    free(l);
    return NULL;
}

void tcp_listener_stop(struct tcp_listener *l)
{
    uv_poll_stop(&l->poll);
    timer_set(l->retry, USEC_NEVER);
}

static void on_closed(uv_handle_t *handle)
{
    struct tcp_listener *l = handle->data;
    close(l->fd);
    free(l);
}

void tcp_listener_free(struct tcp_listener *l)
{
    if (!l)
        return;
    timer_free(l->retry);
    uv_close((uv_handle_t *)&l->poll, on_closed);
}

void tcp_listener_address(const struct tcp_listener *l, char *out, size_t cap)
{
    struct sockaddr_storage at = {0};
    socklen_t len = sizeof(at);
    getsockname(l->fd, (struct sockaddr *)&at, &len);
    sockaddr_url_text((const struct sockaddr *)&at, out, cap);
}
