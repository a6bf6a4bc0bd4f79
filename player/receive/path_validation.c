// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/receive/path_validation.h"

#include <stdlib.h>

#include "common/net/timer.h"
#include "common/wire/path_token.h"

#define REPEAT_AFTER  (50 * USEC_PER_MSEC)
#define GIVE_UP_AFTER (5 * USEC_PER_SEC)

struct path_validation {
    struct path_validation_config config;
    struct timer *timer; // owned
    usec_t until;
    bool heard[2];
};

static void send_tokens(struct path_validation *p, usec_t now)
{
    uint8_t packet[PATH_TOKEN_BYTES];
    path_token_encode(p->config.ssrc, p->config.token, packet);
    struct iovec part = {packet, sizeof(packet)};
    for (int i = 0; i < 2; i++)
        if (!p->heard[i]) // what the kernel refuses now is sent again soon
            (void)udp_socket_send(p->config.socket[i], p->config.to[i], &part, 1);
    bool over = (p->heard[0] && p->heard[1]) || now >= p->until;
    timer_set(p->timer, over ? USEC_NEVER : now + REPEAT_AFTER);
}

static void on_timer(void *ctx, usec_t now)
{
    send_tokens(ctx, now);
}

struct path_validation *path_validation_new(const struct path_validation_config *config, usec_t now)
{
    struct path_validation *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->config = *config;
    p->until = now + GIVE_UP_AFTER;
    p->timer = timer_new(config->loop, on_timer, p);
    if (!p->timer) {
        free(p);
        return NULL;
    }
    send_tokens(p, now);
    return p;
}

void path_validation_free(struct path_validation *p)
{
    if (!p)
        return;
    timer_free(p->timer);
    free(p);
}

void path_validation_heard(struct path_validation *p, int which, usec_t now)
{
    if (p->heard[which])
        return;
    p->heard[which] = true;
    if (p->heard[0] && p->heard[1])
        p->config.on_proved(p->config.ctx, now);
}
