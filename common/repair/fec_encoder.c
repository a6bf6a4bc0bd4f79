// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/repair/fec_encoder.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/seq.h"
#include "common/repair/fec_code.h"

struct covered {
    int64_t seq; // extended; -1: none
    int64_t frame;
    size_t len;                    // with FEC_LENGTH
    uint8_t bytes[FEC_MAX_PARITY]; // length, packet, zeros
};

struct fec_encoder {
    struct covered packets[FEC_MAX_SPAN]; // by the sequence number modulo the size
    int64_t newest;                       // extended; -1: none
    uint8_t number;                       // of the next parity
};

struct fec_encoder *fec_encoder_new(void)
{
    struct fec_encoder *e = malloc(sizeof(*e));
    if (!e)
        return NULL;
    e->newest = -1;
    e->number = 0;
    for (int i = 0; i < FEC_MAX_SPAN; i++)
        e->packets[i].seq = -1;
    return e;
}

void fec_encoder_free(struct fec_encoder *e)
{
    free(e);
}

bool fec_encoder_add(struct fec_encoder *e, uint16_t seq, int64_t frame, const uint8_t *head,
                     size_t head_len, const uint8_t *body, size_t body_len)
{
    size_t len = head_len + body_len;
    if (len > FEC_MAX_PACKET)
        return false;
    // The first number is moved away from zero, so that -1 is before all.
    e->newest = e->newest < 0 ? (1 << 16) + seq : seq16_extend(e->newest, seq);
    struct covered *c = &e->packets[e->newest % FEC_MAX_SPAN];
    c->seq = e->newest;
    c->frame = frame;
    c->len = FEC_LENGTH + len;
    store_be16(c->bytes, (uint16_t)len);
    memcpy(c->bytes + FEC_LENGTH, head, head_len);
    if (body_len > 0)
        memcpy(c->bytes + FEC_LENGTH + head_len, body, body_len);
    memset(c->bytes + c->len, 0, sizeof(c->bytes) - c->len);
    return true;
}

// Collects the packets of the last `frames` frames in `out`, newest first. Returns how many.
static int collect(const struct fec_encoder *e, int frames, const struct covered **out)
{
    int count = 0;
    int64_t frame = 0;
    for (int64_t s = e->newest; s >= 0 && s > e->newest - FEC_MAX_SPAN; s--) {
        const struct covered *c = &e->packets[s % FEC_MAX_SPAN];
        if (c->seq != s)
            continue;
        if (count == 0 || c->frame != frame) {
            if (frames-- <= 0)
                break;
            frame = c->frame;
        }
        out[count++] = c;
    }
    return count;
}

int fec_encoder_covered(const struct fec_encoder *e, int frames)
{
    const struct covered *packets[FEC_MAX_SPAN];
    return collect(e, frames, packets);
}

size_t fec_encoder_parity(struct fec_encoder *e, int frames, uint8_t *out, size_t cap)
{
    const struct covered *packets[FEC_MAX_SPAN];
    int count = collect(e, frames, packets);
    if (count == 0)
        return 0;
    int64_t base = packets[count - 1]->seq;
    struct fec_header h = {
        .base = (uint16_t)base, .span = (uint8_t)(e->newest - base + 1), .number = e->number};
    uint8_t factors[FEC_MAX_SPAN];
    uint8_t *inputs[FEC_MAX_SPAN];
    size_t longest = FEC_MIN_PARITY;
    for (int i = 0; i < count; i++) {
        int at = (int)(packets[i]->seq - base);
        h.mask[at / 8] |= (uint8_t)(0x80 >> at % 8);
        factors[i] = fec_factor(e->number, (uint16_t)packets[i]->seq);
        inputs[i] = (uint8_t *)(uintptr_t)packets[i]->bytes; // ISA-L only reads it
        longest = packets[i]->len > longest ? packets[i]->len : longest;
    }
    size_t head = fec_header_bytes(&h);
    if (head + longest > cap)
        return 0;
    uint8_t *parity = out + fec_header_encode(&h, out);
    uint8_t tables[FEC_MAX_SPAN * FEC_TABLE];
    ec_init_tables(count, 1, factors, tables);
    ec_encode_data((int)longest, count, 1, tables, inputs, &parity);
    e->number = (uint8_t)((e->number + 1) % 128);
    return head + longest;
}
