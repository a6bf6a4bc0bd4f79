// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/repair/fec_decoder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/base/seq.h"
#include "common/repair/fec_code.h"

enum { INPUTS = FEC_MAX_SPAN + FEC_DECODER_PARITY };

struct known {
    int64_t seq;                   // extended; -1: none
    size_t len;                    // with FEC_LENGTH
    bool fresh;                    // recovered, and not taken yet
    uint8_t bytes[FEC_MAX_PARITY]; // length, packet, zeros
};

struct parity {
    int64_t base; // extended
    struct fec_header head;
    size_t len;
    uint8_t bytes[FEC_MAX_PARITY]; // parity, zeros
};

// The equations, one a parity packet. `factor` is a column for each missing packet; `sum` says of
// which parity packets the row has become the sum, times which factors.
struct row {
    uint8_t factor[FEC_MAX_SPAN];
    uint8_t sum[FEC_DECODER_PARITY];
};

struct fec_decoder {
    struct known packets[FEC_MAX_SPAN];       // by the sequence number modulo the size
    int64_t newest;                           // extended: of a packet, or covered; -1: none
    struct parity parity[FEC_DECODER_PARITY]; // oldest first
    int parity_count;
    struct fec_decoder_stats stats;
    // Of one elimination:
    struct row rows[FEC_DECODER_PARITY];
    int64_t missing[FEC_MAX_SPAN];
    int missing_count;
    uint8_t tables[INPUTS * FEC_TABLE];
};

struct fec_decoder *fec_decoder_new(void)
{
    struct fec_decoder *d = calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    d->newest = -1;
    for (int i = 0; i < FEC_MAX_SPAN; i++)
        d->packets[i].seq = -1;
    return d;
}

void fec_decoder_free(struct fec_decoder *d)
{
    free(d);
}

static struct known *known_of(struct fec_decoder *d, int64_t seq)
{
    struct known *k = &d->packets[seq % FEC_MAX_SPAN];
    return k->seq == seq ? k : NULL;
}

static void remove_parity(struct fec_decoder *d, int i)
{
    d->parity_count--;
    memmove(&d->parity[i], &d->parity[i + 1], (size_t)(d->parity_count - i) * sizeof(d->parity[0]));
}

// Removes parity that covers nothing missing, or a packet that is no longer kept.
static void remove_useless(struct fec_decoder *d)
{
    for (int i = d->parity_count - 1; i >= 0; i--) {
        const struct parity *p = &d->parity[i];
        bool useful = false;
        for (int j = 0; j < p->head.span && p->base > d->newest - FEC_MAX_SPAN; j++)
            useful |= fec_header_covers(&p->head, j) && !known_of(d, p->base + j);
        if (!useful)
            remove_parity(d, i);
    }
}

static int column_of(struct fec_decoder *d, int64_t seq)
{
    for (int i = 0; i < d->missing_count; i++)
        if (d->missing[i] == seq)
            return i;
    d->missing[d->missing_count] = seq;
    return d->missing_count++;
}

static void set_up(struct fec_decoder *d)
{
    d->missing_count = 0;
    memset(d->rows, 0, (size_t)d->parity_count * sizeof(d->rows[0]));
    for (int i = 0; i < d->parity_count; i++) {
        const struct parity *p = &d->parity[i];
        d->rows[i].sum[i] = 1;
        for (int j = 0; j < p->head.span; j++) {
            int64_t seq = p->base + j;
            if (fec_header_covers(&p->head, j) && !known_of(d, seq))
                d->rows[i].factor[column_of(d, seq)] = fec_factor(p->head.number, (uint16_t)seq);
        }
    }
}

// row += factor * other, in GF(2^8).
static void add_row(struct fec_decoder *d, struct row *row, uint8_t factor, const struct row *other)
{
    for (int c = 0; c < d->missing_count; c++)
        row->factor[c] ^= gf_mul(factor, other->factor[c]);
    for (int i = 0; i < d->parity_count; i++)
        row->sum[i] ^= gf_mul(factor, other->sum[i]);
}

// Gauss and Jordan: afterwards each of the first rows, whose number is returned, has a column of
// its own in which it is 1 and all other rows are 0.
static int eliminate(struct fec_decoder *d)
{
    int rank = 0;
    for (int c = 0; c < d->missing_count && rank < d->parity_count; c++) {
        int pivot = rank;
        while (pivot < d->parity_count && d->rows[pivot].factor[c] == 0)
            pivot++;
        if (pivot == d->parity_count)
            continue;
        struct row row = d->rows[pivot];
        d->rows[pivot] = d->rows[rank];
        // row * 1 / f is row + (1 + 1 / f) * row, as 1 + 1 is 0.
        struct row before = row;
        add_row(d, &row, gf_inv(row.factor[c]) ^ 1, &before);
        d->rows[rank] = row;
        for (int i = 0; i < d->parity_count; i++)
            if (i != rank && d->rows[i].factor[c] != 0)
                add_row(d, &d->rows[i], d->rows[i].factor[c], &row);
        rank++;
    }
    return rank;
}

// Returns the only missing packet of the row; -1: it has several.
static int64_t solved_by(const struct fec_decoder *d, const struct row *row)
{
    int64_t seq = -1;
    for (int c = 0; c < d->missing_count; c++) {
        if (row->factor[c] == 0)
            continue;
        if (seq >= 0)
            return -1;
        seq = d->missing[c];
    }
    return seq;
}

// Returns true if the sum is the RTP packet `seq` with its length before it and zeros behind it.
static bool is_packet(const uint8_t *sum, size_t len, int64_t seq)
{
    size_t end = FEC_LENGTH + (size_t)load_be16(sum);
    if (end < FEC_MIN_PARITY || end > len || sum[FEC_LENGTH] >> 6 != 2 ||
        load_be16(sum + FEC_LENGTH + 2) != (uint16_t)seq)
        return false;
    uint8_t any = 0;
    for (size_t i = end; i < len; i++)
        any |= sum[i];
    return any == 0;
}

// Adds up the row's parity packets and the known packets that they cover: what is left is the
// missing packet. False: a parity packet is wrong.
static bool recover(struct fec_decoder *d, const struct row *row, int64_t seq)
{
    uint8_t factor_of[FEC_MAX_SPAN] = {0}; // by the sequence number modulo the size
    uint8_t factors[INPUTS];
    uint8_t *inputs[INPUTS];
    int count = 0;
    size_t len = 0;
    for (int i = 0; i < d->parity_count; i++) {
        struct parity *p = &d->parity[i];
        if (row->sum[i] == 0)
            continue;
        factors[count] = row->sum[i];
        inputs[count++] = p->bytes;
        len = p->len > len ? p->len : len;
        for (int j = 0; j < p->head.span; j++) {
            int64_t s = p->base + j;
            if (fec_header_covers(&p->head, j) && known_of(d, s))
                factor_of[s % FEC_MAX_SPAN] ^=
                    gf_mul(row->sum[i], fec_factor(p->head.number, (uint16_t)s));
        }
    }
    for (int i = 0; i < FEC_MAX_SPAN; i++) {
        if (factor_of[i] == 0)
            continue;
        factors[count] = factor_of[i];
        inputs[count++] = d->packets[i].bytes;
    }
    uint8_t sum[FEC_MAX_PARITY];
    uint8_t *out = sum;
    ec_init_tables(count, 1, factors, d->tables);
    ec_encode_data((int)len, count, 1, d->tables, inputs, &out);
    if (!is_packet(sum, len, seq))
        return false;
    struct known *k = &d->packets[seq % FEC_MAX_SPAN];
    k->seq = seq;
    k->len = FEC_LENGTH + (size_t)load_be16(sum);
    k->fresh = true;
    memcpy(k->bytes, sum, k->len);
    memset(k->bytes + k->len, 0, sizeof(k->bytes) - k->len);
    d->stats.recovered++;
    return true;
}

static void remove_wrong(struct fec_decoder *d, const struct row *row)
{
    for (int i = d->parity_count - 1; i >= 0; i--) {
        if (row->sum[i] != 0) {
            remove_parity(d, i);
            d->stats.wrong++;
        }
    }
}

static void solve(struct fec_decoder *d)
{
    remove_useless(d);
    if (d->parity_count == 0)
        return;
    set_up(d);
    int rank = eliminate(d);
    for (int i = 0; i < rank; i++) {
        // The rows' known packets are those of set_up: one that another row recovered is missing
        // here, and its factor in this row is 0.
        int64_t seq = solved_by(d, &d->rows[i]);
        if (seq >= 0 && !recover(d, &d->rows[i], seq)) {
            remove_wrong(d, &d->rows[i]); // the rows are of no use without it
            return;
        }
    }
    remove_useless(d);
}

static void move_to(struct fec_decoder *d, int64_t newest)
{
    if (newest <= d->newest)
        return;
    d->newest = newest;
    // What was not taken in time is not kept for ever.
    for (int i = 0; i < FEC_MAX_SPAN; i++)
        if (d->packets[i].seq <= newest - FEC_MAX_SPAN)
            d->packets[i].seq = -1;
}

void fec_decoder_packet(struct fec_decoder *d, int64_t seq, const uint8_t *rtp, size_t len)
{
    assert(seq >= 0);
    if (len > FEC_MAX_PACKET || (d->newest >= 0 && seq <= d->newest - FEC_MAX_SPAN))
        return;
    move_to(d, seq);
    struct known *k = &d->packets[seq % FEC_MAX_SPAN];
    if (k->seq == seq)
        return;
    k->seq = seq;
    k->len = FEC_LENGTH + len;
    k->fresh = false;
    store_be16(k->bytes, (uint16_t)len);
    memcpy(k->bytes + FEC_LENGTH, rtp, len);
    memset(k->bytes + k->len, 0, sizeof(k->bytes) - k->len);
    if (d->parity_count > 0)
        solve(d);
}

int fec_decoder_parity(struct fec_decoder *d, const uint8_t *payload, size_t len)
{
    struct fec_header h;
    if (fec_header_decode(payload, len, &h) != 0) {
        d->stats.wrong++;
        return ERR_MALFORMED;
    }
    // Before the first packet there is nothing to extend the number by.
    int64_t base = d->newest < 0 ? -1 : seq16_extend(d->newest, h.base);
    int64_t last = base + h.span - 1;
    if (base < 0 || base <= d->newest - FEC_MAX_SPAN || last >= d->newest + FEC_MAX_SPAN) {
        d->stats.wrong++;
        return ERR_RANGE;
    }
    move_to(d, last);
    d->stats.parity++;
    if (d->parity_count == FEC_DECODER_PARITY)
        remove_parity(d, 0);
    struct parity *p = &d->parity[d->parity_count++];
    p->base = base;
    p->head = h;
    p->len = len - fec_header_bytes(&h);
    memcpy(p->bytes, payload + fec_header_bytes(&h), p->len);
    memset(p->bytes + p->len, 0, sizeof(p->bytes) - p->len);
    solve(d);
    return 0;
}

bool fec_decoder_next(struct fec_decoder *d, struct fec_recovered *out)
{
    for (int64_t s = d->newest < FEC_MAX_SPAN ? 0 : d->newest - FEC_MAX_SPAN + 1; s <= d->newest;
         s++) {
        struct known *k = known_of(d, s);
        if (!k || !k->fresh)
            continue;
        k->fresh = false;
        *out = (struct fec_recovered){s, k->bytes + FEC_LENGTH, k->len - FEC_LENGTH};
        return true;
    }
    return false;
}

struct fec_decoder_stats fec_decoder_read(const struct fec_decoder *d)
{
    return d->stats;
}
