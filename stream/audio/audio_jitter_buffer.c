// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/audio/audio_jitter_buffer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "stream/audio/time_stretch.h"

enum {
    PACED = MEDIA_CLOCK_UNIT / 10,     // from speed 1 on, which the viewer must have chosen
    PACED_PULL = AUDIO_RATE / 100,     // then audio follows the clock in such steps
    PACED_SPLICES = 8,                 // of the shortest period at twice the speed: 4 and a rest
    FADE = AUDIO_RATE / 200,           // 5 ms
    MOST_CONCEALED = 3 * AUDIO_PACKET, // max samples concealed in a row; then silence
    CONCEAL_UNIT = AUDIO_RATE / 400,   // decoders conceal multiples of this
    HELD = AUDIO_MAX_PULL + TIME_STRETCH_NEEDS + TIME_STRETCH_MOST + AUDIO_PACKET_MAX,
    PULLS = 128, // pulls remembered
    LEAST_SEARCHED =
        AUDIO_RATE / 160, // samples; the longest period that a splice must know: 160 Hz
};

struct packet {
    int64_t position;
    int samples;
    size_t len;
    uint8_t data[];
};

struct pull {
    usec_t at;
    int64_t position; // -1 if count is 0: silence
    int count;
};

struct audio_jitter_buffer {
    const struct audio_decoding *decoding; // static
    void *ctx;                             // borrowed
    struct packet **packets;               // owned; ring of AUDIO_MAX_PACKETS in ascending order of
                                           // position
    int head;
    int count;
    size_t bytes; // bytes of all packets
    bool runs;
    struct media_clock clock;
    bool ended;
    bool plays;        // false: silence
    bool dry;          // an underrun continues
    int concealed_run; // samples concealed since the last packet
    int64_t ahead;     // samples by which audio is ahead of the clock; while it plays
    int waited;        // samples concealed in this underrun that took none of the media's time
    int fade_in;       // samples that remain of the fade-in at the start
    int rising;        // of the one after the silence of an underrun, of samples not decoded yet
    int64_t next;      // position of pcm[0]
    int held;          // number of samples in pcm
    int16_t pcm[HELD * AUDIO_CHANNELS];
    struct audio_counts counts;
    int pull_count; // number of pulls so far
    struct pull pulls[PULLS];
};

// ---- Packets

static struct packet **slot(struct audio_jitter_buffer *s, int i)
{
    return &s->packets[(s->head + i) % AUDIO_MAX_PACKETS];
}

static void drop_first(struct audio_jitter_buffer *s)
{
    s->bytes -= (*slot(s, 0))->len;
    free(*slot(s, 0));
    s->head = (s->head + 1) % AUDIO_MAX_PACKETS;
    s->count--;
}

static void drop_last(struct audio_jitter_buffer *s)
{
    struct packet *last = *slot(s, --s->count);
    s->bytes -= last->len;
    free(last);
    s->counts.refused++;
}

static bool has_room(const struct audio_jitter_buffer *s, size_t len)
{
    return s->count < AUDIO_MAX_PACKETS && s->bytes + len <= AUDIO_MAX_BYTES;
}

// Searches the position from the back, as nearly all packets belong there.
static bool insert(struct audio_jitter_buffer *s, struct packet *p)
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

void audio_jitter_buffer_push(struct audio_jitter_buffer *s, int64_t position, const uint8_t *data,
                              size_t len)
{
    int samples = s->decoding->samples(data, len);
    s->ended = false; // the stream continues
    if (s->plays && samples > 0 && position + samples <= s->next + s->held) {
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

static int16_t *end_of(struct audio_jitter_buffer *s)
{
    return s->pcm + s->held * AUDIO_CHANNELS;
}

static void silence(int16_t *out, int count)
{
    memset(out, 0, (size_t)count * AUDIO_CHANNELS * sizeof(*out));
}

static void drop_front(struct audio_jitter_buffer *s, int count)
{
    s->held -= count;
    s->next += count;
    memmove(s->pcm, s->pcm + count * AUDIO_CHANNELS,
            (size_t)s->held * AUDIO_CHANNELS * sizeof(*s->pcm));
}

static void fade(int16_t *pcm, int count, int from, int step)
{
    for (int i = 0; i < count; i++) {
        int gain = from + i * step;
        for (int c = 0; c < AUDIO_CHANNELS; c++) {
            int16_t *v = &pcm[i * AUDIO_CHANNELS + c];
            *v = (int16_t)(*v * gain / FADE);
        }
    }
}

// Fades from `from` to the samples at `pcm`.
static void fade_over(int16_t *pcm, const int16_t *from, int count)
{
    for (int i = 0; i < count * AUDIO_CHANNELS; i++) {
        int k = i / AUDIO_CHANNELS;
        pcm[i] = (int16_t)((from[i] * (count - k) + pcm[i] * k) / count);
    }
}

// Decodes the first packet, which continues or overlaps the decoded samples. A decoder joins a
// packet's beginning to what it concealed before; where the beginning is cut off, its further
// concealment fades into what is left.
static void decode_first(struct audio_jitter_buffer *s)
{
    struct packet *p = *slot(s, 0);
    int64_t overlap = s->next + s->held - p->position;
    int16_t *to = end_of(s);
    int16_t further[CONCEAL_UNIT * AUDIO_CHANNELS];
    bool joins = overlap > 0 && s->concealed_run > 0 && s->concealed_run < MOST_CONCEALED &&
                 s->decoding->conceal(s->ctx, CONCEAL_UNIT, further) == CONCEAL_UNIT;
    int samples = s->decoding->decode(s->ctx, p->data, p->len, to);
    if (samples <= 0) {
        samples = p->samples; // a packet that does not decode counts as missing
        silence(to, samples);
        s->counts.concealed += (uint64_t)samples;
    }
    if (overlap > 0) {
        int cut = overlap < samples ? (int)overlap : samples;
        samples -= cut;
        memmove(to, to + cut * AUDIO_CHANNELS, (size_t)samples * AUDIO_CHANNELS * sizeof(*to));
    }
    if (joins)
        fade_over(to, further, samples < CONCEAL_UNIT ? samples : CONCEAL_UNIT);
    if (s->concealed_run >= MOST_CONCEALED) // after silence
        s->rising = FADE;
    int rise = samples < s->rising ? samples : s->rising;
    fade(to, rise, FADE - s->rising, 1);
    s->rising -= rise;
    s->held += samples;
    s->dry = false;
    s->waited = 0;
    s->concealed_run = 0;
    drop_first(s);
}

// Conceals `count` samples or up to CONCEAL_UNIT - 1 more, which a packet then overlaps.
static void conceal(struct audio_jitter_buffer *s, int count)
{
    int16_t *to = end_of(s);
    count += (CONCEAL_UNIT - count % CONCEAL_UNIT) % CONCEAL_UNIT;
    bool heard = s->concealed_run < MOST_CONCEALED;
    int done = heard ? s->decoding->conceal(s->ctx, count, to) : 0;
    silence(to + done * AUDIO_CHANNELS, count - done);
    s->concealed_run += count;
    if (heard && s->concealed_run >= MOST_CONCEALED) { // silence follows
        int tail = count < FADE ? count : FADE;
        fade(to + (count - tail) * AUDIO_CHANNELS, tail, FADE, -FADE / tail);
    }
    s->held += count;
    s->counts.concealed += (uint64_t)count;
}

// Decodes or conceals more samples. `count`: as many are needed.
static void decode_more(struct audio_jitter_buffer *s, int count)
{
    int64_t end = s->next + s->held;
    while (s->count && (*slot(s, 0))->position + (*slot(s, 0))->samples <= end) {
        s->counts.late++;
        drop_first(s);
    }
    int64_t gap = s->count ? (*slot(s, 0))->position - end : AUDIO_PACKET;
    if (gap <= 0) {
        decode_first(s);
        return;
    }
    if (!s->count && s->ended) {
        silence(end_of(s), AUDIO_PACKET);
        s->held += AUDIO_PACKET;
        return;
    }
    if (!s->count && !s->dry) {
        s->dry = true;
        s->counts.underruns++;
    }
    if (s->count) {
        conceal(s, gap < AUDIO_PACKET ? (int)gap : AUDIO_PACKET);
        return;
    }
    int before = s->held;
    conceal(s, count < AUDIO_PACKET ? count : AUDIO_PACKET);
    int64_t waits = s->ahead + AUDIO_WAIT;
    waits = waits < s->held - before ? waits : s->held - before;
    if (waits <= 0)
        return;
    s->next -= waits;
    s->ahead -= waits;
    s->waited += (int)waits;
}

// Returns how many samples from the next one on can be played, as far as no packet between is
// missing.
static int64_t available(struct audio_jitter_buffer *s)
{
    if (!s->count)
        return s->held;
    const struct packet *last = *slot(s, s->count - 1);
    return last->position + last->samples - s->next;
}

// ---- The schedule

static void fade_out(struct audio_jitter_buffer *s, int16_t *out, int count)
{
    int tail = count < FADE ? count : FADE;
    if (s->held < tail && s->count)
        decode_more(s, tail - s->held);
    else if (s->held < tail)
        conceal(s, tail - s->held);
    tail = tail < s->held ? tail : s->held;
    memcpy(out, s->pcm, (size_t)tail * AUDIO_CHANNELS * sizeof(*out));
    fade(out, tail, FADE, -1);
    silence(out + tail * AUDIO_CHANNELS, count - tail);
    s->plays = false;
    s->held = 0;
}

// Returns the number of samples of silence before the first sample that can be played now; `count`:
// none can.
static int begin(struct audio_jitter_buffer *s, int64_t wanted, int count)
{
    while (s->count && (*slot(s, 0))->position + (*slot(s, 0))->samples <= wanted)
        drop_first(s);
    int64_t ahead = s->count ? (*slot(s, 0))->position - wanted : count;
    if (ahead >= count)
        return count;
    s->decoding->reset(s->ctx);
    s->plays = true;
    s->dry = false;
    s->waited = 0;
    s->concealed_run = 0;
    s->fade_in = FADE;
    s->rising = 0;
    s->held = 0;
    s->next = (*slot(s, 0))->position;
    decode_first(s);
    if (ahead < 0)
        drop_front(s, (int)(-ahead < s->held ? -ahead : s->held));
    return ahead > 0 ? (int)ahead : 0;
}

// Returns true if what is played next is decoded already and is silence.
static bool is_silence(const struct audio_jitter_buffer *s)
{
    for (int i = 0; i < s->held * AUDIO_CHANNELS; i++)
        if (abs(s->pcm[i]) > AUDIO_SILENCE)
            return false;
    return s->held > 0;
}

// Returns true if it moved the audio towards the clock.
static bool follow(struct audio_jitter_buffer *s, int64_t error)
{
    int apart = (int)llabs(error);
    if (apart <= (is_silence(s) ? AUDIO_TOLERANCE : AUDIO_TOLERANCE_HEARD))
        return false;
    int most = apart + AUDIO_TOLERANCE;
    if (time_stretch_needs(most) > available(s)) {
        most = time_stretch_fits((int)available(s));
        if (most < LEAST_SEARCHED)
            return false;
    }
    int needs = time_stretch_needs(most);
    while (s->held < needs)
        decode_more(s, needs - s->held);
    int period = error < 0 ? time_stretch_shorter(s->pcm, s->held, most)
                           : time_stretch_longer(s->pcm, s->held, most);
    int change = error < 0 ? -period : period;
    s->held += change;
    s->next -= change;
    s->counts.spliced++;
    return true;
}

// A later packet than the one that was waited for has arrived: that one is lost.
static void end_wait(struct audio_jitter_buffer *s)
{
    int64_t gap = s->count ? (*slot(s, 0))->position - s->next - s->held : 0;
    if (gap <= 0)
        return;
    int lost = gap < s->waited ? (int)gap : s->waited;
    s->next += lost;
    s->waited -= lost;
}

static void emit(struct audio_jitter_buffer *s, int16_t *out, int count)
{
    while (s->held < count)
        decode_more(s, count - s->held);
    memcpy(out, s->pcm, (size_t)count * AUDIO_CHANNELS * sizeof(*out));
    if (s->fade_in > 0) {
        int ramp = count < s->fade_in ? count : s->fade_in;
        fade(out, ramp, FADE - s->fade_in, 1);
        s->fade_in -= ramp;
    }
    s->counts.heard += (uint64_t)count;
    drop_front(s, count);
}

static void remember(struct audio_jitter_buffer *s, usec_t at, int64_t position, int count)
{
    s->pulls[s->pull_count % PULLS] = (struct pull){at, position, count};
    s->pull_count = s->pull_count == 2 * PULLS - 1 ? PULLS : s->pull_count + 1;
}

static void pull(struct audio_jitter_buffer *s, int16_t *out, int count, usec_t at, int splices)
{
    end_wait(s);
    int64_t wanted = s->runs ? audio_samples(media_clock_position(&s->clock, at)) : 0;
    if (s->plays && (!s->runs || llabs(s->next - wanted) > AUDIO_JUMP)) {
        s->counts.jumps += s->runs;
        fade_out(s, out, count);
        return;
    }
    int quiet = 0;
    if (s->plays)
        for (int i = 0; i < splices && follow(s, s->next - wanted); i++)
            ;
    else
        quiet = s->runs ? begin(s, wanted, count) : count;
    s->ahead = s->next - wanted;
    silence(out, quiet);
    if (quiet == count)
        return;
    remember(s, at + audio_usec(quiet), s->next, count - quiet);
    emit(s, out + quiet * AUDIO_CHANNELS, count - quiet);
}

void audio_jitter_buffer_pull(struct audio_jitter_buffer *s, int16_t *out, int count, usec_t at)
{
    assert(count > 0 && count <= AUDIO_MAX_PULL);
    bool paced = s->runs && abs(s->clock.speed_ppm - MEDIA_CLOCK_UNIT) > PACED;
    int most = paced ? PACED_PULL : count;
    for (int done = 0; done < count; done += most) {
        int part = count - done < most ? count - done : most;
        pull(s, out + done * AUDIO_CHANNELS, part, at + audio_usec(done),
             paced ? PACED_SPLICES : 1);
    }
}

void audio_jitter_buffer_set_clock(struct audio_jitter_buffer *s, const struct media_clock *clock)
{
    s->runs = clock;
    if (clock)
        s->clock = *clock;
}

void audio_jitter_buffer_flush(struct audio_jitter_buffer *s)
{
    while (s->count)
        drop_first(s);
    s->runs = false;
}

void audio_jitter_buffer_end(struct audio_jitter_buffer *s)
{
    s->ended = true;
}

bool audio_jitter_buffer_is_heard(const struct audio_jitter_buffer *s)
{
    return s->plays;
}

bool audio_jitter_buffer_heard_at(const struct audio_jitter_buffer *s, int64_t position, usec_t *at)
{
    for (int i = 0; i < PULLS && i < s->pull_count; i++) {
        const struct pull *p = &s->pulls[i];
        if (position < p->position || position >= p->position + p->count)
            continue;
        *at = p->at + audio_usec(position - p->position);
        return true;
    }
    return false;
}

const struct audio_counts *audio_jitter_buffer_counts(const struct audio_jitter_buffer *s)
{
    return &s->counts;
}

// ---- Life

struct audio_jitter_buffer *audio_jitter_buffer_new(const struct audio_decoding *decoding,
                                                    void *ctx)
{
    struct audio_jitter_buffer *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->packets = calloc(AUDIO_MAX_PACKETS, sizeof(struct packet *));
    if (!s->packets) {
        free(s);
        return NULL;
    }
    s->decoding = decoding;
    s->ctx = ctx;
    return s;
}

void audio_jitter_buffer_free(struct audio_jitter_buffer *s)
{
    if (!s)
        return;
    while (s->count)
        drop_first(s);
    free(s->packets);
    free(s);
}
