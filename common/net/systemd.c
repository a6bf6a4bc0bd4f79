// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/systemd.h"

#include <stdlib.h>

#include "common/net/clock.h"
#include "common/net/sd_notify.h"
#include "common/net/timer.h"

struct systemd {
    struct timer *timer; // owned
    usec_t interval;     // between watchdog messages: half of WatchdogSec
};

static void on_time(void *ctx, usec_t now)
{
    struct systemd *s = ctx;
    sd_notify_send("WATCHDOG=1");
    timer_set(s->timer, now + s->interval);
}

struct systemd *systemd_new(uv_loop_t *loop)
{
    if (!sd_notify_send("READY=1"))
        return NULL;
    struct systemd *s = calloc(1, sizeof(*s));
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

void systemd_stopping(struct systemd *s)
{
    if (s)
        sd_notify_send("STOPPING=1");
}

void systemd_free(struct systemd *s)
{
    if (!s)
        return;
    timer_free(s->timer);
    free(s);
}
