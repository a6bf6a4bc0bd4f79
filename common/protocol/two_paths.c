// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/two_paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/protocol/packet_size.h"
#include "common/protocol/path_watch.h"
#include "common/wire/rtp.h"

enum { FIRST, SECOND, PATHS };

static const usec_t MARGIN = 40 * USEC_PER_MSEC;
static const usec_t FIRST_DELAY = 100 * USEC_PER_MSEC; // of a path of which nothing is known
static const double LEAST_BPS = 100e3;
static const struct rtp_ext_ids EXT = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID,
                                       RTP_EXT_MADE_ID};

// A packet that left over the first path.
struct kept_packet {
    usec_t deadline; // 0: none
    size_t behind;   // media_packet's
    enum media_track track;
    bool copied;
    size_t head_len, len;
    uint8_t data[PACKET_SIZE_MAX + MEDIA_PACKET_MAX_HEAD];
};

struct one_path {
    struct media_transport *transport; // borrowed
    uint16_t next_number;
    uint64_t bytes;
    double bps; // that its controller allows
    struct path_watch watch;
};

struct two_paths {
    struct media_transport media; // first
    struct one_path path[PATHS];
    double share;
    double credit;        // bytes
    bool suspect;         // a report of the first path is overdue
    bool silent;          // and the second shows that the viewer runs
    uint64_t proof;       // number of the first packet over the second since `suspect`
    usec_t proof_at;      // the next packet that shall prove it
    usec_t silent_since;  // silent
    usec_t silent_before; // time of the silences that are over
    usec_t urgent_at;     // when the packet that waits may take the second path; USEC_NEVER: none
    usec_t copy_at;       // when the next copy is due; USEC_NEVER: none, or the path has no room
    usec_t warm_at;
    uint64_t next_copy; // number of the first kept packet that has not been considered
    uint64_t copies, silences;
    struct kept_packet kept[TWO_PATHS_KEPT]; // by number on the first path
};

static struct two_paths *of(struct media_transport *base)
{
    return (struct two_paths *)base;
}

static bool has_room(const struct two_paths *t, int which, usec_t now)
{
    struct media_transport *m = t->path[which].transport;
    return m->ops->room(m, now);
}

// Returns how long the second path takes to the viewer.
static usec_t second_way(const struct two_paths *t)
{
    const struct path_watch *w = &t->path[SECOND].watch;
    usec_t delay = path_watch_delay(w);
    return delay ? delay / 2 + (usec_t)(2 * w->deviation) : FIRST_DELAY;
}

// Returns when a packet must leave over the second path, at the latest.
static usec_t last_instant(const struct two_paths *t, usec_t deadline, size_t behind)
{
    usec_t way = second_way(t);
    double bps = fmax(t->path[SECOND].bps, LEAST_BPS);
    return deadline - way - MARGIN - (usec_t)((double)behind * 8 / bps * USEC_PER_SEC);
}

static int send_on(struct two_paths *t, int which, enum media_track track,
                   const struct media_packet *p, usec_t now)
{
    struct one_path *path = &t->path[which];
    uint8_t head[MEDIA_PACKET_MAX_HEAD];
    struct media_packet numbered = *p;
    if (p->head_len)
        memcpy(head, p->head, p->head_len);
    (void)rtp_set_flow_number(head, p->head_len, EXT, path->next_number);
    numbered.head = head;
    int err = path->transport->ops->send(path->transport, track, &numbered, now);
    if (err)
        return err;
    double bytes = (double)(p->head_len + p->body_len);
    path->next_number++;
    path->bytes += (uint64_t)bytes;
    path_watch_sent(&path->watch, now);
    t->credit += t->share * bytes;
    if (which == SECOND) {
        t->credit = fmax(t->credit - bytes, TWO_PATHS_DEBT);
        t->warm_at = now + TWO_PATHS_WARM;
    }
    return 0;
}

// ---- Copies

static struct kept_packet *kept_of(struct two_paths *t, uint64_t number)
{
    return &t->kept[number % TWO_PATHS_KEPT];
}

// Returns the number of the first packet that is open and kept.
static uint64_t first_open(const struct two_paths *t)
{
    const struct path_watch *w = &t->path[FIRST].watch;
    uint64_t kept = w->sent > TWO_PATHS_KEPT ? w->sent - TWO_PATHS_KEPT : 0;
    return w->settled > kept ? w->settled : kept;
}

static void keep(struct two_paths *t, enum media_track track, const struct media_packet *p)
{
    struct kept_packet *k = kept_of(t, t->path[FIRST].watch.sent - 1);
    k->len = 0;
    if (p->head_len + p->body_len > sizeof(k->data))
        return;
    k->track = track;
    k->deadline = p->deadline;
    k->behind = p->behind;
    k->copied = false;
    k->head_len = p->head_len;
    k->len = p->head_len + p->body_len;
    if (p->head_len)
        memcpy(k->data, p->head, p->head_len);
    if (p->body_len)
        memcpy(k->data + p->head_len, p->body, p->body_len);
}

static bool copy(struct two_paths *t, struct kept_packet *k, usec_t now)
{
    struct media_transport *m = t->path[SECOND].transport;
    struct media_packet p = {.head = k->data,
                             .head_len = k->head_len,
                             .body = k->data + k->head_len,
                             .body_len = k->len - k->head_len};
    if (!has_room(t, SECOND, now) || send_on(t, SECOND, k->track, &p, now) != 0)
        return false;
    k->copied = true;
    t->copies++;
    if (m->ops->flush)
        m->ops->flush(m, now);
    return true;
}

// Returns when kept packet `number` is copied, unless it is settled by then. One that is not
// overdue at its last instant, as it left late or the round trip is long, shows nothing.
static usec_t copy_due(const struct two_paths *t, uint64_t number, const struct kept_packet *k)
{
    const struct path_watch *w = &t->path[FIRST].watch;
    if (t->silent)
        return 0;
    if (!k->deadline)
        return USEC_NEVER;
    usec_t last = last_instant(t, k->deadline, k->behind);
    usec_t usual = path_watch_left(w, number) + path_watch_least(w) + PATH_WATCH_MARGIN;
    return t->suspect || last >= usual ? last : USEC_NEVER;
}

static void send_copies(struct two_paths *t, usec_t now)
{
    t->copy_at = USEC_NEVER;
    if (t->next_copy < first_open(t))
        t->next_copy = first_open(t);
    for (; t->next_copy < t->path[FIRST].watch.sent; t->next_copy++) {
        struct kept_packet *k = kept_of(t, t->next_copy);
        if (k->copied || !k->len || (k->deadline && k->deadline + TWO_PATHS_LATE < now))
            continue;
        usec_t due = copy_due(t, t->next_copy, k);
        if (due == USEC_NEVER && !k->deadline)
            continue;
        if (due > now) {
            t->copy_at = due;
            return;
        }
        if ((!t->silent && t->credit <= 0) || !copy(t, k, now))
            return;
    }
}

// Copies the newest packet that is open.
static void keep_warm(struct two_paths *t, usec_t now)
{
    const struct path_watch *w = &t->path[FIRST].watch;
    if (t->warm_at > now || w->sent == first_open(t))
        return;
    struct kept_packet *k = kept_of(t, w->sent - 1);
    if (k->len && !k->copied && t->credit > 0)
        (void)copy(t, k, now);
    t->warm_at = now + TWO_PATHS_WARM;
}

// ---- Silence

static void end_silence(struct two_paths *t, usec_t now)
{
    if (t->silent)
        t->silent_before += now - t->silent_since;
    t->silent = t->suspect = false;
    t->next_copy = 0;
}

static void note_reports(struct one_path *path, usec_t now)
{
    struct transport_info info;
    path->transport->ops->info(path->transport, &info, now);
    path_watch_settle(&path->watch, info.settled, now);
    path->bps = isnan(info.allowed_bps) ? 0 : info.allowed_bps;
}

// The oldest open packet goes over the second path: it is the most urgent one, and its report shows
// that the viewer runs.
static void seek_proof(struct two_paths *t, usec_t now)
{
    uint64_t oldest = first_open(t);
    if (!t->suspect || t->silent || t->proof_at > now || oldest == t->path[FIRST].watch.sent)
        return;
    if (kept_of(t, oldest)->len)
        (void)copy(t, kept_of(t, oldest), now);
    t->proof_at = now + path_watch_bound(&t->path[SECOND].watch);
}

static void watch(struct two_paths *t, usec_t now)
{
    note_reports(&t->path[FIRST], now);
    note_reports(&t->path[SECOND], now);
    if (path_watch_overdue_at(&t->path[FIRST].watch) > now) {
        end_silence(t, now);
        return;
    }
    if (!t->suspect) {
        t->suspect = true;
        t->proof = t->path[SECOND].watch.sent;
        t->proof_at = now;
    }
    if (!t->silent && t->path[SECOND].watch.settled > t->proof) {
        t->silent = true;
        t->silent_since = now;
        t->silences++;
        t->next_copy = 0;
    }
}

void two_paths_on_event(struct two_paths *t, usec_t now)
{
    watch(t, now);
    seek_proof(t, now);
    send_copies(t, now);
    keep_warm(t, now);
}

usec_t two_paths_next_timeout(const struct two_paths *t)
{
    usec_t next = t->suspect ? t->silent ? USEC_NEVER : t->proof_at
                             : path_watch_overdue_at(&t->path[FIRST].watch);
    next = usec_min(next, usec_min(t->copy_at, t->urgent_at));
    bool is_open = first_open(t) < t->path[FIRST].watch.sent;
    return is_open ? usec_min(next, t->warm_at) : next;
}

void two_paths_on_timeout(struct two_paths *t, usec_t now)
{
    if (t->urgent_at <= now)
        t->urgent_at = USEC_NEVER; // `send` decides
    two_paths_on_event(t, now);
}

// ---- The media's transport

static bool pair_room(struct media_transport *base, usec_t now)
{
    struct two_paths *t = of(base);
    return has_room(t, FIRST, now) || ((t->silent || t->credit > 0) && has_room(t, SECOND, now));
}

// Returns true if the first path brings what leaves now later than the packet's deadline, as what
// left before has not arrived yet. A packet without a deadline repairs a loss: it is due now.
static bool is_slow(const struct two_paths *t, const struct media_packet *p, usec_t now)
{
    const struct path_watch *w = &t->path[FIRST].watch;
    if (!p->deadline)
        return t->suspect;
    usec_t way = path_watch_age(w, now) - path_watch_least(w) / 2;
    return now + way > p->deadline && way > second_way(t) + MARGIN;
}

static int pair_send(struct media_transport *base, enum media_track track,
                     const struct media_packet *p, usec_t now)
{
    struct two_paths *t = of(base);
    bool may_second = t->silent || t->credit > 0;
    bool avoids_first = !t->silent && may_second && is_slow(t, p, now) && has_room(t, SECOND, now);
    t->urgent_at = USEC_NEVER;
    if (!avoids_first && has_room(t, FIRST, now)) {
        int err = send_on(t, FIRST, track, p, now);
        if (!err)
            keep(t, track, p);
        if (err != ERR_AGAIN)
            return err;
    }
    usec_t last = t->silent || !p->deadline ? now : last_instant(t, p->deadline, p->behind);
    if (may_second && last > now)
        t->urgent_at = last;
    return may_second && last <= now && has_room(t, SECOND, now) ? send_on(t, SECOND, track, p, now)
                                                                 : ERR_AGAIN;
}

static void pair_flush(struct media_transport *base, usec_t now)
{
    struct two_paths *t = of(base);
    for (int i = 0; i < PATHS; i++) {
        struct media_transport *m = t->path[i].transport;
        if (m->ops->flush)
            m->ops->flush(m, now);
    }
    if (t->silent || t->warm_at <= now)
        two_paths_on_event(t, now);
}

// The path that carries the media now.
static struct media_transport *carrier(const struct two_paths *t)
{
    return t->path[t->silent ? SECOND : FIRST].transport;
}

static bool pair_wish(const struct media_transport *base, struct feedback_wish *out)
{
    const struct media_transport *m = carrier((const struct two_paths *)base);
    return m->ops->wish(m, out);
}

static void pair_media_rate(struct media_transport *base, int bps, usec_t now)
{
    for (int i = 0; i < PATHS; i++) {
        struct media_transport *m = of(base)->path[i].transport;
        if (m->ops->on_media_rate)
            m->ops->on_media_rate(m, bps, now);
    }
}

static void pair_set_max_rate(struct media_transport *base, double bps, usec_t now)
{
    for (int i = 0; i < PATHS; i++) {
        struct media_transport *m = of(base)->path[i].transport;
        if (m->ops->set_max_rate)
            m->ops->set_max_rate(m, bps, now);
    }
}

// The media follows the rate of the path that carries it; what arrived over either has arrived.
static void pair_info(struct media_transport *base, struct transport_info *out, usec_t now)
{
    struct two_paths *t = of(base);
    struct transport_info other;
    struct media_transport *m = carrier(t);
    struct media_transport *rest = t->path[t->silent ? FIRST : SECOND].transport;
    m->ops->info(m, out, now);
    rest->ops->info(rest, &other, now);
    out->delivered_bytes += other.delivered_bytes;
    out->unheard = usec_min(out->unheard, other.unheard);
}

static bool pair_fate(struct media_transport *base, bool *lost)
{
    for (int i = 0; i < PATHS; i++) {
        struct media_transport *m = of(base)->path[i].transport;
        if (m->ops->fate(m, lost))
            return true;
    }
    return false;
}

static const struct media_transport_ops OPS = {.room = pair_room,
                                               .send = pair_send,
                                               .flush = pair_flush,
                                               .wish = pair_wish,
                                               .on_media_rate = pair_media_rate,
                                               .info = pair_info,
                                               .fate = pair_fate,
                                               .set_max_rate = pair_set_max_rate};

// ---- Life

struct two_paths *two_paths_new(const struct two_paths_config *config, usec_t now)
{
    struct two_paths *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    const struct media_transport *a = config->path[FIRST], *b = config->path[SECOND];
    t->media = (struct media_transport){.ops = &OPS,
                                        .max_packet = a->max_packet < b->max_packet ? a->max_packet
                                                                                    : b->max_packet,
                                        .responsive = a->responsive && b->responsive,
                                        .measures = a->measures && b->measures,
                                        .is_numbered = true};
    for (int i = 0; i < PATHS; i++) {
        t->path[i].transport = config->path[i];
        t->path[i].next_number = config->first_number[i];
        path_watch_init(&t->path[i].watch);
    }
    t->share = config->share;
    t->credit = TWO_PATHS_CREDIT;
    t->urgent_at = t->copy_at = USEC_NEVER;
    t->warm_at = now;
    return t;
}

void two_paths_set_path(struct two_paths *t, int which, struct media_transport *path, usec_t now)
{
    end_silence(t, now);
    t->path[which].transport = path;
    path_watch_init(&t->path[which].watch);
    t->urgent_at = t->copy_at = USEC_NEVER;
}

uint16_t two_paths_next_number(const struct two_paths *t, int which)
{
    return t->path[which].next_number;
}

void two_paths_free(struct two_paths *t)
{
    free(t);
}

struct media_transport *two_paths_media(struct two_paths *t)
{
    return &t->media;
}

void two_paths_read(const struct two_paths *t, struct two_paths_stats *out, usec_t now)
{
    *out = (struct two_paths_stats){.copies = t->copies,
                                    .silences = t->silences,
                                    .silent =
                                        t->silent_before + (t->silent ? now - t->silent_since : 0),
                                    .is_silent = t->silent};
    for (int i = 0; i < PATHS; i++) {
        out->packets[i] = t->path[i].watch.sent;
        out->bytes[i] = t->path[i].bytes;
    }
}
