// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/sdp.h"

#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/scan.h"
#include "common/wire/rtsp.h"
#include "common/wire/sdp_parts.h"
#include "common/wire/text.h"

bool sdp_has_frames(const struct sdp *s)
{
    return s->h264 || s->source == SDP_SOURCE_GODDARD || s->source == SDP_SOURCE_LAYERS;
}

bool sdp_is_foreign(const struct sdp *s)
{
    return s->h264 && s->ext.adu == 0;
}

bool sdp_scan_payload_type(struct scan *s, int *out)
{
    int64_t value;
    if (!scan_int(s, 127, &value))
        return false;
    *out = (int)value;
    return true;
}

static bool scan_positive(struct scan *s, int *out)
{
    int64_t value;
    if (!scan_int(s, INT32_MAX, &value) || value == 0)
        return false;
    *out = (int)value;
    return true;
}

// "1280x720@30/1"
static bool scan_geometry(struct scan *s, int *width, int *height, struct fps *fps)
{
    return scan_positive(s, width) && scan_char(s, 'x') && scan_positive(s, height) &&
           scan_char(s, '@') && scan_positive(s, &fps->num) && scan_char(s, '/') &&
           scan_positive(s, &fps->den);
}

// Later versions may add to a line of ours, after a space.
static bool at_field_end(const struct scan *s)
{
    return scan_end(s) || *s->at == ' ';
}

static int on_source(struct sdp *s, struct scan v)
{
    struct ladder *l = &s->ladder;
    struct scan name = scan_until(&v, ' ');
    s->source = SDP_SOURCE_UNKNOWN;
    for (int i = 0; i < SDP_SOURCES; i++)
        if (scan_is(name, sdp_source_names[i]))
            s->source = (enum sdp_source)i;
    if (!scan_geometry(&v, &l->source_width, &l->source_height, &l->source_fps))
        return ERR_MALFORMED;
    return at_field_end(&v) ? 0 : ERR_MALFORMED;
}

static int on_size(struct sdp *s, struct scan v)
{
    struct ladder *l = &s->ladder;
    int64_t id;
    if (l->size_count == LADDER_MAX_SIZES)
        return ERR_MALFORMED;
    struct size_spec *z = &l->sizes[l->size_count];
    if (!scan_int(&v, LADDER_MAX_SIZES, &id) || id != l->size_count || !scan_char(&v, ' ') ||
        !scan_geometry(&v, &z->width, &z->height, &z->fps) || !scan_word(&v, " layers=") ||
        !scan_positive(&v, &z->layers) || !at_field_end(&v))
        return ERR_MALFORMED;
    l->size_count++;
    return 0;
}

static int on_level(struct sdp *s, struct scan v)
{
    struct ladder *l = &s->ladder;
    int64_t id, size_id, temporal_id;
    if (l->level_count == LADDER_MAX_LEVELS)
        return ERR_MALFORMED;
    struct level *level = &l->levels[l->level_count];
    if (!scan_int(&v, LADDER_MAX_LEVELS, &id) || id != l->level_count || !scan_word(&v, " size=") ||
        !scan_int(&v, LADDER_MAX_SIZES, &size_id) || !scan_word(&v, " tid=") ||
        !scan_int(&v, LEVEL_MAX_LAYERS, &temporal_id) || !scan_word(&v, " rate=") ||
        !scan_positive(&v, &level->bitrate_bps) || !at_field_end(&v))
        return ERR_MALFORMED;
    level->size_id = (int)size_id;
    level->temporal_id = (int)temporal_id;
    l->level_count++;
    return 0;
}

static int on_clock(struct sdp *s, struct scan v)
{
    text_copy(text_of_scan(v), s->clock, sizeof(s->clock));
    return 0;
}

static int on_order(struct sdp *s, struct scan v)
{
    s->reorders = scan_is(v, "decoding");
    return 0;
}

static int on_session_control(struct sdp *s, struct scan v)
{
    struct scan url = v;
    if (scan_word(&url, "rtsp://") && scan_left(&v) < sizeof(s->base)) // else "*", or of no use
        text_copy(text_of_scan(v), s->base, sizeof(s->base));
    return 0;
}

// "25" or "29.97" (RFC 8866, 6.13); what cannot be is as good as not told.
static int on_framerate(struct sdp *s, struct scan v)
{
    int64_t whole;
    if (!scan_int(&v, 240, &whole))
        return 0;
    double rate = (double)whole + (scan_char(&v, '.') ? scan_fraction(&v) : 0);
    if (rate >= 1)
        s->ladder.source_fps = (struct fps){(int)(rate * 1000 + 0.5), 1000};
    return 0;
}

static int read_control(struct scan v, char out[SDP_MAX_TEXT])
{
    if (scan_left(&v) >= SDP_MAX_TEXT)
        return ERR_TOO_BIG; // cut short it would name something else
    text_copy(text_of_scan(v), out, SDP_MAX_TEXT);
    return 0;
}

static int on_control(struct sdp *s, struct scan v)
{
    return read_control(v, s->control);
}

static int on_range(struct sdp *s, struct scan v)
{
    struct rtsp_range range; // a form that we do not read says nothing about the length
    if (rtsp_range_decode(text_of_scan(v), &range) == 0 && range.from >= 0 &&
        range.to >= range.from)
        s->duration = range.to - range.from;
    return 0;
}

// RFC 8285, 5: "id[/direction] URI [attributes]". Ids beyond 14 need the two-byte form, which
// nobody sends us.
static int read_extmap(struct scan v, struct rtp_ext_ids *ext)
{
    int64_t id;
    if (!scan_int(&v, 4095, &id))
        return ERR_MALFORMED;
    scan_until(&v, ' ');
    struct scan uri = scan_until(&v, ' ');
    if (id < 1 || id > 14)
        return 0;
    if (scan_is(uri, RTP_EXT_CAPTURE_URI))
        ext->capture = (uint8_t)id;
    else if (scan_is(uri, RTP_EXT_ADU_URI))
        ext->adu = (uint8_t)id;
    else if (scan_is(uri, RTP_EXT_FEEDBACK_URI))
        ext->feedback = (uint8_t)id;
    return 0;
}

// What stands before the media is for all of them.
static int on_extmap(struct sdp *s, struct scan v)
{
    return read_extmap(v, &s->ext);
}

// RFC 8888, 6: "* ack ccfb", for no payload type alone.
static int on_rtcp_fb(struct sdp *s, struct scan v)
{
    struct scan all = v; // RFC 4585, 4.2: "PT nack", "PT nack pli", or of all payload types
    scan_until(&all, ' ');
    s->nack |= scan_is(scan_trimmed(all), "nack");
    s->pli |= scan_is(scan_trimmed(all), "nack pli");
    if (scan_is(scan_trimmed(v), "* ack ccfb"))
        s->ccfb = true;
    return 0;
}

static bool is_hexadecimal(struct text t)
{
    for (size_t i = 0; i < t.len; i++)
        if (t.at[i] == '\0' || !strchr("0123456789abcdefABCDEF", t.at[i]))
            return false;
    return true;
}

// RFC 6184, 8.1: `name=value` parted by semicolons.
static int on_fmtp(struct sdp *s, struct scan v)
{
    int pt;
    if (!sdp_scan_payload_type(&v, &pt))
        return ERR_MALFORMED;
    if (pt != s->payload_type)
        return 0;
    while (!scan_end(&v)) {
        struct scan value = scan_until(&v, ';');
        struct text name = text_of_scan(scan_trimmed(scan_until(&value, '=')));
        struct text text = text_of_scan(scan_trimmed(value));
        if (text_is_nocase(name, "packetization-mode")) {
            if (!text_is(text, "0") && !text_is(text, "1"))
                return ERR_UNSUPPORTED; // interleaved: the depacketiser does not do it
        } else if (text_is_nocase(name, "profile-level-id")) {
            if (text.len == 6 && is_hexadecimal(text)) // else: the parameter sets will say
                text_copy(text, s->profile_level_id, sizeof(s->profile_level_id));
        } else if (text_is_nocase(name, "sprop-parameter-sets")) {
            if (text.len >= sizeof(s->sprop))
                return ERR_TOO_BIG;
            text_copy(text, s->sprop, sizeof(s->sprop));
        }
    }
    return 0;
}

static const struct {
    const char *name;
    bool medium_only;
    int (*read)(struct sdp *s, struct scan value);
} attributes[] = {
    {"control", true, on_control},       {"fmtp", true, on_fmtp},
    {"framerate", true, on_framerate},   {"rtcp-fb", true, on_rtcp_fb},
    {"range", false, on_range},          {"extmap", false, on_extmap},
    {"x-weir-source", false, on_source}, {"x-weir-clock", false, on_clock},
    {"x-weir-size", false, on_size},     {"x-weir-level", false, on_level},
    {"x-weir-order", false, on_order},
};

static int read_line(struct sdp *s, struct scan line, bool in_medium)
{
    if (!in_medium && scan_word(&line, "s=")) {
        line = scan_trimmed(line);
        if (scan_left(&line) >= sizeof(s->title)) // cut first: the cut may lay bare white space
            line.end = line.at + sizeof(s->title) - 1;
        line = scan_trimmed(line);
        if (!scan_is(line, "-"))
            text_copy(text_of_scan(line), s->title, sizeof(s->title));
        return 0;
    }
    if (!scan_word(&line, "a="))
        return 0;
    struct scan name = scan_until(&line, ':');
    if (!in_medium && scan_is(name, "control"))
        return on_session_control(s, line);
    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
        if (scan_is(name, attributes[i].name) && (in_medium || !attributes[i].medium_only))
            return attributes[i].read(s, line);
    return 0;
}

static int read_audio_line(struct sdp_audio *s, struct scan line, bool in_medium)
{
    if (!scan_word(&line, "a="))
        return 0;
    struct scan name = scan_until(&line, ':');
    if (in_medium && scan_is(name, "control"))
        return read_control(line, s->control);
    return scan_is(name, "extmap") ? read_extmap(line, &s->ext) : 0;
}

// What it says in words of ours counts for nothing, but for a frame rate that can be.
static void settle_foreign(struct sdp *s)
{
    struct fps f = s->ladder.source_fps;
    bool can_be = f.den > 0 && f.den <= 1001 && f.num >= f.den && f.num <= (int64_t)f.den * 240;
    s->ladder = (struct ladder){.source_fps = can_be ? f : (struct fps){25, 1}};
    s->source = SDP_SOURCE_UNKNOWN;
}

int sdp_decode(const char *data, size_t len, struct sdp *s)
{
    memset(s, 0, sizeof(*s));
    s->duration = -1;
    if (len > SDP_MAX_BYTES)
        return ERR_TOO_BIG;
    struct scan in = scan_of(data, len);
    struct scan line;
    struct sdp_choice choice = {.video = -1, .audio = -1, .audio_type = -1};
    int err = sdp_choose_media(in, &choice, s);
    for (int medium = 0; err == 0 && scan_line(&in, &line);) {
        if (scan_left(&line) >= 2 && line.at[0] == 'm' && line.at[1] == '=')
            medium++;
        if (medium == 0 || medium == choice.video)
            err = read_line(s, line, medium != 0);
        if (!err && choice.audio > 0 && (medium == 0 || medium == choice.audio))
            err = read_audio_line(&s->audio, line, medium != 0);
    }
    if (err)
        return err;
    sdp_settle_audio(s, &choice);
    if (sdp_is_foreign(s)) {
        settle_foreign(s);
        return 0;
    }
    const struct ladder *l = &s->ladder;
    if ((l->size_count > 0 || l->level_count > 0) && !ladder_is_valid(l))
        return ERR_MALFORMED;
    return 0;
}
