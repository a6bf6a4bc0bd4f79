// SPDX-License-Identifier: GPL-2.0-or-later
// Sends the bytes as payloads of JPEG pictures through the depacketiser. Each: flags (ends the
// picture), its length, and the bytes. A picture is a file, from its first to its last marker.
#include <assert.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "media/rtp/depacketiser.h"
#include "media/rtp/jpeg_payload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct depacketiser *d = depacketiser_new(&jpeg_payload_format);
    assert(d);
    struct bytes in = bytes_of(data, size);
    bool begins = true;
    uint32_t number = 0;
    for (int64_t seq = 0; bytes_left(&in) >= 2; seq++) {
        bool ends = bytes_u8(&in) & 1;
        struct rtp_packet p = {.has_adu = true};
        p.adu = (struct adu_ext){.frame = number, .key = true, .first = begins, .last = ends};
        p.payload_len = bytes_u8(&in);
        if (p.payload_len > bytes_left(&in))
            p.payload_len = bytes_left(&in);
        p.payload = bytes_take(&in, p.payload_len);
        int err = depacketiser_push(d, &p, seq, 1);
        assert(err == 0 || err == ERR_MALFORMED);
        begins = ends;
        number += ends;
        for (struct received_frame *f; (f = depacketiser_pull(d)) != NULL;) {
            assert(f->bytes > 4 && f->data[0] == 0xff && f->data[1] == 0xd8);
            assert(f->data[f->bytes - 2] == 0xff && f->data[f->bytes - 1] == 0xd9);
            received_frame_free(f);
        }
    }
    depacketiser_free(d);
    return 0;
}
