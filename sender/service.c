// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/service.h"

#include <stdlib.h>

#include "common/net/clock.h"
#include "common/net/sd_notify.h"
#include "common/net/timer.h"

struct service {
    struct timer *timer; // owned
    usec_t interval;     // of signs of life, half of what is allowed
};

static void on_time(void *ctx, usec_t now)
{
    struct service *s = ctx;
    sd_notify_send("WATCHDOG=1");
    timer_set(s->timer, now + s->interval);
}

struct service *service_new(uv_loop_t *loop)
{
    if (!sd_notify_send("READY=1"))
        return NULL;
    struct service *s = calloc(1, sizeof(*s));
    if (!s || !(s->timer = timer_new(loop, on_time, s))) {
        free(s);
        return NULL;
    }
    usec_t allowed = sd_notify_watchdog();
    s->interval = allowed / 2;
    if (allowed != USEC_NEVER)
        timer_set(s->timer, clock_now() + s->interval);
    return s;
}

void service_stopping(struct service *s)
{
    if (s)
        sd_notify_send("STOPPING=1");
}

void service_free(struct service *s)
{
    if (!s)
        return;
    timer_free(s->timer);
    free(s);
}
