// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/http/film_audio.h"

#include "common/base/err.h"
#include "media/audio/aac_encoder.h"
#include "media/audio/audio_decoder.h"

enum {
    SETTLE = AUDIO_RATE / 10, // samples that the decoder gets before those that are used
    BEFORE = 4 * AAC_FRAME,   // samples that the encoder gets before the span
    AFTER = 4 * AAC_FRAME,    // and behind it: it looks ahead
};

static int add(struct cmaf_chunk *out, int64_t time, int samples, const void *data, size_t bytes)
{
    struct cmaf_sample sample = {.time = time, .duration = samples, .key = true};
    if (out->count > 0 && time <= out->samples[out->count - 1].time)
        return 0;
    return cmaf_chunk_add(out, &sample, data, bytes);
}

int film_audio_opus(const struct film_span *s, struct cmaf_chunk *out)
{
    int err = 0;
    for (int g = 0; g < 3; g++) {
        for (int i = 0; s->groups[g] && i < s->groups[g]->audio_count && !err; i++) {
            const struct coded_audio *c = s->groups[g]->audio[i];
            int samples = audio_packet_samples(c->data, c->bytes);
            if (samples && c->position >= s->begin && c->position < s->end)
                err = add(out, c->position + s->delay, samples, c->data, c->bytes);
        }
    }
    return err;
}

struct transcoder {
    const struct film_span *span;
    struct cmaf_chunk *out;
    struct audio_decoder *decoder;
    struct aac_encoder *encoder;
    int64_t next; // position of the encoder's next sample
    int err;
};

static void encode(struct transcoder *t, const int16_t *pcm, int count)
{
    struct aac_packet p;
    aac_encoder_push(t->encoder, t->next, pcm, count);
    t->next += count;
    while (aac_encoder_pull(t->encoder, &p) && !t->err)
        if (p.position >= t->span->begin && p.position < t->span->end)
            t->err = add(t->out, p.position + t->span->delay, AAC_FRAME, p.data, p.bytes);
}

static void encode_silence(struct transcoder *t, int64_t until)
{
    static const int16_t silence[AUDIO_PACKET * AUDIO_CHANNELS];
    while (t->next < until && !t->err)
        encode(t, silence, (int)(until - t->next < AUDIO_PACKET ? until - t->next : AUDIO_PACKET));
}

static void take(struct transcoder *t, const struct coded_audio *c)
{
    int16_t pcm[AUDIO_PACKET_MAX * AUDIO_CHANNELS];
    int count = audio_decoder_decode(t->decoder, c->data, c->bytes, pcm);
    int64_t end = c->position + count;
    if (c->position > t->next)
        encode_silence(t, c->position);
    if (end <= t->next) // it only settles the decoder, or there was silence in its place
        return;
    int64_t skip = t->next - c->position;
    encode(t, pcm + skip * AUDIO_CHANNELS, (int)(end - t->next));
}

int film_audio_aac(const struct film_span *s, int bitrate_bps, struct cmaf_chunk *out)
{
    int64_t first = (s->begin + AAC_FRAME - 1) / AAC_FRAME * AAC_FRAME - BEFORE;
    struct transcoder t = {.span = s,
                           .out = out,
                           .decoder = audio_decoder_new(),
                           .encoder = aac_encoder_new(bitrate_bps),
                           .next = first,
                           .err = ERR_NO_MEMORY};
    if (!t.decoder || !t.encoder)
        goto free_both;
    t.err = 0;
    for (int g = 0; g < 3; g++) {
        for (int i = 0; s->groups[g] && i < s->groups[g]->audio_count && !t.err; i++) {
            const struct coded_audio *c = s->groups[g]->audio[i];
            if (c->position >= first - SETTLE && c->position < s->end + AFTER)
                take(&t, c);
        }
    }
    encode_silence(&t, s->end + AFTER); // behind the end of the audio

free_both:
    if (t.decoder)
        audio_decoder_free(t.decoder);
    aac_encoder_free(t.encoder);
    return t.err;
}
