// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/feed/group_verifier.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/base/put.h"
#include "common/base/scan.h"
#include "common/net/timer.h"
#include "common/wire/rtsp.h"
#include "server/policy/rtsp_parameters.h"

enum { HASHES = 64 }; // of a request
// An answer that brought nothing: the origin is still reading. It doubles up to the second.
#define AGAIN_FIRST (50 * USEC_PER_MSEC)
#define AGAIN_MOST  (2 * USEC_PER_SEC)
#define NOT_NOW     (200 * USEC_PER_MSEC) // the session does not play

struct group_verifier {
    struct group_verifier_config config;
    struct store_watch watch;
    struct timer *timer; // owned
    usec_t again;        // after an answer that brings nothing
    usec_t ask_at;
    int64_t next; // place in the film's groups, track by track, that the next request begins with
    bool asked, is_refused;
    bool has_begun; // the origin has been asked: also for nothing, to learn if it names digests
};

static void on_change(void *ctx, int track, int64_t group)
{
    struct group_verifier *v = ctx;
    if (!v->asked && !v->is_refused &&
        store_film_group(v->config.film, track, group) == GROUP_WHOLE)
        timer_set(v->timer, v->ask_at);
}

static void on_timer(void *ctx, usec_t now)
{
    struct group_verifier *v = ctx;
    const struct store_film *film = v->config.film;
    char body[HASHES * 32];
    struct put p = put_into(body, sizeof(body));
    int count = 0, sizes = store_film_sizes(film);
    int64_t groups = store_film_groups(film), places = (sizes + 1) * groups, next = v->next;
    if (v->asked || v->is_refused)
        return;
    // In turns: those whose digests the origin does not have must not keep others waiting.
    for (int64_t i = 0; i < places && count < HASHES; i++) {
        int64_t place = (v->next + i) % places, group = place % groups;
        int track = place / groups < sizes ? (int)(place / groups) : STORED_AUDIO_TRACK;
        if (store_film_group(film, track, group) != GROUP_WHOLE)
            continue;
        if (track != STORED_AUDIO_TRACK)
            put_format(&p, "group-hash: %d/%" PRId64 "\r\n", track, group);
        else
            put_format(&p, "group-hash: audio/%" PRId64 "\r\n", group);
        count++;
        next = (place + 1) % places;
    }
    if (!count && v->has_begun)
        return;
    if (!count)
        put_format(&p, "group-hash: 0/0\r\n");
    v->asked = v->config.ask(v->config.ctx, body, now);
    if (v->asked)
        v->next = next;
    else
        timer_set(v->timer, now + NOT_NOW);
}

static bool read_digest(struct text hex, struct stored_digest *out)
{
    if (hex.len != (size_t)2 * STORED_DIGEST_BYTES)
        return false;
    for (int i = 0; i < STORED_DIGEST_BYTES; i++) {
        char byte[3] = {hex.at[2 * i], hex.at[2 * i + 1], '\0'}, *end;
        out->bytes[i] = (uint8_t)strtoul(byte, &end, 16);
        if (*end)
            return false;
    }
    return true;
}

void group_verifier_take(struct group_verifier *v, struct text body, usec_t now)
{
    struct text name, value;
    size_t at = 0;
    bool refused = true, brought = false;
    v->asked = false;
    while (rtsp_parameter_next(body, &at, &name, &value) == 1) {
        struct scan in = text_scan(value);
        struct text which = text_of_scan(scan_until(&in, ' '));
        struct rtsp_group of;
        struct stored_digest digest;
        if (!text_is_nocase(name, "group-hash") || !rtsp_parameter_group(which, &of))
            continue;
        refused = false;
        if (of.group >= store_film_groups(v->config.film) ||
            !read_digest(text_of_scan(in), &digest)) // `later`, or `none`
            continue;
        brought = true;
        store_film_verify(v->config.film, of.track, of.group, &digest);
    }
    v->is_refused = refused;
    v->has_begun = true;
    store_film_fetch(v->config.film)->can_verify = !refused;
    if (refused)
        return;
    usec_t twice = v->again ? 2 * v->again : AGAIN_FIRST;
    v->again = brought ? 0 : usec_min(twice, AGAIN_MOST);
    v->ask_at = now + v->again;
    timer_set(v->timer, v->ask_at);
}

bool group_verifier_is_refused(const struct group_verifier *v)
{
    return v->is_refused;
}

struct group_verifier *group_verifier_new(const struct group_verifier_config *config)
{
    struct group_verifier *v = calloc(1, sizeof(*v));
    if (!v)
        return NULL;
    v->config = *config;
    v->timer = timer_new(config->loop, on_timer, v);
    v->config.film = v->timer ? store_film_hold(config->film) : NULL;
    if (!v->config.film) {
        timer_free(v->timer);
        free(v);
        return NULL;
    }
    v->watch = (struct store_watch){.on_change = on_change, .ctx = v};
    store_film_watch(v->config.film, &v->watch);
    timer_set(v->timer, 0);
    return v;
}

void group_verifier_free(struct group_verifier *v)
{
    if (!v)
        return;
    store_film_unwatch(v->config.film, &v->watch);
    store_film_release(v->config.film);
    timer_free(v->timer);
    free(v);
}
