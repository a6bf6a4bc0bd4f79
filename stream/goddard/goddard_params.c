// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/goddard/goddard_params.h"

#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/congestion/params.h"

enum { ROWS = 8, MAX_SHOWN = 64 };

static const struct goddard_params defaults = {
    .pkp_timeout_interval = 2,
    .buf_factor = 1.5,
    .play_buf_thresh = 5,
    .loss_monitor_interval = 5,
    .downscale_frame_loss_rate = 0.05,
    .upscale_interval = 60,
    .upscale_frame_loss_rate = 0.01,
    .upscale_limit_time_factor = 3,
};

static void table_of(struct goddard_params *p, struct param table[ROWS])
{
    const struct param rows[ROWS] = {
        {"pkp_timeout_interval", &p->pkp_timeout_interval, 0.1, 60, NULL},
        // Commercial streams use 1.5 to 4 (section III); 1 is real time.
        {"buf_factor", &p->buf_factor, 1, 4, NULL},
        {"play_buf_thresh", &p->play_buf_thresh, 0.1, 60, NULL},
        {"loss_monitor_interval", &p->loss_monitor_interval, 0.5, 60, NULL},
        {"downscale_frame_loss_rate", &p->downscale_frame_loss_rate, 0, 1, NULL},
        {"upscale_interval", &p->upscale_interval, 1, 3600, NULL},
        {"upscale_frame_loss_rate", &p->upscale_frame_loss_rate, 0, 1, NULL},
        {"upscale_limit_time_factor", &p->upscale_limit_time_factor, 0, 100, NULL},
    };
    memcpy(table, rows, sizeof(rows));
}

void goddard_params_init(struct goddard_params *p)
{
    *p = defaults;
}

const char *goddard_params_name(int i, const char **help)
{
    struct goddard_params none = defaults;
    struct param table[ROWS];
    table_of(&none, table);
    *help = NULL;
    return i < ROWS ? table[i].key : NULL;
}

static void tell_names(const struct param table[ROWS], char *error, size_t cap)
{
    int len = snprintf(error, cap, "NAME=VALUE,... with these names:");
    for (int i = 0; i < ROWS && len >= 0 && (size_t)len < cap; i++)
        len += snprintf(error + len, cap - (size_t)len, "%s %s", i ? "," : "", table[i].key);
}

static void tell(const struct param_fault *f, const struct param table[ROWS], char *error,
                 size_t cap)
{
    if (!f->row)
        tell_names(table, error, cap);
    else if (f->twice)
        snprintf(error, cap, "each name once, not %s twice", f->row->key);
    else
        snprintf(error, cap, "a number of %g to %g as %s, not \"%.*s%s\"", f->row->min, f->row->max,
                 f->row->key, (int)(f->len < MAX_SHOWN ? f->len : MAX_SHOWN), f->value,
                 f->len > MAX_SHOWN ? "..." : "");
}

int goddard_params_read(const char *text, struct goddard_params *p, char *error, size_t error_cap)
{
    struct goddard_params read = *p;
    struct param table[ROWS];
    table_of(&read, table);
    struct param_fault fault;
    int err = params_read(text, table, ROWS, &fault);
    if (err) {
        tell(&fault, table, error, error_cap);
        return err;
    }
    // Otherwise one loss rate would require both a higher and a lower level.
    if (read.upscale_frame_loss_rate > read.downscale_frame_loss_rate) {
        snprintf(error, error_cap,
                 "an upscale_frame_loss_rate of at most downscale_frame_loss_rate (%g)",
                 read.downscale_frame_loss_rate);
        return ERR_RANGE;
    }
    *p = read;
    return 0;
}

usec_t goddard_params_sender_wait(usec_t buffer)
{
    return usec_max(USEC_PER_SEC, buffer + USEC_PER_SEC / 2);
}
