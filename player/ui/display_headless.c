// SPDX-License-Identifier: GPL-2.0-or-later
// A display without a screen: each picture counts as shown when it is due, by the same rules as in
// the window.
#include <stdlib.h>

#include "common/net/clock.h"
#include "player/ui/display.h"

static int run(struct display *d)
{
    while (!render_queue_closed(d->config.queue)) {
        usec_t next;
        struct play_frame *f = render_queue_due(d->config.queue, &next, clock_now());
        if (f) {
            f->shown_at = clock_now();
            f->fate = FATE_SHOWN;
            d->config.on_shown(d->config.shown_ctx, f);
        } else {
            render_queue_wait(d->config.queue, next);
        }
    }
    return 0;
}

static void expect(struct display *d, int width, int height)
{
    (void)d;
    (void)width;
    (void)height;
}

static void set_status(struct display *d, const char *text)
{
    (void)d;
    (void)text;
}

static void set_osd(struct display *d, const struct osd_state *state)
{
    (void)d;
    (void)state;
}

static void headless_free(struct display *d)
{
    free(d);
}

static const struct display_ops headless_ops = {.run = run,
                                                .expect = expect,
                                                .set_status = set_status,
                                                .set_osd = set_osd,
                                                .free = headless_free};

struct display *display_headless_new(const struct display_config *config)
{
    struct display *d = calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    d->ops = &headless_ops;
    d->config = *config;
    return d;
}
