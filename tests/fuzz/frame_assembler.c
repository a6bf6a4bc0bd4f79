// SPDX-License-Identifier: GPL-2.0-or-later
// Sends packets of a third party to the frame assembler of the codec that the first byte names.
// Each: flags (marker, a new time stamp, a jump of it), a step of the sequence number, its length,
// and the payload. Each packet comes out at most once, in order, between the first and the last one
// of its frame, and no frame depends on itself.
#include <assert.h>
#include <stdlib.h>

#include "common/base/bytes.h"
#include "stream/receive/frame_assembler.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MARKER = 1, STAMP = 2, JUMP = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum sdp_codec codecs[] = {SDP_H264, SDP_HEVC, SDP_VP9, SDP_JPEG};
    struct bytes in = bytes_of(data, size);
    if (size < 1)
        return 0;
    struct frame_assembler *f = frame_assembler_new(codecs[bytes_u8(&in) % 4], (struct fps){25, 1});
    assert(f);
    int64_t seq = 1000, newest = -1;
    bool is_open = false;
    uint32_t stamp = 0, number = 0;
    for (usec_t now = 0; bytes_left(&in) >= 3; now += 5 * USEC_PER_MSEC) {
        uint8_t flags = bytes_u8(&in);
        seq += (int8_t)bytes_u8(&in);
        stamp += flags & JUMP ? 90000u * flags : flags & STAMP ? 3600 : 0;
        struct rtp_packet p = {.marker = flags & MARKER, .timestamp = stamp};
        p.payload_len = bytes_u8(&in);
        if (p.payload_len > bytes_left(&in))
            p.payload_len = bytes_left(&in);
        p.payload = bytes_take(&in, p.payload_len);
        frame_assembler_push(f, &p, seq, now);
        for (struct foreign_packet out; frame_assembler_pull(f, &out);) {
            const struct adu_ext *adu = &out.packet.adu;
            assert(out.packet.has_adu && out.ext_seq > newest && adu->first == !is_open);
            assert(adu->first || adu->frame == number);
            assert(adu->key ? adu->depends == 0 : adu->depends > 0);
            newest = out.ext_seq;
            number = adu->frame;
            is_open = !adu->last;
            free((void *)(uintptr_t)out.packet.payload);
        }
    }
    frame_assembler_free(f);
    return 0;
}
