// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the bytes as a VP9 payload descriptor and as a superframe, and sends them as payloads of
// one frame through the depacketiser. A descriptor that is read and written again reads the same. A
// frame has no more bytes than its payloads, and each was well-formed.
#include <assert.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "media/rtp/depacketiser.h"
#include "media/rtp/vp9.h"
#include "media/rtp/vp9_payload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_descriptor(const uint8_t *data, size_t size)
{
    struct vp9_descriptor d, again;
    int len = vp9_descriptor_read(data, size, &d);
    assert(len == ERR_MALFORMED || (len > 0 && (size_t)len < size));
    if (len < 0)
        return;
    assert(d.picture_id < 1 << VP9_PICTURE_ID_BITS && d.diff_count <= VP9_MAX_DIFFS);
    assert(!d.structure ||
           (d.structure > data && d.structure + d.structure_len == data + (size_t)len));
    if (d.structure_len > VP9_MAX_STRUCTURE) // third parties may describe longer groups
        return;
    uint8_t bytes[VP9_MAX_DESCRIPTOR + 1] = {0}; // one byte of payload
    size_t written = vp9_descriptor_write(&d, bytes);
    assert(written <= VP9_MAX_DESCRIPTOR);
    assert(vp9_descriptor_read(bytes, written + 1, &again) == (int)written);
    assert(again.structure_len == d.structure_len);
    assert(!d.structure || memcmp(again.structure, d.structure, d.structure_len) == 0);
    again.structure = d.structure;
    uint8_t twice[VP9_MAX_DESCRIPTOR];
    assert(vp9_descriptor_write(&again, twice) == written && memcmp(twice, bytes, written) == 0);
}

static void check_superframe(const uint8_t *data, size_t size)
{
    struct nal pieces[VP9_MAX_PIECES];
    int count = vp9_split(data, size, pieces);
    assert(count == ERR_MALFORMED || (count >= 1 && count <= VP9_MAX_PIECES));
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        assert(pieces[i].offset == used && pieces[i].len > 0);
        used += pieces[i].len;
    }
    assert(used <= size);
}

// Each payload: its length, and the bytes.
static void check_frame(const uint8_t *data, size_t size)
{
    struct depacketiser *d = depacketiser_new(&vp9_payload_format);
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
        all_valid &= vp9_payload_format.is_valid(p.payload, p.payload_len);
        int err = depacketiser_push(d, &p, seq, 1);
        assert(err == 0 || err == ERR_MALFORMED);
    }
    struct received_frame *f = depacketiser_pull(d);
    assert(!f || (all_valid && f->bytes > 0 && f->bytes < size));
    received_frame_free(f);
    assert(!depacketiser_pull(d));
    depacketiser_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_descriptor(data, size);
    check_superframe(data, size);
    check_frame(data, size);
    return 0;
}
