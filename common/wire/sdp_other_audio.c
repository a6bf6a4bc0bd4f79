// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/sdp_other_audio.h"

#include <string.h>
#include <strings.h>

#include "common/base/scan.h"
#include "common/wire/text.h"

enum {
    MIN_RATE = 7350, // Hz; of AAC (ISO/IEC 14496-3, 1.6.3.4)
    MAX_RATE = 96000,
    AAC_SIZE_BITS = 13, // RFC 3640, 3.3.6
    AAC_INDEX_BITS = 3,
};

// What is known of the medium that is read.
struct medium {
    bool is_audio;    // over RTP
    bool is_sendonly; // it is the camera's loudspeaker
    bool has_codec;
    bool has_control;
    int size_bits, index_bits, delta_bits; // of AAC's headers
    struct sdp_audio audio;
};

// RFC 3551, 6: types that need no rtpmap line. 2 was G.721, which is G726-32.
static const struct {
    int type;
    struct sdp_audio audio;
} known_types[] = {
    {0, {.codec = SDP_AUDIO_PCMU, .clock_rate = 8000, .channels = 1}},
    {2, {.codec = SDP_AUDIO_G726, .clock_rate = 8000, .channels = 1, .bits = 4}},
    {8, {.codec = SDP_AUDIO_PCMA, .clock_rate = 8000, .channels = 1}},
    {10, {.codec = SDP_AUDIO_L16, .clock_rate = 44100, .channels = 2}},
    {11, {.codec = SDP_AUDIO_L16, .clock_rate = 44100, .channels = 1}},
};

static const struct {
    const char *name;
    enum sdp_audio_codec codec;
    int rate; // if the line has none; 0: it must have one
    int channels_max;
    int bits;
} names[] = {
    {"mpeg4-generic", SDP_AUDIO_AAC, 0, 64, 0},
    {"PCMU", SDP_AUDIO_PCMU, 8000, 2, 0},
    {"PCMA", SDP_AUDIO_PCMA, 8000, 2, 0},
    {"L16", SDP_AUDIO_L16, 0, 2, 0},
    {"G726-16", SDP_AUDIO_G726, 8000, 1, 2},
    {"G726-24", SDP_AUDIO_G726, 8000, 1, 3},
    {"G726-32", SDP_AUDIO_G726, 8000, 1, 4},
    {"G726-40", SDP_AUDIO_G726, 8000, 1, 5},
    {"AAL2-G726-16", SDP_AUDIO_G726_AAL2, 8000, 1, 2},
    {"AAL2-G726-24", SDP_AUDIO_G726_AAL2, 8000, 1, 3},
    {"AAL2-G726-32", SDP_AUDIO_G726_AAL2, 8000, 1, 4},
    {"AAL2-G726-40", SDP_AUDIO_G726_AAL2, 8000, 1, 5},
};

static bool is_nocase(struct scan s, const char *word)
{
    return text_is_nocase(text_of_scan(scan_trimmed(s)), word);
}

// Reads "audio 0 RTP/AVP 97 98".
static void begin(struct medium *m, struct scan line)
{
    int64_t type;
    *m = (struct medium){0};
    struct scan kind = scan_until(&line, ' ');
    (void)scan_until(&line, ' '); // the port
    struct scan profile = scan_until(&line, ' ');
    if (!scan_is(kind, "audio") || !sdp_is_rtp(text_of_scan(profile)) ||
        !scan_int(&line, 127, &type))
        return;
    m->is_audio = true;
    for (size_t i = 0; i < sizeof(known_types) / sizeof(known_types[0]); i++)
        if (known_types[i].type == type) {
            m->audio = known_types[i].audio;
            m->has_codec = true;
        }
    m->audio.payload_type = (int)type;
}

// Returns true if the line is about the medium's first format; moves the cursor behind its number.
static bool is_of_format(const struct medium *m, struct scan *v)
{
    int64_t type;
    return scan_int(v, 127, &type) && type == m->audio.payload_type && scan_char(v, ' ');
}

// Reads "97 mpeg4-generic/16000/1".
static void read_rtpmap(struct medium *m, struct scan v)
{
    if (!is_of_format(m, &v))
        return;
    struct scan name = scan_until(&v, '/');
    m->has_codec = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!is_nocase(name, names[i].name))
            continue;
        int64_t rate = names[i].rate, channels = 1;
        if (!scan_end(&v) && !scan_int(&v, MAX_RATE, &rate))
            return;
        if (scan_char(&v, '/') && !scan_int(&v, 64, &channels))
            return;
        m->has_codec = channels >= (names[i].codec != SDP_AUDIO_AAC) &&
                       channels <= names[i].channels_max && rate >= MIN_RATE;
        m->audio.codec = names[i].codec;
        m->audio.clock_rate = (int)rate;
        m->audio.channels = (int)channels;
        m->audio.bits = names[i].bits;
    }
}

static int hex_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static void read_config(struct sdp_audio *a, struct scan v)
{
    a->config_bytes = 0;
    size_t bytes = scan_left(&v) / 2;
    if (scan_left(&v) % 2 || bytes > sizeof(a->config))
        return;
    for (size_t i = 0; i < bytes; i++) {
        int high = hex_of(v.at[2 * i]), low = hex_of(v.at[2 * i + 1]);
        if (high < 0 || low < 0)
            return;
        a->config[i] = (uint8_t)(high << 4 | low);
    }
    a->config_bytes = (int)bytes;
}

static int bits_of(struct scan v)
{
    int64_t bits;
    return scan_int(&v, 32, &bits) && scan_end(&v) ? (int)bits : -1;
}

// Reads "97 streamtype=5; mode=AAC-hbr; config=1408; sizeLength=13; indexLength=3 ...".
static void read_fmtp(struct medium *m, struct scan v)
{
    if (!is_of_format(m, &v))
        return;
    while (!scan_end(&v)) {
        struct scan value = scan_until(&v, ';');
        struct scan name = scan_until(&value, '=');
        value = scan_trimmed(value);
        if (is_nocase(name, "config"))
            read_config(&m->audio, value);
        else if (is_nocase(name, "sizelength"))
            m->size_bits = bits_of(value);
        else if (is_nocase(name, "indexlength"))
            m->index_bits = bits_of(value);
        else if (is_nocase(name, "indexdeltalength"))
            m->delta_bits = bits_of(value);
    }
}

static void read_line(struct medium *m, struct scan line)
{
    if (scan_is(line, "a=sendonly"))
        m->is_sendonly = true;
    else if (scan_word(&line, "a=rtpmap:"))
        read_rtpmap(m, scan_trimmed(line));
    else if (scan_word(&line, "a=fmtp:"))
        read_fmtp(m, scan_trimmed(line));
    else if (scan_word(&line, "a=control:") && scan_left(&line) < SDP_MAX_TEXT) {
        text_copy(text_of_scan(scan_trimmed(line)), m->audio.control, SDP_MAX_TEXT);
        m->has_control = true;
    }
}

// The control URL distinguishes the audio from the video.
static bool is_usable(const struct medium *m)
{
    bool is_aac = m->audio.codec == SDP_AUDIO_AAC;
    return m->is_audio && !m->is_sendonly && m->has_codec && m->has_control &&
           (!is_aac || (m->audio.config_bytes >= 2 && m->size_bits == AAC_SIZE_BITS &&
                        m->index_bits == AAC_INDEX_BITS && m->delta_bits == AAC_INDEX_BITS));
}

bool sdp_other_audio_read(const char *data, size_t len, struct sdp_audio *out)
{
    struct scan in = scan_of(data, len), line = {0};
    struct medium m = {0};
    bool found = false;
    while (!found) {
        bool more = scan_line(&in, &line);
        if (!more || scan_word(&line, "m=")) {
            found = is_usable(&m);
            if (!more || found)
                break;
            begin(&m, line);
        } else if (m.is_audio) {
            read_line(&m, line);
        }
    }
    if (!found)
        return false;
    *out = m.audio;
    out->present = true;
    return true;
}
