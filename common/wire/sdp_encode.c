// SPDX-License-Identifier: GPL-2.0-or-later
// The writer of sdp.h.
#include <stdio.h>

#include "common/base/put.h"
#include "common/wire/sdp.h"
#include "common/wire/sdp_parts.h"

const char *const sdp_source_names[SDP_SOURCES] = {
    [SDP_SOURCE_UNKNOWN] = "unknown", [SDP_SOURCE_TEST] = "test",
    [SDP_SOURCE_FILE] = "file",       [SDP_SOURCE_GREEDY] = "greedy",
    [SDP_SOURCE_STEADY] = "steady",   [SDP_SOURCE_GODDARD] = "goddard",
    [SDP_SOURCE_LAYERS] = "layers",   [SDP_SOURCE_CAMERA] = "camera",
    [SDP_SOURCE_SCREEN] = "screen",
};

// A value that a line end in it cannot turn into two lines.
static void put_line(struct put *p, const char *head, const char *value)
{
    char clean[SDP_MAX_TEXT];
    snprintf(clean, sizeof(clean), "%s", value);
    for (char *c = clean; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
    put_format(p, "%s%s\r\n", head, clean);
}

static void put_session(struct put *p, const struct sdp *s, bool v6)
{
    const char *any = v6 ? "IN IP6 ::" : "IN IP4 0.0.0.0";
    put_format(p, "v=0\r\no=- 1 1 %s\r\n", any);
    put_line(p, "s=", s->title[0] ? s->title : "-"); // RFC 8866, 5.3
    put_format(p, "c=%s\r\nt=0 0\r\na=control:*\r\n", any);
    if (s->duration >= 0) { // in integers: the decimal point is the locale's
        long long ms = (long long)(s->duration * 1000 + 0.5);
        put_format(p, "a=range:npt=0-%lld.%03lld\r\n", ms / 1000, ms % 1000);
    } else {
        put_format(p, "a=range:npt=now-\r\n");
    }
    if (s->clock[0])
        put_line(p, "a=x-weir-clock:", s->clock);
    if (s->reorders)
        put_format(p, "a=x-weir-order:decoding\r\n");
}

static void put_ladder(struct put *p, const struct sdp *s)
{
    const struct ladder *l = &s->ladder;
    put_format(p, "a=x-weir-source:%s %dx%d@%d/%d\r\n", sdp_source_names[s->source],
               l->source_width, l->source_height, l->source_fps.num, l->source_fps.den);
    for (int i = 0; i < l->size_count; i++) {
        const struct size_spec *z = &l->sizes[i];
        put_format(p, "a=x-weir-size:%d %dx%d@%d/%d layers=%d\r\n", i, z->width, z->height,
                   z->fps.num, z->fps.den, z->layers);
    }
    for (int i = 0; i < l->level_count; i++) {
        const struct level *v = &l->levels[i];
        put_format(p, "a=x-weir-level:%d size=%d tid=%d rate=%d\r\n", i, v->size_id, v->temporal_id,
                   v->bitrate_bps);
    }
}

static void put_rate(struct put *p, int bitrate_bps)
{
    if (bitrate_bps > 0) // RFC 8866, 5.8: kbit/s
        put_format(p, "b=AS:%d\r\n", bitrate_bps / 1000 + (bitrate_bps % 1000 != 0));
}

static void put_extensions(struct put *p, const struct rtp_ext_ids *ext)
{
    if (ext->capture)
        put_format(p, "a=extmap:%d %s\r\n", ext->capture, RTP_EXT_CAPTURE_URI);
    if (ext->adu)
        put_format(p, "a=extmap:%d %s\r\n", ext->adu, RTP_EXT_ADU_URI);
    if (ext->feedback)
        put_format(p, "a=extmap:%d %s\r\n", ext->feedback, RTP_EXT_FEEDBACK_URI);
}

static void put_audio(struct put *p, const struct sdp_audio *s)
{
    int pt = s->payload_type;
    put_format(p, "m=audio 0 RTP/AVP %d\r\n", pt);
    put_rate(p, s->bitrate_bps);
    put_format(p, "a=rtpmap:%d %s\r\na=fmtp:%d sprop-stereo=1\r\na=ptime:20\r\n", pt, CODEC_OPUS,
               pt);
    put_extensions(p, &s->ext);
    if (s->control[0])
        put_line(p, "a=control:", s->control);
}

static void put_medium(struct put *p, const struct sdp *s)
{
    int pt = s->payload_type;
    put_format(p, "m=video 0 RTP/AVP %d\r\n", pt);
    put_rate(p, s->bitrate_bps);
    put_format(p, "a=rtpmap:%d %s\r\n", pt, s->h264 ? CODEC_H264 : CODEC_SYNTHETIC);
    if (s->h264) { // RFC 6184, 8.1
        put_format(p, "a=fmtp:%d packetization-mode=1", pt);
        if (s->profile_level_id[0])
            put_format(p, ";profile-level-id=%s", s->profile_level_id);
        if (s->sprop[0])
            put_format(p, ";sprop-parameter-sets=%s", s->sprop);
        put_format(p, "\r\n");
    }
    put_format(p, "a=rtcp-fb:%d nack\r\na=rtcp-fb:%d nack pli\r\n", pt, pt);
    if (s->ccfb) // RFC 8888, 6: for all payload types alike
        put_format(p, "a=rtcp-fb:* ack ccfb\r\n");
    put_extensions(p, &s->ext);
    if (s->control[0])
        put_line(p, "a=control:", s->control);
}

int sdp_encode(const struct sdp *s, bool address_v6, char *out, size_t cap)
{
    struct put p = put_into(out, cap);
    put_session(&p, s, address_v6);
    put_medium(&p, s);
    if (s->ladder.level_count > 0)
        put_ladder(&p, s);
    if (s->audio.present)
        put_audio(&p, &s->audio);
    return put_result(&p);
}
