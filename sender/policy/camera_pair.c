// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/camera_pair.h"

#include <limits.h>
#include <string.h>

enum { MAX_RATE = 240 }; // pictures a second, as of each stream

// ---- The source

bool camera_pair_is(const char *source)
{
    return url_scheme(source) && strchr(source, '|');
}

const char *camera_pair_split(const char *source, struct camera_pair_urls *out)
{
    size_t len = strcspn(source, "|");
    const char *sub = source + len + 1, *why;
    struct url url;
    if (strchr(sub, '|'))
        return "a camera has two streams at most, MAIN|SUB (a | within a URL is %7C)";
    if (!url_scheme(sub))
        return "expects rtsp://... or rtsps://... after the | (a | within a URL is %7C)";
    if (len >= URL_MAX_TEXT || strlen(sub) >= URL_MAX_TEXT)
        return "a URL is too long";
    *out = (struct camera_pair_urls){0};
    memcpy(out->text[CAMERA_MAIN], source, len);
    memcpy(out->text[CAMERA_SUB], sub, strlen(sub));
    if (strcmp(out->text[CAMERA_MAIN], out->text[CAMERA_SUB]) == 0)
        return "main and sub are the same URL: give it once";
    if (url_parse(out->text[CAMERA_MAIN], &url, &why) != 0)
        return "the URL of the main stream is malformed";
    if (url_parse(out->text[CAMERA_SUB], &url, &why) != 0)
        return "the URL of the sub stream is malformed";
    return NULL;
}

// ---- Numbers

// Returns true if a is a multiple of b.
static bool is_multiple(struct fps a, struct fps b)
{
    return (int64_t)a.num * b.den % ((int64_t)a.den * b.num) == 0;
}

struct fps camera_pair_rate(struct fps main, struct fps sub)
{
    struct fps best = main, at = main;
    for (int64_t num = main.num; num <= INT_MAX; num += main.num) {
        at.num = (int)num;
        if (fps_value(at) > MAX_RATE && fps_value(best) >= fps_value(sub))
            break;
        if (is_multiple(at, sub))
            return at;
        best = at;
    }
    return fps_value(best) < fps_value(sub) ? sub : best;
}

int64_t camera_pair_number(int64_t m, struct fps size, struct fps source)
{
    __int128 above = (__int128)m * source.num * size.den, below = (__int128)source.den * size.num;
    return (int64_t)((above + below - 1) / below) - 1;
}

// ---- Sizes

void camera_pair_init(struct camera_pair *p)
{
    *p = (struct camera_pair){0};
    for (int i = 0; i < CAMERA_STREAMS; i++)
        p->from[i] = -1, p->newest[i] = -1;
}

// Returns the first picture of which the number is above `number`.
static int64_t first_above(int64_t number, struct fps size, struct fps source)
{
    __int128 above = (__int128)(number + 1) * source.den * size.num;
    return (int64_t)(above / ((__int128)source.num * size.den)) + 1;
}

void camera_pair_count(struct camera_pair *p, int stream, struct camera_pair_frame *f,
                       struct fps size, struct fps source)
{
    if (f->key) {
        int64_t free = first_above(p->newest[stream], size, source);
        p->group[stream].before = p->group[stream].ahead;
        p->group[stream].ahead = free > f->number ? free - f->number : 0;
        p->group[stream].begins = f->number;
    }
    // A frame of an open group may depend on the group before.
    int64_t needs =
        f->depends_on < p->group[stream].begins ? p->group[stream].before : p->group[stream].ahead;
    f->depends_on = f->key ? -1 : camera_pair_number(f->depends_on + needs, size, source);
    f->number = camera_pair_number(f->number + p->group[stream].ahead, size, source);
}

unsigned camera_pair_take(struct camera_pair *p, int stream, const struct camera_pair_frame *f,
                          bool is_away)
{
    unsigned sizes = 0;
    for (int i = 0; i < CAMERA_STREAMS; i++) {
        bool ascends = f->number > p->newest[i];
        if (p->from[i] != stream && f->key && ascends && (i == stream || is_away))
            p->from[i] = stream;
        if (p->from[i] != stream || !ascends)
            continue;
        p->newest[i] = f->number;
        sizes |= 1u << i;
    }
    return sizes;
}
