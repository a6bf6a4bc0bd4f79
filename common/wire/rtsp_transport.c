// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/rtsp_transport.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/put.h"

// Takes the text up to a comma. A comma separates alternatives only before "token/", as
// `x-weir=minbuf:1,3` also contains one.
static struct scan take_alternative(struct scan *s)
{
    struct scan part = *s;
    bool quoted = false;
    for (; !scan_end(s); s->at++) {
        quoted ^= *s->at == '"';
        if (*s->at != ',' || quoted)
            continue;
        struct scan next = {s->at + 1, s->end};
        scan_space(&next);
        struct scan token = text_take_token(&next);
        if (!scan_end(&token) && scan_char(&next, '/')) {
            part.end = s->at++;
            return part;
        }
    }
    part.end = s->end;
    return part;
}

// Reads "A" or "A-B".
static int decode_pair(struct scan value, int min, int max, int out[2])
{
    int64_t a, b = -1;
    if (!scan_int(&value, max, &a) || a < min)
        return ERR_MALFORMED;
    if (!scan_end(&value) &&
        (!scan_char(&value, '-') || !scan_int(&value, max, &b) || b < min || !scan_end(&value)))
        return ERR_MALFORMED;
    out[0] = (int)a;
    out[1] = (int)b;
    return 0;
}

// Reads at most `digits` hexadecimal digits, 16 or fewer.
static int decode_hex(struct scan value, size_t digits, uint64_t *out)
{
    if (scan_end(&value) || scan_left(&value) > digits)
        return ERR_MALFORMED;
    *out = 0;
    for (; !scan_end(&value); value.at++) {
        char c = text_lower(*value.at);
        bool digit = c >= '0' && c <= '9';
        if (!digit && (c < 'a' || c > 'f'))
            return ERR_MALFORMED;
        *out = *out << 4 | (uint64_t)(digit ? c - '0' : c - 'a' + 10);
    }
    return 0;
}

// Some servers write the SSRC in decimal, or with more than 8 digits; then it counts as absent.
static void decode_ssrc(struct scan value, struct rtsp_transport *t)
{
    uint64_t ssrc;
    t->has_ssrc = decode_hex(value, 8, &ssrc) == 0;
    t->ssrc = t->has_ssrc ? (uint32_t)ssrc : 0;
}

static int decode_token(struct scan value, struct rtsp_transport *t)
{
    t->has_token = true;
    return decode_hex(value, 16, &t->token);
}

// Returns true if the character may occur in the value of x-weir, x-cc and x-weir-repair: it
// neither ends the parameter nor begins an alternative.
static bool is_name_char(char c)
{
    return text_is_token_char(c) || (c != '\0' && strchr(":,=@", c));
}

static int decode_name(struct scan value, char out[RTSP_MAX_NAME])
{
    if (scan_left(&value) >= 2 && *value.at == '"' && value.end[-1] == '"') {
        value.at++;
        value.end--;
    }
    if (scan_end(&value) || scan_left(&value) >= RTSP_MAX_NAME)
        return ERR_MALFORMED;
    for (const char *c = value.at; c < value.end; c++)
        if (!is_name_char(*c))
            return ERR_MALFORMED;
    text_copy(text_of_scan(value), out, RTSP_MAX_NAME);
    return 0;
}

static int decode_transport_parameter(struct scan parameter, struct rtsp_transport *t)
{
    struct text name = text_of_scan(scan_trimmed(scan_until(&parameter, '=')));
    struct scan value = scan_trimmed(parameter);
    if (text_is_nocase(name, "multicast"))
        t->multicast = true;
    else if (text_is_nocase(name, "interleaved"))
        return decode_pair(value, 0, 255, t->interleaved);
    else if (text_is_nocase(name, "client_port"))
        return decode_pair(value, 1, 65535, t->client_port);
    else if (text_is_nocase(name, "server_port"))
        (void)(decode_pair(value, 1, 65535, t->server_port) == 0 ||
               (t->server_port[0] = t->server_port[1] = -1)); // some servers send 0-0
    else if (text_is_nocase(name, "port"))
        return decode_pair(value, 1, 65535, t->port);
    else if (text_is_nocase(name, "ssrc"))
        decode_ssrc(value, t);
    else if (text_is_nocase(name, "source"))
        (void)(decode_name(value, t->source) == 0 || (t->source[0] = '\0'));
    else if (text_is_nocase(name, "destination"))
        (void)(decode_name(value, t->destination) == 0 || (t->destination[0] = '\0'));
    else if (text_is_nocase(name, "x-weir"))
        return decode_name(value, t->weir);
    else if (text_is_nocase(name, "x-cc"))
        return decode_name(value, t->cc);
    else if (text_is_nocase(name, "x-weir-repair"))
        return decode_name(value, t->repair);
    else if (text_is_nocase(name, "x-weir-srtp"))
        return decode_name(value, t->srtp);
    else if (text_is_nocase(name, "x-weir-ecn"))
        t->ecn = true;
    else if (text_is_nocase(name, "x-weir-token"))
        return decode_token(value, t);
    return 0; // mode, ttl, ...: ignored
}

// Returns false if the profile or the lower transport is unknown.
static bool decode_profile(struct text name, struct rtsp_transport *t)
{
    static const struct {
        const char *name;
        bool tcp, avpf, savp;
    } profiles[] = {
        {"RTP/AVP", false, false, false},     {"RTP/AVP/UDP", false, false, false},
        {"RTP/AVP/TCP", true, false, false},  {"RTP/AVPF", false, true, false},
        {"RTP/AVPF/UDP", false, true, false}, {"RTP/SAVP", false, false, true},
        {"RTP/SAVP/UDP", false, false, true}, {"RTP/SAVP/TCP", true, false, true},
        {"RTP/SAVPF", false, true, true},     {"RTP/SAVPF/UDP", false, true, true},
    };
    for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
        if (!text_is_nocase(name, profiles[i].name))
            continue;
        t->tcp = profiles[i].tcp;
        t->avpf = profiles[i].avpf;
        t->savp = profiles[i].savp;
        return true;
    }
    return false;
}

// Returns 1: `t` is filled; 0: an unknown profile; ERR_MALFORMED.
static int decode_alternative(struct scan s, struct rtsp_transport *t)
{
    struct scan spec = scan_trimmed(scan_until(&s, ';'));
    struct text name = text_of_scan(spec);
    if (scan_end(&spec) || !memchr(spec.at, '/', scan_left(&spec)))
        return ERR_MALFORMED;
    memset(t, 0, sizeof(*t));
    for (int i = 0; i < 2; i++)
        t->interleaved[i] = t->client_port[i] = t->server_port[i] = t->port[i] = -1;
    bool known = decode_profile(name, t);
    while (known && !scan_end(&s))
        if (decode_transport_parameter(scan_until(&s, ';'), t) != 0)
            return ERR_MALFORMED;
    return known;
}

int rtsp_transport_decode(struct text value, struct rtsp_transport out[RTSP_MAX_OFFERS])
{
    struct scan s = scan_trimmed(text_scan(value));
    int count = 0;
    if (scan_end(&s) || !text_is_clean(s))
        return ERR_MALFORMED;
    do {
        struct rtsp_transport t;
        int kept = decode_alternative(take_alternative(&s), &t);
        if (kept < 0)
            return kept;
        if (kept && count < RTSP_MAX_OFFERS)
            out[count++] = t;
    } while (!scan_end(&s));
    return count;
}

static void put_pair(struct put *p, const char *name, const int pair[2])
{
    if (pair[0] < 0)
        return;
    put_format(p, ";%s=%d", name, pair[0]);
    if (pair[1] >= 0)
        put_format(p, "-%d", pair[1]);
}

static bool is_name(const char *name)
{
    while (*name && is_name_char(*name))
        name++;
    return *name == '\0';
}

int rtsp_transport_encode(const struct rtsp_transport *t, char *out, size_t cap)
{
    if (!is_name(t->weir) || !is_name(t->cc) || !is_name(t->repair) || !is_name(t->srtp))
        return ERR_RANGE;
    struct put p = put_into(out, cap);
    put_format(&p, "RTP/%sAVP%s;%s", t->savp ? "S" : "",
               t->tcp    ? "/TCP"
               : t->avpf ? "F"
                         : "",
               t->multicast ? "multicast" : "unicast");
    put_pair(&p, "interleaved", t->interleaved);
    put_pair(&p, "client_port", t->client_port);
    put_pair(&p, "server_port", t->server_port);
    if (t->has_ssrc)
        put_format(&p, ";ssrc=%08X", (unsigned)t->ssrc);
    if (t->weir[0])
        put_format(&p, ";x-weir=%s", t->weir);
    if (t->cc[0])
        put_format(&p, ";x-cc=%s", t->cc);
    if (t->repair[0])
        put_format(&p, ";x-weir-repair=%s", t->repair);
    if (t->ecn)
        put_format(&p, ";x-weir-ecn");
    if (t->srtp[0])
        put_format(&p, ";x-weir-srtp=%s", t->srtp);
    if (t->has_token)
        put_format(&p, ";x-weir-token=%016" PRIX64, t->token);
    return put_result(&p);
}
