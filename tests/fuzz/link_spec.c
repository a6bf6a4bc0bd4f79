// SPDX-License-Identifier: GPL-2.0-or-later
// A link's spec and a change, from any text; accepted values are within the bounds that the header
// documents.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "common/base/err.h"
#include "lab/link/link_spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const usec_t HOUR = 3600 * USEC_PER_SEC;
static const usec_t MONTH = 30 * 24 * 3600 * USEC_PER_SEC;

static void check_size(struct queue_size s)
{
    assert(s.bytes <= 1000 * 1000 * 1000 + 1500 && s.packets <= 3 * 1000 * 1000);
    assert(s.bytes == 0 || s.packets == 0);
}

static bool is_probability(double p)
{
    return p >= 0 && p <= 1;
}

static void check_queue(const struct queue_config *q)
{
    check_size(q->limit);
    check_size(q->mark);
    check_size(q->min);
    check_size(q->max);
    assert(q->limit.bytes || q->limit.packets);
    if (q->kind == QUEUE_RED || q->kind == QUEUE_DRED || q->kind == QUEUE_DRD)
        assert(q->min.bytes < q->max.bytes || q->min.packets < q->max.packets);
    assert(is_probability(q->p_min) && is_probability(q->p_max) && q->p_min <= q->p_max);
    assert(is_probability(q->weight) && q->target <= HOUR && q->interval <= HOUR);
    assert(q->kind != QUEUE_DUALPI2 || q->interval > 0);
    assert(isfinite(q->alpha) && isfinite(q->beta) && isfinite(q->k));
}

static void check_rate(const struct rate_schedule *s, double min)
{
    assert(s->count >= 1 && s->count <= RATE_STEPS_MAX);
    assert(s->steps[0].at == 0 && s->steps[0].bps >= min);
    for (int i = 0; i < s->count; i++) {
        assert(s->steps[i].bps == 0 || (s->steps[i].bps >= 1e3 && s->steps[i].bps <= 1e11));
        assert(i == 0 || (s->steps[i].at > s->steps[i - 1].at && s->steps[i].at <= MONTH));
    }
    assert(s->loop == 0 || (s->loop > s->steps[s->count - 1].at && s->loop <= MONTH));
}

static void check_rest(const struct link_spec *s)
{
    const struct loss_config *c = &s->loss;
    assert(memchr(s->trace, '\0', sizeof(s->trace)) && s->overhead <= 1000);
    assert(s->delay >= 0 && s->delay <= HOUR && s->jitter >= 0 && s->jitter <= HOUR);
    assert(is_probability(s->reorder) && s->reorder_by >= 0 && s->reorder_by <= HOUR);
    assert(is_probability(c->probability) && is_probability(c->p) && is_probability(c->r) &&
           is_probability(c->good) && is_probability(c->bad));
    assert(c->mask_packets <= LOSS_MASK_MAX && (c->mask_packets > 0) == (c->kind == LOSS_MASK));
}

static void check_error(int err, const char *error)
{
    assert(err == 0 || err == ERR_MALFORMED || err == ERR_RANGE);
    assert((err == 0) == (error[0] == '\0'));
    for (; *error; error++)
        assert(*error >= ' ' && *error <= '~');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[LINK_SPEC_TEXT_MAX + 2];
    size_t len = size < sizeof(text) ? size : sizeof(text) - 1;
    memcpy(text, data, len);
    text[len] = '\0';
    static struct link_spec spec;
    static struct link_change change;
    char error[400];
    int err = link_spec_parse(text, &spec, error, sizeof(error));
    check_error(err, error);
    if (!err) {
        if (spec.has_rate)
            check_rate(&spec.rate, 1e3);
        link_spec_resolve(&spec, spec.has_rate ? spec.rate.steps[0].bps : 1);
        check_queue(&spec.queue);
        check_rest(&spec);
    }
    err = link_change_parse(text, &change, error, sizeof(error));
    check_error(err, error);
    if (!err) {
        if (change.rate)
            check_rate(&change.spec.rate, 0);
        check_rest(&change.spec);
    }
    return 0;
}
