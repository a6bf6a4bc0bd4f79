// SPDX-License-Identifier: GPL-2.0-or-later
// A decoder of parity packets between an honest encoder, losses, and bytes that an attacker
// inserts. Each step is led by a byte: its low bits say what happens, the next byte how much.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/repair/fec_decoder.h"
#include "common/repair/fec_encoder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// `newest`: the highest number of a packet that the decoder was given.
static void drain(struct fec_decoder *d, int64_t newest)
{
    struct fec_recovered r;
    int64_t before = -1;
    while (fec_decoder_next(d, &r)) {
        assert(r.seq > before && r.seq > newest - FEC_MAX_SPAN);
        assert(r.len >= 12 && r.len <= FEC_MAX_PACKET && r.bytes[0] >> 6 == 2);
        assert(load_be16(r.bytes + 2) == (uint16_t)r.seq);
        before = r.seq;
    }
}

static void check_header(const uint8_t *data, size_t size)
{
    struct fec_header h;
    uint8_t again[FEC_MAX_HEADER];
    if (fec_header_decode(data, size, &h) != 0)
        return;
    size_t len = fec_header_encode(&h, again);
    assert(len == fec_header_bytes(&h) && len + FEC_MIN_PARITY <= size);
    assert(memcmp(again, data, len) == 0);
}

// Bytes of the input, as many as it has of `wanted`.
static size_t take(struct bytes *in, size_t wanted, const uint8_t **at)
{
    size_t len = bytes_left(in) < wanted ? bytes_left(in) : wanted;
    *at = bytes_take(in, len);
    return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fec_encoder *e = fec_encoder_new();
    struct fec_decoder *d = fec_decoder_new();
    if (!e || !d)
        abort();
    check_header(data, size);
    int64_t seq = 65530, frame = 0, newest = 0, other;
    static uint8_t out[FEC_MAX_HEADER + FEC_MAX_PARITY];
    for (struct bytes in = bytes_of(data, size); bytes_left(&in) >= 2;) {
        uint8_t what = bytes_u8(&in), much = bytes_u8(&in);
        const uint8_t *at;
        size_t len;
        switch (what & 7) {
        case 0: // a packet; bit 3: it is lost, bit 4: it begins a frame
        case 1:
        case 2: {
            uint8_t packet[12 + 255] = {0x80, 96, (uint8_t)(seq >> 8), (uint8_t)seq};
            len = take(&in, much, &at);
            memcpy(packet + 12, at, len);
            frame += what >> 4 & 1;
            (void)fec_encoder_add(e, (uint16_t)seq, frame, packet, 12, packet + 12, len);
            if (!(what & 8)) {
                fec_decoder_packet(d, seq, packet, 12 + len);
                newest = seq > newest ? seq : newest;
            }
            seq++;
            break;
        }
        case 3: // parity
        case 4:
            len = fec_encoder_parity(e, 1 + (what >> 4), out, sizeof(out));
            if (len > 0 && what & 8)
                out[much * len / 256] ^= 1 << (what & 3);
            (void)fec_decoder_parity(d, out, len);
            break;
        case 5: // bytes of anyone
            len = take(&in, much, &at);
            (void)fec_decoder_parity(d, at, len);
            break;
        case 6: // any packet
            len = take(&in, much, &at);
            other = seq + (int8_t)what / 8;
            fec_decoder_packet(d, other, at, len);
            newest = other > newest && len <= FEC_MAX_PACKET ? other : newest;
            break;
        default: // the stream goes on elsewhere, some packets are not protected
            seq += much * (what & 8 ? 1 : 16);
        }
        drain(d, newest);
    }
    struct fec_decoder_stats s = fec_decoder_read(d);
    assert(s.recovered <= size * FEC_DECODER_PARITY);
    fec_encoder_free(e);
    fec_decoder_free(d);
    return 0;
}
