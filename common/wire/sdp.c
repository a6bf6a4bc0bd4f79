// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/sdp.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/put.h"
#include "common/base/scan.h"
#include "common/base/utf8.h"
#include "common/wire/rtsp.h"
#include "common/wire/text.h"

#define CODEC_H264      "H264/90000"
#define CODEC_SYNTHETIC "X-WEIR-SYNTHETIC/90000"
#define CODEC_VP9       "VP9/90000"    // RFC 9628, 7.1
#define CODEC_HEVC      "H265/90000"   // RFC 7798, 7.1
#define CODEC_JPEG      "JPEG/90000"   // RFC 2435
#define CODEC_OPUS      "opus/48000/2" // for any number of channels (RFC 7587, 7)
#define CODEC_AAC       "mpeg4-generic/48000/2"

// The kinds of a=x-weir-source.
extern const char *const sdp_source_names[SDP_SOURCES];

enum { PT_JPEG = 26 }; // RFC 3551, 6

static bool sdp_scan_payload_type(struct scan *s, int *out);

// The media that are used: over RTP, the first video and the first audio medium that map a payload
// type to a supported codec.
struct sdp_choice {
    int video;         // number of the video medium, from 1; 0: the session's lines; -1: none
    int audio;         // number of the audio medium, from 1; 0: the session's lines; -1: none
    int current;       // number of the medium being read
    bool is_audio;     // true if the current medium is audio
    int audio_type;    // first payload type that any audio medium offers; -1: none
    bool offered[128]; // payload types of the current medium
};

bool sdp_is_rtp(struct text profile)
{
    static const char *const names[] = {"RTP/AVP",     "RTP/AVPF",     "RTP/AVP/TCP",
                                        "RTP/AVP/UDP", "RTP/AVPF/TCP", "RTP/AVPF/UDP"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (text_is(profile, names[i]))
            return true;
    return false;
}

// H.264 replaces other codecs, which else stay.
static void choose_video(struct sdp_choice *c, enum sdp_codec codec, int pt, struct sdp *s)
{
    bool is_better = codec == SDP_H264 && s->codec != SDP_H264 && s->codec != SDP_SYNTHETIC;
    if (c->video > 0 && !is_better)
        return;
    c->video = c->current;
    s->payload_type = pt;
    s->codec = codec;
}

static int begin_medium(struct sdp_choice *c, struct scan line, struct sdp *s)
{
    int64_t port, ports;
    c->current++;
    memset(c->offered, 0, sizeof(c->offered));
    struct scan kind = scan_until(&line, ' ');
    if (!scan_int(&line, 65535, &port) ||
        (scan_char(&line, '/') && !scan_int(&line, 65535, &ports)) || !scan_char(&line, ' '))
        return ERR_MALFORMED;
    struct scan profile = scan_until(&line, ' ');
    c->is_audio = scan_is(kind, "audio");
    if (!(c->is_audio || scan_is(kind, "video")) || !sdp_is_rtp(text_of_scan(profile)))
        return 0;
    for (int pt; sdp_scan_payload_type(&line, &pt); scan_space(&line)) {
        c->offered[pt] = true;
        if (c->is_audio && c->audio_type < 0)
            c->audio_type = pt;
        if (!c->is_audio && pt == PT_JPEG)
            choose_video(c, SDP_JPEG, pt, s);
    }
    return 0;
}

// The clock rate has one valid value. Some servers omit it; some add or omit a number of channels.
static bool is_codec(struct scan v, const char *name, const char *rate)
{
    if (!text_is_nocase(text_of_scan(scan_trimmed(scan_until(&v, '/'))), name))
        return false;
    struct scan given = scan_trimmed(scan_until(&v, '/'));
    return scan_left(&given) == 0 || scan_is(given, rate);
}

static int read_rtpmap(struct sdp_choice *c, struct scan v, struct sdp *s)
{
    int pt;
    if (!sdp_scan_payload_type(&v, &pt) || !scan_char(&v, ' '))
        return 0;
    struct text codec = text_of_scan(scan_trimmed(v));
    if (!c->offered[pt])
        return 0;
    if (c->is_audio && c->audio < 0 && is_codec(v, "opus", "48000")) {
        c->audio = c->current;
        s->audio.payload_type = pt;
    } else if (c->is_audio && pt == c->audio_type) {
        text_copy(text_of_scan(scan_trimmed(scan_until(&v, '/'))), s->other_audio,
                  sizeof(s->other_audio));
    }
    static const struct {
        const char *name;
        enum sdp_codec codec;
    } videos[] = {{"H264", SDP_H264}, {"VP9", SDP_VP9}, {"H265", SDP_HEVC}, {"JPEG", SDP_JPEG}};
    if (c->is_audio)
        return 0;
    for (size_t i = 0; i < sizeof(videos) / sizeof(videos[0]); i++)
        if (is_codec(v, videos[i].name, "90000"))
            choose_video(c, videos[i].codec, pt, s);
    if (text_is_nocase(codec, CODEC_SYNTHETIC))
        choose_video(c, SDP_SYNTHETIC, pt, s);
    return 0;
}

// Takes the next line. Empty ones, and those with control characters, as some cameras send, are
// skipped.
static bool take_line(struct scan *in, struct scan *line)
{
    while (scan_line(in, line))
        if (!scan_end(line) && text_is_clean(*line))
            return true;
    return false;
}

// RFC 8866, 9: every line is a lower-case letter, '=' and text; the first is the version. Lines of
// another form and unknown lines are skipped. Some cameras send no version, or one after a byte
// order mark: then a medium shows that it is a description.
static int sdp_choose_media(struct scan in, struct sdp_choice *c, struct sdp *s)
{
    struct scan line;
    bool is_sdp = false;
    while (take_line(&in, &line)) {
        int err = 0;
        is_sdp |= scan_is(line, "v=0");
        if (scan_word(&line, "v=") && !is_sdp)
            err = ERR_MALFORMED;
        else if (scan_word(&line, "m="))
            err = begin_medium(c, line, s);
        else if (scan_word(&line, "a=rtpmap:"))
            err = read_rtpmap(c, scan_trimmed(line), s);
        if (err)
            return err;
    }
    return c->video > 0 ? 0 : is_sdp ? ERR_UNSUPPORTED : ERR_MALFORMED;
}

// In a flow of weir-send that carries both media, the payload types distinguish them, so they must
// differ.
static void sdp_settle_audio(struct sdp *s, const struct sdp_choice *c)
{
    s->audio.present =
        c->audio > 0 && (s->audio.payload_type != s->payload_type || sdp_is_third_party(s));
    if (!s->audio.present)
        s->audio = (struct sdp_audio){0};
    if (c->audio > 0 || c->audio_type < 0)
        s->other_audio[0] = '\0';
    else if (!s->other_audio[0]) // RFC 3551, 6: types with a static assignment need no rtpmap line
        snprintf(s->other_audio, sizeof(s->other_audio), "%s",
                 c->audio_type == 0   ? "PCMU"
                 : c->audio_type == 8 ? "PCMA"
                                      : "an unknown format");
}

const char *const sdp_source_names[SDP_SOURCES] = {
    [SDP_SOURCE_UNKNOWN] = "unknown", [SDP_SOURCE_TEST] = "test",
    [SDP_SOURCE_FILE] = "file",       [SDP_SOURCE_GREEDY] = "greedy",
    [SDP_SOURCE_STEADY] = "steady",   [SDP_SOURCE_GODDARD] = "goddard",
    [SDP_SOURCE_LAYERS] = "layers",   [SDP_SOURCE_CAMERA] = "camera",
    [SDP_SOURCE_SCREEN] = "screen",   [SDP_SOURCE_RELAYED] = "relayed",
};

// Writes a value as one line: control characters in it, such as line ends, are replaced.
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
    if (s->duration >= 0) { // written as integers: the decimal point depends on the locale
        long long ms = (long long)(s->duration * 1000 + 0.5);
        put_format(p, "a=range:npt=0-%lld.%03lld\r\n", ms / 1000, ms % 1000);
    } else {
        put_format(p, "a=range:npt=now-\r\n");
    }
    if (s->clock[0])
        put_line(p, "a=x-weir-clock:", s->clock);
    if (s->reorders)
        put_format(p, "a=x-weir-order:decoding\r\n");
    if (s->recorded)
        put_format(p, "a=x-weir-recorded\r\n");
    if (s->via[0])
        put_line(p, "a=x-weir-via:", s->via);
    if (s->validator[0])
        put_line(p, "a=x-weir-origin:", s->validator);
    for (int i = 0; i < s->subtitle_count; i++)
        put_line(p, "a=x-weir-subtitles:", s->subtitles[i]);
    if (s->subtitle_shown)
        put_format(p, "a=x-weir-subtitles-shown:%d\r\n", s->subtitle_shown);
    for (int i = 0; i < s->audio_track_count; i++)
        put_line(p, "a=x-weir-audio:", s->audio_tracks[i]);
}

static void put_ladder(struct put *p, const struct sdp *s)
{
    const struct ladder *l = &s->ladder;
    put_format(p, "a=x-weir-source:%s %dx%d@%d/%d\r\n", sdp_source_names[s->source],
               l->source_width, l->source_height, l->source_fps.num, l->source_fps.den);
    if (l->cumulative)
        put_format(p, "a=x-weir-layers:sizes\r\n");
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
    if (ext->made)
        put_format(p, "a=extmap:%d %s\r\n", ext->made, RTP_EXT_MADE_URI);
}

static void put_audio(struct put *p, const struct sdp_audio *s)
{
    // RFC 3640, 4.1: profile level 41 is AAC Profile, Level 2; the configuration is that of AAC-LC,
    // 48 kHz, two channels (ISO/IEC 14496-3, 1.6.2.1).
    static const char *const codecs[] = {
        [SDP_AUDIO_OPUS] = CODEC_OPUS, [SDP_AUDIO_AAC] = CODEC_AAC};
    static const char *const parameters[] = {
        [SDP_AUDIO_OPUS] = "sprop-stereo=1\r\na=ptime:20",
        [SDP_AUDIO_AAC] = "streamtype=5;profile-level-id=41;mode=AAC-hbr;sizelength=13;"
                          "indexlength=3;indexdeltalength=3;config=1190"};
    assert(s->codec == SDP_AUDIO_OPUS || s->codec == SDP_AUDIO_AAC);
    int pt = s->payload_type;
    put_format(p, "m=audio 0 RTP/AVP %d\r\n", pt);
    put_rate(p, s->bitrate_bps);
    put_format(p, "a=rtpmap:%d %s\r\n", pt, codecs[s->codec]);
    put_format(p, "a=fmtp:%d %s\r\n", pt, parameters[s->codec]);
    put_extensions(p, &s->ext);
    if (s->control[0])
        put_line(p, "a=control:", s->control);
}

// RFC 7798, 7.1.
static void put_fmtp_hevc(struct put *p, const struct sdp *s)
{
    static const char *const names[] = {"sprop-vps", "sprop-sps", "sprop-pps"};
    unsigned profile, tier, level;
    if (sscanf(s->profile_level_id, "%2x%2x%2x", &profile, &tier, &level) != 3)
        return; // the parameter sets come with each key frame
    put_format(p, "a=fmtp:%d profile-id=%u;tier-flag=%u;level-id=%u", s->payload_type, profile,
               tier, level);
    const char *set = s->sprop;
    for (int i = 0; i < 3 && *set; i++) {
        size_t len = strcspn(set, ",");
        put_format(p, ";%s=%.*s", names[i], (int)len, set);
        set += len + (set[len] == ',');
    }
    put_format(p, "\r\n");
}

static void put_medium(struct put *p, const struct sdp *s)
{
    int pt = s->payload_type;
    put_format(p, "m=video 0 RTP/AVP %d\r\n", pt);
    put_rate(p, s->bitrate_bps);
    static const char *const codecs[] = {[SDP_SYNTHETIC] = CODEC_SYNTHETIC,
                                         [SDP_H264] = CODEC_H264,
                                         [SDP_VP9] = CODEC_VP9,
                                         [SDP_HEVC] = CODEC_HEVC,
                                         [SDP_JPEG] = CODEC_JPEG};
    put_format(p, "a=rtpmap:%d %s\r\n", pt, codecs[s->codec]);
    if (s->codec == SDP_VP9) // RFC 9628, 7.1: profile 0 has 8 bits and 4:2:0
        put_format(p, "a=fmtp:%d profile-id=0\r\n", pt);
    if (s->codec == SDP_HEVC)
        put_fmtp_hevc(p, s);
    if (s->codec == SDP_H264) { // RFC 6184, 8.1
        put_format(p, "a=fmtp:%d packetization-mode=1", pt);
        if (s->profile_level_id[0])
            put_format(p, ";profile-level-id=%s", s->profile_level_id);
        if (s->sprop[0])
            put_format(p, ";sprop-parameter-sets=%s", s->sprop);
        put_format(p, "\r\n");
    }
    put_format(p, "a=rtcp-fb:%d nack\r\na=rtcp-fb:%d nack pli\r\n", pt, pt);
    if (s->tmmbr)
        put_format(p, "a=rtcp-fb:%d ccm tmmbr\r\n", pt);
    if (s->ccfb) // RFC 8888, 6: applies to all payload types
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

bool sdp_has_frames(const struct sdp *s)
{
    return sdp_has_pictures(s) || s->source == SDP_SOURCE_GODDARD || s->source == SDP_SOURCE_LAYERS;
}

uint8_t sdp_payload_type(enum sdp_codec codec)
{
    static const uint8_t types[] = {[SDP_SYNTHETIC] = RTP_PT_SYNTHETIC,
                                    [SDP_H264] = RTP_PT_H264,
                                    [SDP_VP9] = RTP_PT_VP9,
                                    [SDP_HEVC] = RTP_PT_HEVC,
                                    [SDP_JPEG] = PT_JPEG};
    return types[codec];
}

bool sdp_has_pictures(const struct sdp *s)
{
    return s->codec != SDP_SYNTHETIC;
}

bool sdp_is_third_party(const struct sdp *s)
{
    return sdp_has_pictures(s) && s->ext.adu == 0;
}

static bool sdp_scan_payload_type(struct scan *s, int *out)
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

// Reads "1280x720@30/1".
static bool scan_geometry(struct scan *s, int *width, int *height, struct fps *fps)
{
    return scan_positive(s, width) && scan_char(s, 'x') && scan_positive(s, height) &&
           scan_char(s, '@') && scan_positive(s, &fps->num) && scan_char(s, '/') &&
           scan_positive(s, &fps->den);
}

// Later versions may add fields to one of our lines, after a space.
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

static int on_layers(struct sdp *s, struct scan v)
{
    s->ladder.cumulative = scan_is(v, "sizes");
    return s->ladder.cumulative ? 0 : ERR_MALFORMED;
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

static int on_via(struct sdp *s, struct scan v)
{
    struct text text = text_of_scan(v);
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] < ' ' || text.at[i] > '~')
            return 0;
    text_copy(text, s->via, sizeof(s->via));
    return 0;
}

static int on_origin(struct sdp *s, struct scan v)
{
    struct text text = text_of_scan(v);
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] < ' ' || text.at[i] > '~')
            return 0; // as if there were none
    if (text.len < sizeof(s->validator))
        text_copy(text, s->validator, sizeof(s->validator));
    return 0;
}

static int on_session_control(struct sdp *s, struct scan v)
{
    struct scan url = v;
    if ((scan_word(&url, "rtsp://") || scan_word(&url, "rtsps://")) &&
        scan_left(&v) < sizeof(s->base)) // otherwise it is "*" or
                                         // useless
        text_copy(text_of_scan(v), s->base, sizeof(s->base));
    return 0;
}

// "incl IN IP4 GROUP SOURCE ...", of which the first source counts (RFC 4570, 3).
static int on_source_filter(struct sdp *s, struct scan v)
{
    v = scan_trimmed(v);
    struct scan mode = scan_until(&v, ' ');
    for (int i = 0; i < 3; i++)
        (void)scan_until(&v, ' ');
    struct text source = text_of_scan(scan_until(&v, ' '));
    if (scan_is(mode, "incl") && source.len < sizeof(s->group_source))
        text_copy(source, s->group_source, sizeof(s->group_source));
    return 0;
}

// Reads "25" or "29.97" (RFC 8866, 6.13); an impossible rate counts as absent.
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
        return ERR_TOO_BIG; // truncated, it would name another resource
    text_copy(text_of_scan(v), out, SDP_MAX_TEXT);
    return 0;
}

static int on_control(struct sdp *s, struct scan v)
{
    return read_control(v, s->control);
}

static int on_range(struct sdp *s, struct scan v)
{
    struct rtsp_range range; // a form that we do not read leaves the length unknown
    if (rtsp_range_decode(text_of_scan(v), &range) == 0 && range.kind == RTSP_RANGE_NPT &&
        range.from >= 0 && range.to >= range.from)
        s->duration = range.to - range.from;
    return 0;
}

// RFC 8285, 5: "id[/direction] URI [attributes]". Ids above 14 require the two-byte form, which no
// known sender uses.
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
    else if (scan_is(uri, RTP_EXT_MADE_URI))
        ext->made = (uint8_t)id;
    return 0;
}

// An extmap line before the media applies to all of them.
static int on_extmap(struct sdp *s, struct scan v)
{
    return read_extmap(v, &s->ext);
}

// RFC 5104, 7.1: "ccm tmmbr", or "ccm tmmbr smaxpr=N".
static bool is_tmmbr(struct scan v)
{
    struct scan ccm = scan_until(&v, ' '), what = scan_trimmed(v), name = scan_until(&what, ' ');
    return scan_is(ccm, "ccm") && scan_is(name, "tmmbr");
}

// Tracks beyond SUBTITLE_TRACKS are ignored.
static int on_subtitles(struct sdp *s, struct scan v)
{
    char name[SUBTITLE_NAME];
    if (s->subtitle_count == SUBTITLE_TRACKS)
        return 0;
    text_copy(text_trimmed(v, sizeof(name)), name, sizeof(name));
    utf8_copy(name, s->subtitles[s->subtitle_count++], SUBTITLE_NAME);
    return 0;
}

// A number that is no track is ignored by the viewer.
static int on_subtitles_shown(struct sdp *s, struct scan v)
{
    int64_t track;
    if (scan_int(&v, SUBTITLE_TRACKS, &track) && scan_end(&v))
        s->subtitle_shown = (int)track;
    return 0;
}

// Tracks beyond SDP_AUDIO_TRACKS are ignored.
static int on_audio_track(struct sdp *s, struct scan v)
{
    char name[SDP_TRACK_NAME];
    if (s->audio_track_count == SDP_AUDIO_TRACKS)
        return 0;
    text_copy(text_trimmed(v, sizeof(name)), name, sizeof(name));
    utf8_copy(name, s->audio_tracks[s->audio_track_count++], SDP_TRACK_NAME);
    return 0;
}

// RFC 8888, 6: "* ack ccfb", never for a single payload type.
static int on_rtcp_fb(struct sdp *s, struct scan v)
{
    struct scan all = v; // RFC 4585, 4.2: "PT nack", "PT nack pli", or for all payload types
    scan_until(&all, ' ');
    s->nack |= scan_is(scan_trimmed(all), "nack");
    s->pli |= scan_is(scan_trimmed(all), "nack pli");
    s->tmmbr |= is_tmmbr(scan_trimmed(all));
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

// Keeps one number of HEVC's format as two of the digits of profile_level_id, from digit `at` on.
static void read_number(struct sdp *s, struct text text, size_t at)
{
    struct scan v = scan_of(text.at, text.len);
    int64_t value;
    char digits[3];
    if (!scan_int(&v, 255, &value) || !scan_end(&v))
        return;
    if (!s->profile_level_id[0])
        memcpy(s->profile_level_id, "01005d", sizeof("01005d")); // RFC 7798, 7.1: the defaults
    snprintf(digits, sizeof(digits), "%02x", (unsigned)value);
    memcpy(s->profile_level_id + at, digits, 2);
}

// Adds a parameter set of HEVC. weir-send writes VPS, SPS and PPS in this order.
static int add_set(struct sdp *s, struct text text)
{
    size_t used = strlen(s->sprop), comma = used > 0;
    if (used + comma + text.len >= sizeof(s->sprop))
        return ERR_TOO_BIG;
    if (comma)
        s->sprop[used] = ',';
    text_copy(text, s->sprop + used + comma, sizeof(s->sprop) - used - comma);
    return 0;
}

// RFC 7798, 7.1. ERR_UNSUPPORTED: payloads have decoding order numbers.
static int on_parameter_hevc(struct sdp *s, struct text name, struct text text)
{
    static const char *const numbers[] = {"profile-id", "tier-flag", "level-id"};
    static const char *const sets[] = {"sprop-vps", "sprop-sps", "sprop-pps"};
    if (text_is_nocase(name, "sprop-max-don-diff") && !text_is(text, "0"))
        return ERR_UNSUPPORTED;
    for (size_t i = 0; i < 3; i++) {
        if (text_is_nocase(name, numbers[i]))
            read_number(s, text, 2 * i);
        else if (text_is_nocase(name, sets[i]) && text.len > 0)
            return add_set(s, text);
    }
    return 0;
}

// RFC 6184, 8.1: `name=value` separated by semicolons.
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
        if (s->codec == SDP_HEVC) {
            int err = on_parameter_hevc(s, name, text);
            if (err)
                return err;
        } else if (text_is_nocase(name, "packetization-mode")) {
            if (!text_is(text, "0") && !text_is(text, "1"))
                return ERR_UNSUPPORTED; // interleaved mode: the depacketiser does not support it
        } else if (text_is_nocase(name, "profile-level-id")) {
            if (text.len == 6 &&
                is_hexadecimal(text)) // otherwise the parameter sets have the level
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
    {"control", true, on_control},
    {"fmtp", true, on_fmtp},
    {"framerate", true, on_framerate},
    {"rtcp-fb", true, on_rtcp_fb},
    {"range", false, on_range},
    {"source-filter", false, on_source_filter},
    {"extmap", false, on_extmap},
    {"x-weir-source", false, on_source},
    {"x-weir-clock", false, on_clock},
    {"x-weir-size", false, on_size},
    {"x-weir-level", false, on_level},
    {"x-weir-order", false, on_order},
    {"x-weir-layers", false, on_layers},
    {"x-weir-via", false, on_via},
    {"x-weir-origin", false, on_origin},
    {"x-weir-subtitles", false, on_subtitles},
    {"x-weir-subtitles-shown", false, on_subtitles_shown},
    {"x-weir-audio", false, on_audio_track},
};

static int read_line(struct sdp *s, struct scan line, bool in_medium)
{
    if (!in_medium && scan_word(&line, "s=")) {
        struct text title = text_trimmed(line, sizeof(s->title));
        if (!text_is(title, "-"))
            text_copy(title, s->title, sizeof(s->title));
        return 0;
    }
    if (!scan_word(&line, "a="))
        return 0;
    struct scan name = scan_until(&line, ':');
    line = scan_trimmed(line); // some cameras put blanks there
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
        return read_control(scan_trimmed(line), s->control);
    return scan_is(name, "extmap") ? read_extmap(line, &s->ext) : 0;
}

// Discards the values of Weir's own attributes, except for a plausible frame rate.
static void settle_third_party(struct sdp *s)
{
    struct fps f = s->ladder.source_fps;
    bool can_be = f.den > 0 && f.den <= 1001 && f.num >= f.den && f.num <= (int64_t)f.den * 240;
    s->ladder = (struct ladder){.source_fps = can_be ? f : (struct fps){25, 1}};
    s->source = SDP_SOURCE_UNKNOWN;
}

void sdp_make_third_party(struct sdp *s)
{
    s->ext = s->audio.ext = (struct rtp_ext_ids){0};
    s->reorders = false;
    settle_third_party(s);
}

int sdp_decode(const char *data, size_t len, struct sdp *s)
{
    memset(s, 0, sizeof(*s));
    s->duration = -1;
    if (len > SDP_MAX_BYTES)
        return ERR_TOO_BIG;
    // Some cameras send a C string's NUL.
    struct scan in = scan_of(data, len ? strnlen(data, len) : 0);
    struct scan line;
    struct sdp_choice choice = {.video = -1, .audio = -1, .audio_type = -1};
    int err = sdp_choose_media(in, &choice, s);
    for (int medium = 0; err == 0 && take_line(&in, &line);) {
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
    if (sdp_is_third_party(s)) {
        settle_third_party(s);
        return 0;
    }
    const struct ladder *l = &s->ladder;
    if ((l->size_count > 0 || l->level_count > 0) && !ladder_is_valid(l))
        return ERR_MALFORMED;
    return 0;
}
