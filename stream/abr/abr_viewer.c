// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/abr/abr_viewer.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "stream/abr/first_burst.h"

#define NETWORK_BELOW 0.75 // of the speed
#define LOST          10   // one packet of so many
#define SLOWEST       0.25 // speed
#define BEYOND        (5 * USEC_PER_SEC)
#define MIN_PACE      1.1 // below the target
#define MIN_FAST      2.0
#define PROBE         1.5 // times the rate of the next level
#define FIXED_SPEED   8.0 // of a level that stays, until FIXED_SOON is buffered; then half of that
#define FIXED_SOON    (10 * USEC_PER_SEC)
#define RECENT        (400 * USEC_PER_MSEC)
#define MOST_BESIDE   0.75 // of the first burst, that is no video
#define SPEED_STEP    0.15 // changes by less are not requested
// Of a transport that does not follow the network, after a loss: share of the forecast at which it
// sends, and by how much that share grows a second.
#define AFTER_LOSS 0.85
#define LOSS_OVER  0.05
#define SLOWER_BY  1.25 // times the speed before, that shows that a request has taken effect

enum { SAMPLES = 64, ROOM_GROUPS = 2, LEVELS = 256 };

struct told { // a sample that the policy was told
    struct rate_sample sample;
    usec_t at;
};

struct abr_viewer {
    struct abr_viewer_config config;
    struct film_table *table; // owned, as is the policy
    struct abr_policy *policy;
    bool has_table;
    struct told told[SAMPLES]; // a ring
    int64_t told_count;
    usec_t rtt;
    bool placed;
    int64_t base;
    int64_t first; // number at which the position is
    bool paused;
    int chosen; // by the viewer; ABR_NO_LEVEL
    // The newest group of which something arrived.
    int64_t group; // ABR_NO_GROUP: none since the position changed
    int level;
    int64_t received; // bytes
    usec_t group_since, group_until;
    int64_t start;            // the group of the position
    int64_t gate;             // the server awaits the level of this frame; -1: of none
    int whole;                // frames that have arrived since the position changed
    double first_bps;         // at which it carries video; 0: not known
    struct first_burst burst; // all that arrives before the gate
    int64_t beside;           // bytes of it that are no video
    uint8_t levels[LEVELS];   // of the newest groups, as they arrive: of group g at g % LEVELS
    // Cutting off.
    int64_t promised; // the group that the first burst decided: a token bucket may have passed it
    bool cuts;        // the server sends again from a frame on
    int64_t again;    // requested; -1: nothing, or it has arrived
    int again_level;
    usec_t again_until; // it is given up then
    int64_t copies;     // the sequence number with which the last copies began
    int64_t copies_end; // the group behind those that were there before
    // The sample that is gathered.
    usec_t since; // USEC_NEVER: it begins with the next packet
    int64_t bytes;
    int64_t packets;
    int64_t slot, sequence;             // the newest
    int64_t first_slot, first_sequence; // when it began
    // The last action.
    bool begun;
    int requested_level;
    bool is_unsure; // whether the server took it: it is requested again
    double speed;
    usec_t speed_at;
    double slower;  // the speed before, if it was below 1; else 0
    usec_t lost_at; // when a sample last lacked packets; USEC_NEVER: none did
    double pace;    // of playing; `speed` counts multiples of it
    bool is_paced;  // the speed is not as fast as the level can follow
    bool full, overfull;
    bool tops_up;      // it was full, or nearly is
    bool due;          // a group began, or a sample was taken
    int64_t announced; // group of the last decision that was news
    struct abr_decision decision;
    usec_t buffered;
};

static const struct film_shape *shape_of(const struct abr_viewer *v)
{
    return film_table_shape(v->table);
}

static usec_t length_of(const struct abr_viewer *v)
{
    return film_table_length(v->table, 0);
}

// ---- Numbers

static int64_t film_frames(const struct abr_viewer *v)
{
    const struct film_shape *s = shape_of(v);
    return (s->groups - 1) * s->group_frames + s->last_frames;
}

static int64_t group_at(const struct abr_viewer *v, int64_t number)
{
    int64_t group = (number - v->base) / shape_of(v)->group_frames;
    int64_t last = shape_of(v)->groups - 1;
    return number < v->base ? 0 : group < last ? group : last;
}

static usec_t time_of(const struct abr_viewer *v, int64_t number)
{
    struct fps fps = shape_of(v)->fps;
    int64_t frame = number - v->base;
    usec_t media = frame < 0 ? -usec_of_frames(-frame, fps.num, fps.den)
                             : usec_of_frames(frame, fps.num, fps.den);
    return v->pace == 1 ? media : (usec_t)((double)media / v->pace);
}

// Returns the time in which so many frames are played.
static double seconds_of(const struct abr_viewer *v, int64_t frames)
{
    return (double)frames / fps_value(shape_of(v)->fps) / v->pace;
}

bool abr_viewer_adapts(const struct abr_viewer *v)
{
    return v->chosen == ABR_NO_LEVEL && shape_of(v)->levels > 1;
}

static double max_speed(const struct abr_viewer *v)
{
    return v->config.max_speed / v->pace;
}

// ---- Tables

static int make_table(const struct abr_viewer_config *c, struct film_table **out)
{
    const struct ladder *l = c->ladder;
    int64_t groups = (c->frames + c->group_frames - 1) / c->group_frames;
    const struct film_shape shape = {.levels = l->level_count,
                                     .groups = groups,
                                     .group_frames = c->group_frames,
                                     .last_frames =
                                         (int)(c->frames - (groups - 1) * c->group_frames),
                                     .fps = l->source_fps};
    int err = film_table_new(&shape, out);
    for (int64_t g = 0; g < groups && !err; g++)
        for (int i = 0; i < l->level_count && !err; i++) {
            double bytes = l->levels[i].bitrate_bps / 8.0 * usec_to_sec(film_table_length(*out, g));
            double most = fmin(fmax(bytes, 1), FILM_TABLE_MAX_BYTES);
            err = film_table_set(*out, g, i, (uint64_t)most, FILM_TABLE_NO_QUALITY);
        }
    return err;
}

static int make_policy(const struct abr_viewer *v, const struct film_table *table,
                       struct abr_policy **out)
{
    struct abr_config config = {.table = table, .target = v->config.target};
    for (int i = 0; i < v->config.ladder->level_count; i++)
        config.bitrates_bps[i] = v->config.ladder->levels[i].bitrate_bps;
    return abr_policy_new(v->config.policy, &config, out);
}

int abr_viewer_set_table(struct abr_viewer *v, struct film_table *table)
{
    const struct film_shape *s = film_table_shape(table);
    // The description has the film's length in seconds, so it may be a frame off.
    int64_t frames = (s->groups - 1) * s->group_frames + s->last_frames;
    struct abr_policy *policy;
    int err = llabs(frames - v->config.frames) > s->group_frames
                  ? ERR_RANGE
                  : film_table_check(table, v->config.ladder, s->groups, s->group_frames);
    if (!err)
        err = make_policy(v, table, &policy);
    if (err) {
        film_table_free(table);
        return err;
    }
    abr_policy_free(v->policy);
    film_table_free(v->table);
    v->policy = policy;
    v->table = table;
    film_table_set_pace(table, v->pace);
    v->has_table = true;
    v->due = true;
    v->announced = ABR_NO_GROUP;
    v->start = group_at(v, v->first);
    if (v->group != ABR_NO_GROUP) { // its groups may have another length
        v->group = group_at(v, v->slot);
        memset(v->levels, v->level, sizeof(v->levels));
    }
    v->copies_end = 0;
    for (int64_t i = v->told_count > SAMPLES ? v->told_count - SAMPLES : 0; i < v->told_count; i++)
        abr_policy_rate(policy, &v->told[i % SAMPLES].sample, v->told[i % SAMPLES].at);
    return 0;
}

bool abr_viewer_has_table(const struct abr_viewer *v)
{
    return v->has_table;
}

// ---- Where the viewer is

static void forget_sample(struct abr_viewer *v)
{
    v->since = USEC_NEVER;
    v->bytes = v->packets = 0;
}

void abr_viewer_limit_speed(struct abr_viewer *v, double max_speed)
{
    v->config.max_speed = max_speed;
}

void abr_viewer_set_pace(struct abr_viewer *v, double pace)
{
    v->speed *= v->pace / pace; // what was requested goes on
    v->pace = pace;
    film_table_set_pace(v->table, pace);
    v->due = true;
    forget_sample(v);
}

void abr_viewer_set_rtt(struct abr_viewer *v, usec_t rtt)
{
    v->rtt = rtt;
}

bool abr_viewer_awaits(const struct abr_viewer *v)
{
    return abr_policy_revises(v->policy) && abr_viewer_adapts(v);
}

void abr_viewer_await(struct abr_viewer *v, int64_t number)
{
    v->gate = number;
    v->first_bps = 0;
    v->cuts = true;
}

void abr_viewer_beside(struct abr_viewer *v, size_t bytes, usec_t now)
{
    if (v->gate < 0)
        return;
    v->beside += (int64_t)bytes;
    first_burst_add(&v->burst, bytes, now);
}

void abr_viewer_place(struct abr_viewer *v, int64_t number, int64_t frame, bool sought, usec_t now)
{
    if (!sought && v->placed) // a film that begins again has its own base, which the packets show
        return;
    v->placed = true;
    v->base = number - frame;
    v->group = v->announced = ABR_NO_GROUP;
    v->copies_end = 0;
    v->first = number;
    v->start = group_at(v, number);
    v->full = v->overfull = false;
    v->due = true;
    if (!sought)
        return;
    v->slot = v->copies = INT64_MIN;
    v->gate = v->again = -1;
    v->whole = 0;
    v->speed = 0; // of PLAY the caller may have requested another one
    forget_sample(v);
    abr_policy_seek(v->policy, v->start, now);
}

void abr_viewer_pause(struct abr_viewer *v, bool pause)
{
    v->paused = pause;
    v->gate = -1;
    v->due = true;
    forget_sample(v);
}

void abr_viewer_choose(struct abr_viewer *v, int level)
{
    v->chosen = level;
    v->gate = -1;
    v->due = true;
    v->announced = ABR_NO_GROUP;
    if (level != ABR_NO_LEVEL)
        v->requested_level = v->decision.level = level; // by the caller
}

// ---- What arrives

// Returns true if all before the gate has arrived.
static bool has_first(const struct abr_viewer *v)
{
    int frames = 0;
    for (int64_t n = v->first; n < v->gate; n++)
        frames += level_has_frame(v->config.ladder, v->level, n);
    return v->whole >= frames;
}

// Returns the bytes that are missing before the gate, by the table.
static double pending_first(const struct abr_viewer *v)
{
    double bytes = -(double)v->received;
    if (has_first(v))
        return 0;
    for (int64_t g = v->group == ABR_NO_GROUP ? v->start : v->group; g < group_at(v, v->gate); g++)
        bytes += (double)film_table_bytes(v->table, g, v->level);
    return fmax(bytes, 0);
}

static void complete_group(struct abr_viewer *v, usec_t now)
{
    const struct abr_group g = {.group = v->group,
                                .level = v->level,
                                .bytes = v->received,
                                .first_byte = v->rtt,
                                .duration = usec_max(v->group_until - v->group_since, 1) + v->rtt,
                                .buffered = v->buffered,
                                .abandoned_for = ABR_NO_LEVEL};
    abr_policy_group(v->policy, &g, now);
}

// The film began again: what is told of it continues at its beginning.
static void wrap(struct abr_viewer *v, int64_t number, usec_t now)
{
    int64_t frames = film_frames(v);
    if (number < v->base + frames)
        return;
    v->base += (number - v->base) / frames * frames;
    v->group = v->announced = ABR_NO_GROUP;
    v->copies_end = 0;
    abr_policy_seek(v->policy, 0, now);
}

bool abr_viewer_packet(struct abr_viewer *v, const struct abr_packet *p, usec_t now)
{
    wrap(v, p->number, now);
    int64_t group = group_at(v, p->number);
    if (v->again >= 0 && group == group_at(v, v->again) && p->level == v->again_level) {
        v->again = -1;
        v->group = ABR_NO_GROUP; // what arrived of it before is not of this copy
        v->slot = v->first_slot = p->slot;
        v->copies = p->sequence;
    }
    if (p->sequence < v->copies)
        group = -1; // what left before the copies
    if (group > v->group || (v->group == ABR_NO_GROUP && group >= 0)) {
        if (v->group != ABR_NO_GROUP)
            complete_group(v, now);
        v->group = group;
        v->received = 0;
        v->group_since = now;
        v->due = true;
    }
    if (group >= 0 && group == v->group) {
        v->level = ladder_has_level(v->config.ladder, p->level) ? p->level : 0;
        v->levels[group % LEVELS] = (uint8_t)v->level;
        v->received += (int64_t)p->bytes;
        v->group_until = now;
    }
    v->whole += p->last;
    if (v->gate >= 0)
        first_burst_add(&v->burst, p->bytes, now);
    bool newest = group >= 0 && (v->slot == INT64_MIN || p->slot > v->slot);
    v->slot = newest ? p->slot : v->slot;
    v->sequence = p->sequence > v->sequence || v->since == USEC_NEVER ? p->sequence : v->sequence;
    if (v->since == USEC_NEVER) { // the first one says when the others begin to arrive
        v->since = now;
        v->first_slot = v->slot;
        v->first_sequence = v->sequence;
    } else {
        v->bytes += (int64_t)p->bytes;
        v->packets++;
    }
    return v->due || (v->gate >= 0 && p->last && has_first(v));
}

// Returns true if nothing more of the film arrives.
static bool has_all(const struct abr_viewer *v)
{
    return v->group == shape_of(v)->groups - 1 && v->slot - v->base >= film_frames(v) - 1;
}

static bool lacks_packets(const struct abr_viewer *v)
{
    int64_t missing = v->sequence - v->first_sequence - v->packets;
    return missing * LOST > v->packets + missing;
}

// Returns true if the speed before may still be what arrives.
static bool is_changing(const struct abr_viewer *v, double media, usec_t duration)
{
    usec_t effect = v->speed_at + v->rtt;
    bool slow = media <= SLOWER_BY * v->slower * usec_to_sec(duration);
    return v->since < effect || (slow && v->since < effect + ABR_VIEWER_SILENCE);
}

static enum rate_limited_by limit_of(const struct abr_viewer *v, usec_t duration)
{
    double media = seconds_of(v, v->slot - v->first_slot);
    if (is_changing(v, media, duration))
        return RATE_LIMIT_MEDIA;
    if (lacks_packets(v))
        return RATE_LIMIT_NETWORK;
    return media < NETWORK_BELOW * v->speed * usec_to_sec(duration) ? RATE_LIMIT_NETWORK
                                                                    : RATE_LIMIT_MEDIA;
}

static void tell_sample(struct abr_viewer *v, const struct rate_sample *s, usec_t now)
{
    v->told[v->told_count++ % SAMPLES] = (struct told){*s, now};
    abr_policy_rate(v->policy, s, now);
    v->since = now;
    v->bytes = v->packets = 0;
    v->first_slot = v->slot;
    v->first_sequence = v->sequence;
}

// Takes what arrives before the gate as a sample, once the level is to be decided. At the lowest
// levels the audio is a large part of it, and so it is taken to be of what has arrived so far.
static void take_first_sample(struct abr_viewer *v, usec_t now)
{
    usec_t duration = first_burst_duration(&v->burst, now);
    double bps = first_burst_bps(&v->burst, v->rtt, now);
    double media = seconds_of(v, v->slot + 1 - v->first);
    double beside_bps = 8 * (double)v->beside / fmax(media, usec_to_sec(ABR_VIEWER_SAMPLE));
    bps -= fmin(beside_bps, bps * MOST_BESIDE);
    double comes = bps / 8 * usec_to_sec(v->rtt); // in a round trip
    bool is_long = first_burst_is_long(&v->burst, v->rtt, now);
    if (bps <= 0 || (!has_first(v) && !(is_long && pending_first(v) <= comes)))
        return;
    usec_t told = usec_max(duration, ABR_VIEWER_SAMPLE);
    const struct rate_sample s = {.bytes = (int64_t)(bps / 8 * usec_to_sec(told)),
                                  .duration = told,
                                  .limit = is_long ? RATE_LIMIT_NETWORK : RATE_LIMIT_MEDIA};
    tell_sample(v, &s, now);
    v->first_bps = bps;
}

static void take_sample(struct abr_viewer *v, usec_t now)
{
    if (v->since == USEC_NEVER || v->paused)
        return;
    if (v->gate >= 0) {
        take_first_sample(v, now);
        return;
    }
    if (has_all(v)) {
        forget_sample(v);
        return;
    }
    usec_t duration = now - v->since;
    usec_t paced = (usec_t)((double)ABR_VIEWER_PACED / fmin(fmax(v->speed, SLOWEST), 1));
    usec_t enough = v->is_paced ? paced : ABR_VIEWER_SAMPLE;
    if (duration < (v->bytes > 0 ? enough : usec_max(enough, ABR_VIEWER_SILENCE)))
        return;
    const struct rate_sample s = {
        .bytes = v->bytes, .duration = duration, .limit = limit_of(v, duration)};
    v->lost_at = lacks_packets(v) ? now : v->lost_at;
    tell_sample(v, &s, now);
    v->due |= abr_policy_revises(v->policy);
}

// ---- Decisions

// Says what is begun: all that leaves the sender before a request of now gets there.
static void state_of(const struct abr_viewer *v, const struct abr_buffer *b, struct abr_state *out)
{
    const struct film_table *t = v->table;
    int64_t groups = shape_of(v)->groups;
    double way = v->decision.estimate_bps / 8 * usec_to_sec(v->rtt);
    double pending = 0;
    int64_t next = v->group == ABR_NO_GROUP ? v->start : v->group + 1;
    if (v->group != ABR_NO_GROUP)
        pending = fmax((double)(film_table_bytes(t, v->group, v->level) - v->received), 0);
    // Before anything arrives, all that was requested counts as not begun.
    if (v->gate >= 0) {
        next = group_at(v, v->gate);
        pending = pending_first(v);
    }
    while (v->gate < 0 && v->group != ABR_NO_GROUP && next < groups && pending <= way &&
           next < v->group + SAMPLES) {
        int level = v->requested_level;
        pending += (double)film_table_bytes(t, next++, level);
    }
    usec_t at = b->number < 0 ? film_table_start(t, v->start) : time_of(v, b->number);
    int64_t shown = b->number < 0 ? v->start : group_at(v, b->number);
    *out = (struct abr_state){.next = next,
                              .shown = shown < next ? shown : next,
                              .buffered = b->media,
                              .begun = usec_max(film_table_start(t, next) - at, 0),
                              .pending_bytes = (int64_t)pending,
                              .rtt = v->rtt,
                              .playing = b->playing,
                              .with_rest = true,
                              .broken = ABR_NO_GROUP};
}

// Returns the rate of the last samples that the network limited; 0: they are too few. The more is
// buffered, the longer can be waited to see whether a dip lasts.
static double recent_bps(const struct abr_viewer *v, usec_t now)
{
    double bytes = 0;
    usec_t duration = 0, enough = usec_max(RECENT, v->buffered / 3);
    for (int64_t i = v->told_count; i > 0 && i > v->told_count - SAMPLES && duration < enough;) {
        const struct told *t = &v->told[--i % SAMPLES];
        if (t->sample.limit != RATE_LIMIT_NETWORK || t->at + 2 * enough < now)
            return 0;
        bytes += (double)t->sample.bytes;
        duration += t->sample.duration;
    }
    return duration < enough ? 0 : 8 * bytes / usec_to_sec(duration);
}

// The levels of what is shown next, up to what was begun, for abr_state.levels.
static const uint8_t *levels_of(const struct abr_viewer *v, const struct abr_state *s,
                                uint8_t out[LEVELS])
{
    if (s->next - s->shown > LEVELS)
        return NULL;
    for (int64_t g = s->shown; g < s->next; g++)
        out[g - s->shown] = g > v->group ? (uint8_t)v->requested_level : v->levels[g % LEVELS];
    return out;
}

// Cuts the last group that was begun off, if it is not shown yet.
static bool cut(struct abr_viewer *v, const struct abr_state *state, struct abr_decision *d,
                usec_t now)
{
    uint8_t levels[LEVELS];
    struct abr_state s = *state;
    int64_t group = s.next - 1;
    if (!v->cuts || !abr_viewer_adapts(v) || v->group == ABR_NO_GROUP || group <= s.shown)
        return false;
    double way = v->decision.estimate_bps / 8 * usec_to_sec(v->rtt);
    s.way_bytes = (int64_t)fmin(way, (double)s.pending_bytes);
    s.levels = levels_of(v, &s, levels);
    s.recent_bps = group == v->promised ? recent_bps(v, now) : 0;
    int level = abr_policy_cut(v->policy, &s, now);
    if (level == ABR_NO_LEVEL)
        return false;
    d->group = group;
    d->level = level;
    d->reason = ABR_STALL;
    return true;
}

// All from the decision's group on is requested again.
static void fetch_again(struct abr_viewer *v, const struct abr_decision *d, usec_t now)
{
    v->again = v->base + d->group * shape_of(v)->group_frames;
    v->again_level = d->level;
    v->again_until = now + ABR_VIEWER_AGAIN;
}

static void give_up_again(struct abr_viewer *v, usec_t now)
{
    if (v->again < 0 || now < v->again_until)
        return;
    v->again = -1;
    v->cuts = false;
    v->due = true;
    v->is_unsure = true;
}

static void fill_level(struct abr_viewer *v, const struct abr_buffer *b, usec_t media)
{
    usec_t target = v->config.target;
    usec_t room = usec_max(target - ROOM_GROUPS * length_of(v), target / 2);
    bool fits = b->bytes < ABR_VIEWER_FULL_BYTES && b->frames < ABR_VIEWER_FULL_FRAMES;
    bool is_far = b->bytes >= ABR_VIEWER_FULL_BYTES / 3 * 4 ||
                  b->frames >= ABR_VIEWER_FULL_FRAMES / 3 * 4 || media >= target + BEYOND;
    v->full = !fits || media >= (v->full ? room : target);
    v->tops_up = !v->full && media + length_of(v) >= room && media >= length_of(v);
    v->overfull = is_far || (v->overfull && (!fits || media >= target));
}

static double media_bps(const struct abr_viewer *v, const struct abr_decision *d)
{
    return 8 * (double)film_table_bytes(v->table, d->group, d->level) /
           usec_to_sec(film_table_length(v->table, d->group));
}

// Returns the speed that shows whether the path carries the next higher level.
static double probing_speed(const struct abr_viewer *v, const struct abr_decision *d)
{
    int above = d->level + 1;
    if (above == shape_of(v)->levels)
        return 0;
    return PROBE * (double)film_table_bytes(v->table, d->group, above) /
           (double)film_table_bytes(v->table, d->group, d->level);
}

// Below the top level a full buffer empties, to be filled again at a speed that shows what the path
// carries: at speed 1 a path that has become faster would never be noticed.
static double wanted_speed(const struct abr_viewer *v, const struct abr_decision *d)
{
    bool is_top = d->level == shape_of(v)->levels - 1;
    if (v->overfull)
        return SLOWEST;
    if (v->full)
        return is_top || !abr_viewer_adapts(v) ? 1 : SLOWEST;
    if (!abr_viewer_adapts(v))
        return fmin(v->buffered < FIXED_SOON ? FIXED_SPEED : FIXED_SPEED / 2, max_speed(v));
    double follows = usec_to_sec(length_of(v)) / 2 / usec_to_sec(v->rtt + 2 * ABR_VIEWER_SAMPLE);
    if (!abr_policy_revises(v->policy)) // it measures whole groups
        return max_speed(v);
    // What little has room is all that the path shows of itself. No more than that is to come in a
    // round trip: what comes beyond it delays the next time.
    if (v->tops_up)
        follows *= 2 * ROOM_GROUPS;
    if (d->pace_bps <= 0)
        return fmin(fmax(fmax(follows, probing_speed(v, d)), MIN_FAST), max_speed(v));
    return fmin(fmax(d->pace_bps / media_bps(v, d), MIN_PACE), max_speed(v));
}

// What such a transport sends beyond the path's rate is lost, and sent again on top of it.
static double speed_of(const struct abr_viewer *v, const struct abr_decision *d, usec_t now)
{
    double speed = wanted_speed(v, d);
    if (v->config.max_speed >= ABR_VIEWER_FAST || v->lost_at == USEC_NEVER || d->estimate_bps <= 0)
        return speed;
    double share = AFTER_LOSS + LOSS_OVER * usec_to_sec(now - v->lost_at);
    return fmax(fmin(speed, share * d->estimate_bps / media_bps(v, d)), SLOWEST);
}

static struct abr_buffer paced(const struct abr_viewer *v, const struct abr_buffer *b)
{
    struct abr_buffer out = *b;
    out.media = (usec_t)((double)b->media / v->pace);
    return out;
}

bool abr_viewer_run(struct abr_viewer *v, const struct abr_buffer *buffer, struct abr_action *out,
                    usec_t now)
{
    const struct abr_buffer played = paced(v, buffer), *b = &played;
    take_sample(v, now);
    give_up_again(v, now);
    struct abr_decision d = v->decision;
    struct abr_state s;
    uint8_t levels[LEVELS];
    state_of(v, b, &s);
    bool refills = v->group != ABR_NO_GROUP && s.next < v->copies_end && s.begun < b->media;
    fill_level(v, b, refills ? s.begun : b->media);
    v->buffered = b->media;
    if (v->paused || has_all(v))
        return false;
    bool opens = v->gate >= 0 && v->first_bps > 0;
    bool waits = (v->gate >= 0 && v->begun && !opens) || v->again >= 0;
    // What a cut would send again may be there, older and better, while it comes again.
    bool cuts = v->due && v->gate < 0 && !waits && !refills && cut(v, &s, &d, now);
    waits |= cuts;
    bool decides = (v->due || opens) && !waits && s.next < shape_of(v)->groups &&
                   (abr_policy_revises(v->policy) || s.next != v->announced);
    v->due = false;
    if (decides) {
        // The sender goes on at speed 1 while the policy would wait.
        usec_t room = v->config.target - film_table_length(v->table, s.next);
        s.begun = usec_min(s.begun, usec_max(room, 0));
        if (v->cuts && abr_viewer_adapts(v) && v->group != ABR_NO_GROUP && !refills)
            s.levels = levels_of(v, &s, levels);
        abr_policy_decide(v->policy, &s, &d, now);
        if (v->chosen != ABR_NO_LEVEL)
            d.level = v->chosen;
        if (!abr_viewer_adapts(v))
            d.reason = ABR_FIXED;
    } else if (!v->begun) {
        return false;
    }
    bool again = cuts || (decides && d.group < s.next);
    if (again)
        fetch_again(v, &d, now);
    if (again && !cuts)
        v->copies_end = s.next;
    bool news = decides && (s.next != v->announced || d.level != v->decision.level ||
                            d.reason != v->decision.reason);
    double speed = d.wait > 0 && !v->overfull ? 1 : speed_of(v, &d, now);
    if (!v->begun)
        speed = fmin(fmax(speed, ABR_VIEWER_FIRST / v->pace), max_speed(v));
    bool faster = !v->begun || fabs(speed - v->speed) > SPEED_STEP * v->speed;
    *out = (struct abr_action){.level = d.level,
                               .speed = (faster ? speed : v->speed) * v->pace,
                               .changes_level =
                                   !v->begun || v->is_unsure || d.level != v->requested_level,
                               .changes_speed = faster,
                               .again = again ? v->again : -1,
                               .awaited = opens,
                               .decided = news || again,
                               .decision = d,
                               .buffered = b->media};
    if (faster) {
        v->slower = v->speed < 1 ? v->speed : 0;
        v->speed = speed;
        v->speed_at = v->begun ? now : INT64_MIN / 2; // what arrives first is sent at this speed
    }
    v->is_paced = v->full || d.wait > 0 || d.pace_bps > 0;
    v->begun = true;
    v->requested_level = d.level;
    v->is_unsure = false;
    v->decision = d;
    v->announced = decides ? s.next : v->announced;
    if (opens) { // what comes next left the sender after a round trip without anything
        v->promised = group_at(v, v->gate);
        v->gate = -1;
        v->speed_at = now;
        forget_sample(v);
    }
    return news || opens || again || out->changes_level || out->changes_speed;
}

usec_t abr_viewer_resume(struct abr_viewer *v, const struct abr_buffer *b, bool stalled, usec_t now)
{
    struct abr_state s;
    if (!stalled)
        return ABR_VIEWER_RESUME;
    const struct abr_buffer played = paced(v, b);
    state_of(v, &played, &s);
    s.playing = false;
    return abr_policy_resumes(v->policy, &s, now) ? ABR_VIEWER_START : ABR_MAX_TARGET;
}

// ---- In words

static const char *words_of(const struct abr_viewer *v)
{
    const struct abr_decision *d = &v->decision;
    bool is_poor = d->estimate_bps > 0 && d->estimate_bps < media_bps(v, d);
    if (is_poor && !abr_viewer_adapts(v))
        return "the path carries less: playing stops at times";
    if (is_poor && d->level == 0)
        return "the path carries less than the lowest one: playing stops at times";
    switch (d->reason) {
    case ABR_START:
        return "nothing is known of the path yet";
    case ABR_RATE:
        return v->requested_level == v->config.ladder->level_count - 1
                   ? "the path carries it"
                   : "the path carries no higher one";
    case ABR_BUFFER:
        return "the buffer stays longer with it";
    case ABR_STALL:
        return "it gives a picture soonest";
    case ABR_REPAIR:
        return "a part is missing";
    case ABR_EXCHANGE:
        return "a better copy arrives in time";
    case ABR_FIXED:
        return v->chosen == ABR_NO_LEVEL ? "nothing to adapt" : "the viewer chose it";
    }
    return "";
}

void abr_viewer_text(const struct abr_viewer *v, char out[ABR_VIEWER_TEXT])
{
    out[0] = '\0';
    if (!v->begun)
        return;
    char path[64] = "not known", error[32] = ", error unknown", level[32] = "one level";
    double bps = v->decision.estimate_bps;
    if (v->decision.error <= 1) // after an outage it is of any size, and says nothing
        snprintf(error, sizeof(error), " +- %.0f %%", v->decision.error * 100);
    if (bps > 0)
        snprintf(path, sizeof(path), "%.*f %s%s", bps < 1e6 || bps >= 1e7 ? 0 : 2,
                 bps < 1e6 ? bps / 1e3 : bps / 1e6, bps < 1e6 ? "kbit/s" : "Mbit/s", error);
    if (shape_of(v)->levels > 1)
        snprintf(level, sizeof(level), "level %d of %d", v->requested_level,
                 shape_of(v)->levels - 1);
    snprintf(out, ABR_VIEWER_TEXT, "buffer %.1f of %.0f s, path %s, %s: %s",
             usec_to_sec(v->buffered), usec_to_sec(v->config.target), path, level, words_of(v));
}

// ---- Life

int abr_viewer_new(const struct abr_viewer_config *config, struct abr_viewer **out)
{
    assert(config->frames > 0 && config->group_frames > 0);
    struct abr_viewer *v = calloc(1, sizeof(*v));
    if (!v)
        return ERR_NO_MEMORY;
    v->config = *config;
    v->pace = 1;
    v->chosen = ABR_NO_LEVEL;
    v->group = v->announced = ABR_NO_GROUP;
    v->slot = v->copies = INT64_MIN;
    v->gate = v->again = -1;
    v->since = v->lost_at = USEC_NEVER;
    v->due = true;
    int err = make_table(config, &v->table);
    if (!err)
        err = make_policy(v, v->table, &v->policy);
    if (err) {
        abr_viewer_free(v);
        return err;
    }
    *out = v;
    return 0;
}

void abr_viewer_free(struct abr_viewer *v)
{
    if (!v)
        return;
    abr_policy_free(v->policy);
    film_table_free(v->table);
    free(v);
}
