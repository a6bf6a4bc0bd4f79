// SPDX-License-Identifier: GPL-2.0-or-later
// Which media of a description, and which codecs, are ours.
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/wire/sdp_parts.h"
#include "common/wire/text.h"

static int begin_medium(struct sdp_choice *c, struct scan line)
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
    if (!(c->is_audio || scan_is(kind, "video")) ||
        !(scan_is(profile, "RTP/AVP") || scan_is(profile, "RTP/AVPF")))
        return 0;
    for (int pt; sdp_scan_payload_type(&line, &pt); scan_space(&line)) {
        c->offered[pt] = true;
        if (c->is_audio && c->audio_type < 0)
            c->audio_type = pt;
    }
    return 0;
}

// Some leave out the clock rate, which is always the same, or add a number of channels, or leave it
// out.
static bool is_codec(struct scan v, const char *name, const char *rate)
{
    if (!text_is_nocase(text_of_scan(scan_trimmed(scan_until(&v, '/'))), name))
        return false;
    struct scan told = scan_trimmed(scan_until(&v, '/'));
    return scan_left(&told) == 0 || scan_is(told, rate);
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
    bool h264 = is_codec(v, "H264", "90000");
    if (c->is_audio || c->video > 0 || !(h264 || text_is_nocase(codec, CODEC_SYNTHETIC)))
        return 0;
    c->video = c->current;
    s->payload_type = pt;
    s->h264 = h264;
    return 0;
}

// RFC 8866, 9: every line is a lower-case letter, '=' and text; the first is the version. Lines of
// another form are passed over, as are those that say nothing to us.
int sdp_choose_media(struct scan in, struct sdp_choice *c, struct sdp *s)
{
    struct scan line;
    if (!scan_line(&in, &line) || !scan_is(line, "v=0"))
        return ERR_MALFORMED;
    while (scan_line(&in, &line)) {
        int err = 0;
        if (scan_end(&line))
            continue;
        if (!text_is_clean(line))
            return ERR_MALFORMED;
        if (scan_word(&line, "m="))
            err = begin_medium(c, line);
        else if (scan_word(&line, "a=rtpmap:"))
            err = read_rtpmap(c, line, s);
        if (err)
            return err;
    }
    return c->video > 0 ? 0 : ERR_UNSUPPORTED;
}

// Of weir-send one flow carries both, which are told apart by their payload types.
void sdp_settle_audio(struct sdp *s, const struct sdp_choice *c)
{
    s->audio.present =
        c->audio > 0 && (s->audio.payload_type != s->payload_type || sdp_is_foreign(s));
    if (!s->audio.present)
        s->audio = (struct sdp_audio){0};
    if (c->audio > 0 || c->audio_type < 0)
        s->other_audio[0] = '\0';
    else if (!s->other_audio[0]) // RFC 3551, 6: types that need no line to be known
        snprintf(s->other_audio, sizeof(s->other_audio), "%s",
                 c->audio_type == 0   ? "PCMU"
                 : c->audio_type == 8 ? "PCMA"
                                      : "an unknown format");
}
