// SPDX-License-Identifier: GPL-2.0-or-later
// MB/s of media that parity is made over, and from which lost packets are recovered.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/bytes.h"
#include "common/repair/fec_decoder.h"
#include "common/repair/fec_encoder.h"

enum { PACKET = 1300, ROUNDS = 20000 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// Blocks of `count` packets of PACKET bytes and `parity` parity packets; as many packets are lost.
static void run(int count, int parity)
{
    struct fec_encoder *e = fec_encoder_new();
    struct fec_decoder *d = fec_decoder_new();
    if (!e || !d)
        exit(1);
    static uint8_t packet[PACKET], out[16][FEC_MAX_HEADER + FEC_MAX_PARITY];
    for (int i = 0; i < PACKET; i++)
        packet[i] = (uint8_t)rand();
    packet[0] = 0x80;
    double encoding = 0, decoding = 0;
    int64_t seq = 0;
    for (int round = 0; round < ROUNDS / count; round++) {
        size_t len[16];
        double start = now_s();
        for (int i = 0; i < count; i++) {
            store_be16(packet + 2, (uint16_t)(seq + i));
            (void)fec_encoder_add(e, (uint16_t)(seq + i), round, packet, PACKET, NULL, 0);
        }
        for (int i = 0; i < parity; i++)
            len[i] = fec_encoder_parity(e, 1, out[i], sizeof(out[i]));
        encoding += now_s() - start;
        start = now_s();
        for (int i = round == 0 ? 0 : parity; i < count; i++) {
            store_be16(packet + 2, (uint16_t)(seq + i));
            fec_decoder_packet(d, seq + i, packet, PACKET);
        }
        for (int i = 0; i < parity; i++)
            (void)fec_decoder_parity(d, out[i], len[i]);
        struct fec_recovered r;
        while (fec_decoder_next(d, &r))
            ;
        decoding += now_s() - start;
        seq += count;
    }
    double bytes = (double)(ROUNDS / count) * count * PACKET / 1e6;
    printf("%3d packets + %2d parity    encode %7.0f MB/s    decode %7.0f MB/s    recovered %llu\n",
           count, parity, bytes / encoding, bytes / decoding,
           (unsigned long long)fec_decoder_read(d).recovered);
    fec_encoder_free(e);
    fec_decoder_free(d);
}

int main(void)
{
    static const int shapes[][2] = {{7, 1}, {7, 2}, {14, 3}, {21, 4}, {60, 8}, {120, 16}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        run(shapes[i][0], shapes[i][1]);
    return 0;
}
