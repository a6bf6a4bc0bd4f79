// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/packetiser.h"

#include <assert.h>

#include "media/rtp/h264.h"
#include "media/rtp/hevc_payload.h"

enum {
    MIN_PAYLOAD = 16,
    FU_HEADER = 1, // bytes, after the FU indicator or payload header, which is as a NAL unit's
};

static void skip_empty(struct packetiser *p)
{
    while (p->nal < p->nal_count && p->nals[p->nal].len == 0)
        p->nal++;
}

void packetiser_init(struct packetiser *p, const uint8_t *data, const struct nal *nals,
                     int nal_count)
{
    *p = (struct packetiser){.data = data, .nals = nals, .nal_count = nal_count, .header = 1};
    skip_empty(p);
    assert(p->nal < nal_count);
}

void packetiser_init_hevc(struct packetiser *p, const uint8_t *data, const struct nal *nals,
                          int nal_count)
{
    packetiser_init(p, data, nals, nal_count);
    p->header = HEVC_NAL_HEADER;
}

bool packetiser_is_at_first(const struct packetiser *p)
{
    if (p->sent > 0)
        return false;
    for (int i = 0; i < p->nal; i++)
        if (p->nals[i].len > 0)
            return false;
    return true;
}

static void next_nal(struct packetiser *p)
{
    p->nal++;
    p->sent = 0;
    skip_empty(p);
}

// RFC 6184, 5.8: the FU indicator and the FU header carry the NAL unit's header byte.
static void write_head(uint8_t head[], const uint8_t *nal, bool start, bool end)
{
    head[0] = (uint8_t)((nal[0] & (H264_NAL_FORBIDDEN | H264_NAL_REF_IDC)) | H264_FU_A);
    head[1] =
        (uint8_t)((start ? H264_FU_START : 0) | (end ? H264_FU_END : 0) | (nal[0] & H264_NAL_TYPE));
}

// RFC 7798, 4.4.3: the payload header and the FU header carry the two bytes of the NAL unit's.
static void write_head_hevc(uint8_t head[], const uint8_t *nal, bool start, bool end)
{
    head[0] = (uint8_t)((nal[0] & (HEVC_NAL_FORBIDDEN | HEVC_NAL_LAYER_HIGH)) |
                        HEVC_FU << HEVC_NAL_TYPE_SHIFT);
    head[1] = nal[1];
    head[2] =
        (uint8_t)((start ? HEVC_FU_START : 0) | (end ? HEVC_FU_END : 0) | hevc_nal_type_of(nal[0]));
}

// The head carries the NAL unit's header; the body does not repeat it.
static void next_fragment(struct packetiser *p, size_t max, struct rtp_payload *out)
{
    const struct nal *n = &p->nals[p->nal];
    const uint8_t *nal = p->data + n->offset;
    bool start = p->sent == 0;
    if (start)
        p->sent = p->header;
    size_t left = n->len - p->sent;
    out->head_len = p->header + FU_HEADER;
    out->body = nal + p->sent;
    out->body_len = left < max - out->head_len ? left : max - out->head_len;
    bool end = out->body_len == left;
    (p->header == HEVC_NAL_HEADER ? write_head_hevc : write_head)(out->head, nal, start, end);
    p->sent += (uint32_t)out->body_len;
    if (end)
        next_nal(p);
}

bool packetiser_next(struct packetiser *p, size_t max, struct rtp_payload *out)
{
    assert(max >= MIN_PAYLOAD);
    if (p->nal >= p->nal_count)
        return false;
    const struct nal *n = &p->nals[p->nal];
    out->first = packetiser_is_at_first(p);
    if (p->sent == 0 && n->len <= max) {
        out->head_len = 0;
        out->body = p->data + n->offset;
        out->body_len = n->len;
        next_nal(p);
    } else {
        next_fragment(p, max, out);
    }
    out->last = p->nal >= p->nal_count;
    return true;
}

int packetiser_left(const struct packetiser *p, size_t max)
{
    struct packetiser rest = *p;
    struct rtp_payload payload;
    int count = 0;
    while (packetiser_next(&rest, max, &payload))
        count++;
    return count;
}
