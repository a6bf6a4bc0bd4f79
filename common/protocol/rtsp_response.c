// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/rtsp_response.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"
#include "common/base/scan.h"

// ";timeout=SECONDS" of a Session header (12.37); some servers put blanks around each part.
static usec_t session_timeout(struct scan parameters)
{
    int64_t seconds;
    while (!scan_end(&parameters)) {
        struct scan one = scan_until(&parameters, ';');
        struct text name = text_of_scan(scan_trimmed(scan_until(&one, '=')));
        one = scan_trimmed(one);
        if (text_is_nocase(name, "timeout") && scan_int(&one, 86400, &seconds) && seconds > 0)
            return seconds * USEC_PER_SEC;
    }
    return RTSP_DEFAULT_TIMEOUT;
}

int rtsp_response_setup(const struct rtsp_item *r, size_t id_cap, struct rtsp_setup_response *out)
{
    struct scan parameters = text_scan(rtsp_header(r, "Session"));
    out->session = text_of_scan(scan_trimmed(scan_until(&parameters, ';')));
    out->session_timeout = session_timeout(parameters);
    out->transport = rtsp_header(r, "Transport");
    out->multicast = false;
    for (struct scan s = text_scan(out->transport); !scan_end(&s);)
        out->multicast |= scan_is(scan_trimmed(scan_until(&s, ';')), "multicast");
    bool has_id = out->session.at && out->session.len && out->session.len < id_cap;
    return has_id ? 0 : ERR_MALFORMED;
}

// RFC 2326, 12.33. Returns the number of the first packet of the first stream; -1: it is not said.
static int first_seq(struct text info)
{
    struct scan streams = text_scan(info), first = scan_until(&streams, ',');
    int64_t seq;
    while (!scan_end(&first)) {
        struct scan one = scan_trimmed(scan_until(&first, ';'));
        if (scan_word(&one, "seq=") && scan_int(&one, UINT16_MAX, &seq) && seq >= 0)
            return (int)seq;
    }
    return -1;
}

struct rtsp_play_response rtsp_response_play(const struct rtsp_item *r)
{
    struct rtsp_play_response out = {
        .seconds = NAN, .first = -1, .show = -1, .scale = 1, .seq = -1};
    struct rtsp_range range;
    struct rtsp_frames frames;
    struct text header = rtsp_header(r, "Range");
    if (header.at && rtsp_range_decode(header, &range) == 0 && range.from >= 0 &&
        range.kind == RTSP_RANGE_NPT)
        out.seconds = range.from;
    header = rtsp_header(r, RTSP_FRAMES_HEADER);
    if (header.at && rtsp_frames_decode(header, &frames) == 0) {
        out.first = frames.first;
        out.show = frames.show;
        out.ahead = frames.ahead;
        out.until = frames.until;
    }
    struct rtsp_rewind rewind;
    header = rtsp_header(r, RTSP_REWIND_HEADER);
    if (header.at && rtsp_rewind_decode(header, &rewind) == 0) {
        out.behind = rewind.behind;
        out.back = rewind.back;
    }
    double scale;
    header = rtsp_header(r, "Scale");
    // No media plays at scale 0: a clock of that speed would never reach a frame.
    if (header.at && rtsp_scale_decode(header, &scale) == 0 && fabs(scale) >= RTSP_MIN_SCALE)
        out.scale = scale;
    header = rtsp_header(r, "Speed");
    if (header.at && rtsp_scale_decode(header, &scale) == 0 && scale > 0)
        out.speed = scale;
    out.seq = first_seq(rtsp_header(r, "RTP-Info"));
    return out;
}

bool rtsp_response_lists(const struct rtsp_item *r, const char *method)
{
    for (struct scan methods = text_scan(rtsp_header(r, "Public")); !scan_end(&methods);
         methods.at++) {
        struct scan from_here = methods;
        if (scan_word(&from_here, method))
            return true;
    }
    return false;
}

void rtsp_response_base(const struct rtsp_item *r, const struct sdp *sdp, char base[URL_MAX_TEXT])
{
    char url[URL_MAX_TEXT];
    struct text header = rtsp_header(r, "Content-Base");
    if (!header.at)
        header = rtsp_header(r, "Content-Location");
    text_copy(header, url, sizeof(url));
    bool has_base = header.len < sizeof(url) && url_scheme(url) && url_is_plain(url);
    // The SDP's own URL counts if the response names none, or if the medium's URL is absolute, so
    // that only requests for the whole session use it.
    if (*sdp->base && url_is_plain(sdp->base) && (!has_base || url_scheme(sdp->control)))
        memcpy(base, sdp->base, sizeof(sdp->base));
    else if (has_base)
        memcpy(base, url, sizeof(url));
}

void rtsp_response_refusal(const struct rtsp_item *r, enum request_kind kind, char *out, size_t cap)
{
    char reason[96];
    char body[256];
    text_copy(r->reason, reason, sizeof(reason));
    size_t len = rtsp_response_line(r, body, sizeof(body));
    const char *what = kind == REQUEST_LEVEL ? " (level)" : kind == REQUEST_ONLY ? " (only)" : "";
    snprintf(out, cap, "the server refuses %s%s: %d %s%s%s", rtsp_method_name(request_method(kind)),
             what, r->status, *reason ? reason : rtsp_reason(r->status), len ? ": " : "", body);
}

size_t rtsp_response_line(const struct rtsp_item *r, char *out, size_t cap)
{
    text_copy(r->body, out, cap);
    for (char *s = out; *s; s++) {
        if (!isprint((unsigned char)*s))
            *s = ' ';
    }
    size_t len = strlen(out);
    while (len && out[len - 1] == ' ')
        out[--len] = '\0';
    return len;
}
