// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/level_policy.h"

void level_policy_free(struct level_policy *p)
{
    if (p)
        p->ops->free(p);
}

void level_policy_ready(struct level_policy *p, const struct level_policy_path *path, usec_t now)
{
    if (p && p->ops->ready)
        p->ops->ready(p, path, now);
}

void level_policy_pair(struct level_policy *p, const struct capacity_packet *packet, size_t bytes,
                       usec_t arrived, usec_t now)
{
    if (p && p->ops->pair)
        p->ops->pair(p, packet, bytes, arrived, now);
}

void level_policy_no_pair(struct level_policy *p, usec_t now)
{
    if (p && p->ops->no_pair)
        p->ops->no_pair(p, now);
}

void level_policy_place(struct level_policy *p, const struct level_policy_position *place,
                        usec_t now)
{
    if (p && p->ops->place)
        p->ops->place(p, place, now);
}

void level_policy_table(struct level_policy *p, struct film_table *table, usec_t now)
{
    if (p && p->ops->table)
        p->ops->table(p, table, now);
    else
        film_table_free(table);
}

void level_policy_packet(struct level_policy *p, const struct rtp_packet *packet, int64_t sequence,
                         usec_t arrived, usec_t now)
{
    if (p && p->ops->packet)
        p->ops->packet(p, packet, sequence, arrived, now);
}

void level_policy_beside(struct level_policy *p, size_t bytes, usec_t now)
{
    if (p && p->ops->beside)
        p->ops->beside(p, bytes, now);
}

void level_policy_rtt(struct level_policy *p, usec_t rtt)
{
    if (p && p->ops->rtt)
        p->ops->rtt(p, rtt);
}

void level_policy_frame(struct level_policy *p, int64_t number, usec_t buffered, usec_t now)
{
    if (p && p->ops->frame)
        p->ops->frame(p, number, buffered, now);
}

void level_policy_empty(struct level_policy *p, usec_t now)
{
    if (p && p->ops->empty)
        p->ops->empty(p, now);
}

void level_policy_pause(struct level_policy *p, bool pause, usec_t now)
{
    if (p && p->ops->pause)
        p->ops->pause(p, pause, now);
}

void level_policy_pace(struct level_policy *p, double pace, usec_t now)
{
    if (p && p->ops->pace)
        p->ops->pace(p, pace, now);
}

void level_policy_release(struct level_policy *p, int level, usec_t now)
{
    if (p && p->ops->release)
        p->ops->release(p, level, now);
}

void level_policy_engage(struct level_policy *p, usec_t now)
{
    if (p && p->ops->engage)
        p->ops->engage(p, now);
}

void level_policy_end(struct level_policy *p)
{
    if (p && p->ops->end)
        p->ops->end(p);
}

void level_policy_text(const struct level_policy *p, char out[LEVEL_POLICY_TEXT])
{
    out[0] = '\0';
    if (p && p->ops->text)
        p->ops->text(p, out);
}
