// SPDX-License-Identifier: GPL-2.0-or-later
// Sends the bytes as payloads of one HEVC frame through the depacketiser, and splits them as Annex
// B. A frame has no more NAL units than its payloads, and each was well-formed; cut into its units
// and packetised again, it gives the same bytes.
#include <assert.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "media/rtp/annexb.h"
#include "media/rtp/depacketiser.h"
#include "media/rtp/hevc_payload.h"
#include "media/rtp/packetiser.h"

enum { MAX_UNITS = 64, LIMIT = 40 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int check_units(const uint8_t *data, size_t size, struct nal units[MAX_UNITS])
{
    int count = annexb_split(data, size, units, MAX_UNITS);
    assert(count >= 0 || count == ERR_MALFORMED || count == ERR_FULL);
    size_t end = 0;
    for (int i = 0; i < count; i++) {
        assert(units[i].len > 0 && units[i].offset >= end + 3);
        end = units[i].offset + units[i].len;
        assert(end <= size && data[end - 1] != 0);
    }
    return count;
}

// Sends a frame, which is Annex B, once more.
static void check_again(const struct received_frame *f)
{
    struct nal units[MAX_UNITS];
    int count = check_units(f->data, f->bytes, units);
    for (int i = 0; i < count; i++) // zero bytes at a unit's end, or a start code in it, change it
        if (units[i].len < HEVC_NAL_HEADER ||
            !hevc_payload_format.is_valid(f->data + units[i].offset, units[i].len) ||
            hevc_nal_type_of(f->data[units[i].offset]) > HEVC_SINGLE_MAX)
            return;
    if (count < 1)
        return;
    struct packetiser p;
    packetiser_init_hevc(&p, f->data, units, count);
    struct unpacker u = {0};
    struct rtp_payload out;
    size_t bytes = 0;
    while (packetiser_next(&p, LIMIT, &out)) {
        uint8_t payload[LIMIT];
        memcpy(payload, out.head, out.head_len);
        memcpy(payload + out.head_len, out.body, out.body_len);
        size_t len = out.head_len + out.body_len;
        assert(len <= LIMIT && hevc_payload_format.is_valid(payload, len));
        assert(hevc_payload_format.unpack(&u, payload, len));
    }
    for (int i = 0; i < count; i++)
        bytes += 4 + units[i].len;
    assert(!u.in_fragments && u.bytes == bytes);
}

// Each payload: its length, and the bytes.
static void check_frame(const uint8_t *data, size_t size)
{
    struct depacketiser *d = depacketiser_new(&hevc_payload_format);
    assert(d);
    struct bytes in = bytes_of(data, size);
    bool all_valid = true;
    for (int64_t seq = 0; bytes_left(&in) > 0; seq++) {
        struct rtp_packet p = {.has_adu = true, .adu = {.first = seq == 0}};
        p.payload_len = bytes_u8(&in);
        if (p.payload_len > bytes_left(&in))
            p.payload_len = bytes_left(&in);
        p.payload = bytes_take(&in, p.payload_len);
        p.adu.last = bytes_left(&in) == 0;
        all_valid &= hevc_payload_format.is_valid(p.payload, p.payload_len);
        int err = depacketiser_push(d, &p, seq, 1);
        assert(err == 0 || err == ERR_MALFORMED);
    }
    struct received_frame *f = depacketiser_pull(d);
    assert(!f || (all_valid && f->bytes > 0 && f->bytes < 4 * size));
    if (f)
        check_again(f);
    received_frame_free(f);
    assert(!depacketiser_pull(d));
    depacketiser_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nal units[MAX_UNITS];
    (void)check_units(data, size, units);
    check_frame(data, size);
    return 0;
}
