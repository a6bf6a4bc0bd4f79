// SPDX-License-Identifier: GPL-2.0-or-later
// Sends a sequence of packets through the depacketiser. Each: flags (first, last, key, a jump of
// the number), a step of the sequence number, the frame, the payload's length (two bytes) and the
// payload. Frames that are returned match their headers, and no packet is in two frames.
#include <assert.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "media/rtp/depacketiser.h"
#include "media/rtp/h264_payload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FIRST = 1, LAST = 2, KEY = 4, JUMP = 8 };

static void check_frame(const struct received_frame *f, usec_t now)
{
    static const uint8_t tail[64];
    static const uint8_t start_code[4] = {0, 0, 0, 1};
    assert(f->bytes >= 5 && f->bytes <= DEPACKETISER_MAX_FRAME);
    assert(memcmp(f->data, start_code, sizeof(start_code)) == 0);
    assert(memcmp(f->data + f->bytes, tail, sizeof(tail)) == 0);
    assert(f->packets >= 1 && f->packets <= DEPACKETISER_WINDOW);
    assert(f->number >= 0 && f->depends_on >= -1 && f->depends_on < f->number + (f->number == 0));
    assert(f->key ? f->depends_on == -1 : true);
    assert(f->first_arrived <= f->last_arrived && f->last_arrived <= now);
    for (size_t i = 0; i < f->bytes; i += 1 + f->bytes / 64)
        (void)*(const volatile uint8_t *)&f->data[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct depacketiser *d = depacketiser_new(&h264_payload_format);
    assert(d);
    struct bytes in = bytes_of(data, size);
    int64_t seq = 1000;
    int64_t pushed = 0, packets_out = 0;
    for (usec_t now = 1; bytes_left(&in) >= 5; now++) {
        uint8_t flags = bytes_u8(&in);
        int64_t step = (int8_t)bytes_u8(&in);
        struct rtp_packet p = {.has_adu = true};
        p.adu.frame = bytes_u8(&in);
        p.adu.first = flags & FIRST;
        p.adu.last = flags & LAST;
        p.adu.key = flags & KEY;
        p.adu.depends = p.adu.key ? 0 : flags >> 5;
        p.timestamp = p.adu.frame * 3000;
        p.payload_len = bytes_u16(&in) & 0x7ff;
        if (p.payload_len > bytes_left(&in))
            p.payload_len = bytes_left(&in);
        p.payload = bytes_take(&in, p.payload_len);
        seq += flags & JUMP ? step * 100 : step;
        int err = depacketiser_push(d, &p, seq, now);
        assert(err == 0 || err == ERR_MALFORMED || err == ERR_RANGE);
        pushed += err != ERR_RANGE;
        for (struct received_frame *f; (f = depacketiser_pull(d)) != NULL;) {
            check_frame(f, now);
            packets_out += f->packets;
            received_frame_free(f);
        }
        assert(packets_out <= pushed);
    }
    depacketiser_free(d);
    return 0;
}
