// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/sound_playout.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "player/time_scale.h"

enum {
    FADE = SOUND_RATE / 200,           // 5 ms
    MOST_CONCEALED = 3 * SOUND_PACKET, // at a stretch; then silence
    CONCEAL_UNIT = SOUND_RATE / 400,   // of a decoder
    HELD = SOUND_MAX_PULL + TIME_SCALE_NEEDS + TIME_SCALE_MOST + SOUND_PACKET_MAX,
    PULLS = 128, // remembered
};

struct packet {
    int64_t position;
    int samples;
    size_t len;
    uint8_t data[];
};

struct pull {
    usec_t at;
    int64_t position; // -1 with count 0: silence
    int count;
};

struct sound_playout {
    const struct sound_decoding *decoding; // static
    void *ctx;                             // borrowed
    struct packet **packets;               // owned, SOUND_MAX_PACKETS, a ring, ascending positions
    int head;
    int count;
    size_t bytes; // of all of them
    bool runs;
    struct media_clock clock;
    bool ended;
    bool sounds;       // else silence
    bool dry;          // an underrun goes on
    int concealed_run; // samples since the last packet
    int fade_in;       // samples of it that are left
    int64_t next;      // position of pcm[0]
    int held;          // samples in pcm
    int16_t pcm[HELD * SOUND_CHANNELS];
    struct sound_counts counts;
    int pull_count; // ever
    struct pull pulls[PULLS];
};

// ---- Packets

static struct packet **slot(struct sound_playout *s, int i)
{
    return &s->packets[(s->head + i) % SOUND_MAX_PACKETS];
}

static void drop_first(struct sound_playout *s)
{
    s->bytes -= (*slot(s, 0))->len;
    free(*slot(s, 0));
    s->head = (s->head + 1) % SOUND_MAX_PACKETS;
    s->count--;
}

static void drop_last(struct sound_playout *s)
{
    struct packet *last = *slot(s, --s->count);
    s->bytes -= last->len;
    free(last);
    s->counts.refused++;
}

static bool has_room(const struct sound_playout *s, size_t len)
{
    return s->count < SOUND_MAX_PACKETS && s->bytes + len <= SOUND_MAX_BYTES;
}

// Its place is found from the back, where nearly all go.
static bool insert(struct sound_playout *s, struct packet *p)
{
    int i = s->count;
    while (i > 0 && (*slot(s, i - 1))->position > p->position)
        i--;
    if (i > 0 && (*slot(s, i - 1))->position == p->position)
        return false;
    while (!has_room(s, p->len) && s->count > i)
        drop_last(s);
    if (!has_room(s, p->len))
        return false;
    s->bytes += p->len;
    for (int k = s->count++; k > i; k--)
        *slot(s, k) = *slot(s, k - 1);
    *slot(s, i) = p;
    return true;
}

void sound_playout_push(struct sound_playout *s, int64_t position, const uint8_t *data, size_t len)
{
    int samples = s->decoding->samples(data, len);
    s->ended = false; // it goes on
    if (s->sounds && samples > 0 && position + samples <= s->next + s->held) {
        s->counts.late++;
        return;
    }
    struct packet *p = samples > 0 ? malloc(sizeof(*p) + len) : NULL;
    if (p) {
        *p = (struct packet){.position = position, .samples = samples, .len = len};
        memcpy(p->data, data, len);
        if (insert(s, p))
            return;
    }
    free(p);
    s->counts.refused++;
}

// ---- Samples

static int16_t *end_of(struct sound_playout *s)
{
    return s->pcm + s->held * SOUND_CHANNELS;
}

static void silence(int16_t *out, int count)
{
    memset(out, 0, (size_t)count * SOUND_CHANNELS * sizeof(*out));
}

static void drop_front(struct sound_playout *s, int count)
{
    s->held -= count;
    s->next += count;
    memmove(s->pcm, s->pcm + count * SOUND_CHANNELS,
            (size_t)s->held * SOUND_CHANNELS * sizeof(*s->pcm));
}

// The first packet follows on what is held, or overlaps it.
static void decode_first(struct sound_playout *s)
{
    struct packet *p = *slot(s, 0);
    int64_t overlap = s->next + s->held - p->position;
    int16_t *to = end_of(s);
    int samples = s->decoding->decode(s->ctx, p->data, p->len, to);
    if (samples <= 0) {
        samples = p->samples; // broken: as if it had not come
        silence(to, samples);
        s->counts.concealed += (uint64_t)samples;
    }
    if (overlap > 0) {
        int cut = overlap < samples ? (int)overlap : samples;
        samples -= cut;
        memmove(to, to + cut * SOUND_CHANNELS, (size_t)samples * SOUND_CHANNELS * sizeof(*to));
    }
    s->held += samples;
    s->dry = false;
    s->concealed_run = 0;
    drop_first(s);
}

static void conceal(struct sound_playout *s, int count)
{
    int16_t *to = end_of(s);
    int done = 0;
    if (s->concealed_run < MOST_CONCEALED && count % CONCEAL_UNIT == 0)
        done = s->decoding->conceal(s->ctx, count, to);
    if (done < count)
        silence(to + done * SOUND_CHANNELS, count - done);
    s->held += count;
    s->concealed_run += count;
    s->counts.concealed += (uint64_t)count;
}

static void decode_more(struct sound_playout *s)
{
    int64_t end = s->next + s->held;
    while (s->count && (*slot(s, 0))->position + (*slot(s, 0))->samples <= end) {
        s->counts.late++;
        drop_first(s);
    }
    int64_t gap = s->count ? (*slot(s, 0))->position - end : SOUND_PACKET;
    if (gap <= 0) {
        decode_first(s);
        return;
    }
    if (!s->count && s->ended) {
        silence(end_of(s), SOUND_PACKET);
        s->held += SOUND_PACKET;
        return;
    }
    if (!s->count && !s->dry) {
        s->dry = true;
        s->counts.underruns++;
    }
    conceal(s, gap < SOUND_PACKET ? (int)gap : SOUND_PACKET);
}

// Is there sound behind what is held, so that a splice does not call for what has not come?
static bool has_more(struct sound_playout *s, int count)
{
    if (s->held >= count)
        return true;
    return s->count && (*slot(s, s->count - 1))->position >= s->next + count;
}

// ---- The schedule

static void fade(int16_t *pcm, int count, int from, int step)
{
    for (int i = 0; i < count; i++) {
        int gain = from + i * step;
        for (int c = 0; c < SOUND_CHANNELS; c++) {
            int16_t *v = &pcm[i * SOUND_CHANNELS + c];
            *v = (int16_t)(*v * gain / FADE);
        }
    }
}

static void fade_out(struct sound_playout *s, int16_t *out, int count)
{
    int tail = count < FADE ? count : FADE;
    tail = tail < s->held ? tail : s->held;
    memcpy(out, s->pcm, (size_t)tail * SOUND_CHANNELS * sizeof(*out));
    fade(out, tail, FADE, -1);
    silence(out + tail * SOUND_CHANNELS, count - tail);
    s->sounds = false;
    s->held = 0;
}

// Samples of silence before the first that can be heard now; `count`: none can.
static int begin(struct sound_playout *s, int64_t wanted, int count)
{
    while (s->count && (*slot(s, 0))->position + (*slot(s, 0))->samples <= wanted)
        drop_first(s);
    int64_t ahead = s->count ? (*slot(s, 0))->position - wanted : count;
    if (ahead >= count)
        return count;
    s->decoding->reset(s->ctx);
    s->sounds = true;
    s->dry = false;
    s->concealed_run = 0;
    s->fade_in = FADE;
    s->held = 0;
    s->next = (*slot(s, 0))->position;
    decode_first(s);
    if (ahead < 0)
        drop_front(s, (int)(-ahead < s->held ? -ahead : s->held));
    return ahead > 0 ? (int)ahead : 0;
}

static void follow(struct sound_playout *s, int64_t error, int count)
{
    int apart = (int)llabs(error);
    int most = apart + SOUND_TOLERANCE;
    int needs = count > time_scale_needs(most) ? count : time_scale_needs(most);
    if (apart <= SOUND_TOLERANCE || !has_more(s, needs))
        return;
    while (s->held < needs)
        decode_more(s);
    int period = error < 0 ? time_scale_shorter(s->pcm, s->held, most)
                           : time_scale_longer(s->pcm, s->held, most);
    int change = error < 0 ? -period : period;
    s->held += change;
    s->next -= change;
    s->counts.spliced++;
}

static void emit(struct sound_playout *s, int16_t *out, int count)
{
    while (s->held < count)
        decode_more(s);
    memcpy(out, s->pcm, (size_t)count * SOUND_CHANNELS * sizeof(*out));
    if (s->fade_in > 0) {
        int ramp = count < s->fade_in ? count : s->fade_in;
        fade(out, ramp, FADE - s->fade_in, 1);
        s->fade_in -= ramp;
    }
    s->counts.heard += (uint64_t)count;
    drop_front(s, count);
}

static void remember(struct sound_playout *s, usec_t at, int64_t position, int count)
{
    s->pulls[s->pull_count % PULLS] = (struct pull){at, position, count};
    s->pull_count = s->pull_count == 2 * PULLS - 1 ? PULLS : s->pull_count + 1;
}

void sound_playout_pull(struct sound_playout *s, int16_t *out, int count, usec_t at)
{
    assert(count > 0 && count <= SOUND_MAX_PULL);
    int64_t wanted = s->runs ? sound_samples(media_clock_position(&s->clock, at)) : 0;
    if (s->sounds && (!s->runs || llabs(s->next - wanted) > SOUND_JUMP)) {
        s->counts.jumps += s->runs;
        fade_out(s, out, count);
        return;
    }
    int quiet = 0;
    if (s->sounds)
        follow(s, s->next - wanted, count);
    else
        quiet = s->runs ? begin(s, wanted, count) : count;
    silence(out, quiet);
    if (quiet == count)
        return;
    remember(s, at + sound_usec(quiet), s->next, count - quiet);
    emit(s, out + quiet * SOUND_CHANNELS, count - quiet);
}

void sound_playout_set_clock(struct sound_playout *s, const struct media_clock *clock)
{
    s->runs = clock;
    if (clock)
        s->clock = *clock;
}

void sound_playout_flush(struct sound_playout *s)
{
    while (s->count)
        drop_first(s);
    s->runs = false;
}

void sound_playout_end(struct sound_playout *s)
{
    s->ended = true;
}

bool sound_playout_is_heard(const struct sound_playout *s)
{
    return s->sounds;
}

bool sound_playout_heard_at(const struct sound_playout *s, int64_t position, usec_t *at)
{
    for (int i = 0; i < PULLS && i < s->pull_count; i++) {
        const struct pull *p = &s->pulls[i];
        if (position < p->position || position >= p->position + p->count)
            continue;
        *at = p->at + sound_usec(position - p->position);
        return true;
    }
    return false;
}

const struct sound_counts *sound_playout_counts(const struct sound_playout *s)
{
    return &s->counts;
}

// ---- Life

struct sound_playout *sound_playout_new(const struct sound_decoding *decoding, void *ctx)
{
    struct sound_playout *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->packets = calloc(SOUND_MAX_PACKETS, sizeof(struct packet *));
    if (!s->packets) {
        free(s);
        return NULL;
    }
    s->decoding = decoding;
    s->ctx = ctx;
    return s;
}

void sound_playout_free(struct sound_playout *s)
{
    if (!s)
        return;
    while (s->count)
        drop_first(s);
    free(s->packets);
    free(s);
}
