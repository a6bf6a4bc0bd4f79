// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/rtsp/viewer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "common/net/tcp_conn.h"
#include "common/wire/sdp.h"
#include "sender/policy/catalog_path.h"

enum { MAX_URI = 1024, LIMIT_S = CATALOG_OPEN_LIMIT / USEC_PER_SEC };

void viewer_leave(struct viewer *v)
{
    catalog_leave(v->shelf, &v->hold);
    v->stream = NULL;
}

// ?level=N of DESCRIBE or SETUP; later requests may leave it out.
static void read_query(struct viewer *v, const char *path)
{
    const char *query = strstr(path, "?level=");
    if (!query)
        return;
    char *end;
    long level = strtol(query + 7, &end, 10);
    bool good = end != query + 7 && !*end && level >= 0 && level < LADDER_MAX_LEVELS;
    v->query_level = good ? (int)level : LADDER_MAX_LEVELS; // refused at SETUP
}

// Takes the stream at a request's URI; a session keeps its own. 0 or as catalog_take.
static int take_stream(struct viewer *v, struct text uri, bool allow_star)
{
    char text[MAX_URI];
    if (uri.len >= sizeof(text))
        return ERR_NOT_FOUND;
    text_copy(uri, text, sizeof(text));
    if (allow_star && (strcmp(text, "*") == 0 || catalog_is_folder(v->shelf)))
        return 0;
    const char *path = text;
    if (strncmp(text, "rtsp://", 7) == 0) {
        path = strchr(text + 7, '/');
        if (!path)
            path = "/";
    }
    if (!v->session)
        v->stream = NULL;
    int err = catalog_take(v->shelf, path, &v->hold, v->session != NULL, &v->stream);
    if (err)
        return err;
    read_query(v, path);
    return 0;
}

// The files of a folder, for people: no player can choose among them. Returns false if the list is
// still being made.
static bool list_files(struct viewer *v, struct rtsp_response *a)
{
    int count;
    int err = catalog_list(v->shelf, &v->hold, a->body, sizeof(a->body), &count);
    if (err == CATALOG_WAITS)
        return false;
    if (err == ERR_TIMED_OUT)
        rtsp_response_refuse(a, 503, "the folder takes more than %d s to list; try again\r\n",
                             LIMIT_S);
    else if (err)
        rtsp_response_refuse(a, 503, "the folder cannot be listed: %s\r\n", err_text(err));
    else
        a->status = 300;
    a->content_type = "text/plain";
    return true;
}

// Returns false if the request has to wait.
static bool refuse_uri(struct viewer *v, const struct rtsp_item *request, int err,
                       struct rtsp_response *a)
{
    if (err == CATALOG_WAITS)
        return false;
    if (err == ERR_END && request->method == RTSP_DESCRIBE)
        return list_files(v, a);
    if (err == ERR_FULL)
        rtsp_response_refuse(a, 503, "%d files are open, the most there can be\r\n",
                             CATALOG_MAX_OPEN);
    else if (err == ERR_AGAIN)
        rtsp_response_refuse(a, 503, "busy opening other films; try again\r\n");
    else if (err == ERR_TIMED_OUT)
        rtsp_response_refuse(a, 503, "the film took more than %d s to open; is the file whole?\r\n",
                             LIMIT_S);
    else if ((err == ERR_END || err == ERR_NOT_FOUND) && catalog_is_folder(v->shelf))
        rtsp_response_refuse(a, 404,
                             "there is no such film here; rtsp://HOST/ lists those there are\r\n");
    else if (err == ERR_END || err == ERR_NOT_FOUND)
        rtsp_response_refuse(a, 404, "there is only %s here\r\n", catalog_where(v->shelf));
    else
        rtsp_response_refuse(a, 404, "it cannot be opened: %s; the server's log says more\r\n",
                             err == ERR_UNSUPPORTED ? "not a video that can be read"
                                                    : err_text(err));
    return true;
}

int viewer_level(const struct viewer *v)
{
    int top = v->stream->ladder.level_count - 1;
    return v->query_level >= 0 && v->query_level < top ? v->query_level : top;
}

static void handle_options(struct rtsp_response *a)
{
    rtsp_response_header(a,
                         "Public: OPTIONS, DESCRIBE, SETUP, PLAY, PAUSE, TEARDOWN, GET_PARAMETER, "
                         "SET_PARAMETER\r\n");
}

static void handle_describe(struct viewer *v, const struct rtsp_item *request,
                            struct rtsp_response *a)
{
    struct text accept = rtsp_header(request, "Accept");
    if (accept.at && !memmem(accept.at, accept.len, "application/sdp", 15) &&
        !memmem(accept.at, accept.len, "*/*", 3)) {
        a->status = 406;
        return;
    }
    struct sdp sdp;
    stream_describe(v->stream, viewer_level(v), &sdp);
    bool v6 = tcp_conn_peer(v->tcp)->ss_family == AF_INET6;
    if (sdp_encode(&sdp, v6, a->body, sizeof(a->body)) < 0) {
        rtsp_response_refuse(a, 500, "the description is too long");
        return;
    }
    a->content_type = "application/sdp";
    char base[MAX_URI + 1];
    text_copy(request->uri, base, sizeof(base) - 1);
    base[strcspn(base, "?")] = '\0';
    size_t len = strlen(base);
    rtsp_response_header(a, "Content-Base: %s%s\r\n", base, len && base[len - 1] == '/' ? "" : "/");
}

// Range and speed are given to who watches a file alone: all viewers share one time line. Synthetic
// media has one for each viewer.
static bool owns_time_line(struct viewer *v)
{
    struct stream *s = v->stream;
    if (stream_is_synthetic(s) || s->stored)
        return true;
    return s->engine && s->duration >= 0 && s->playing == (session_is_playing(v->session) ? 1 : 0);
}

// Without the header a viewer that plays already keeps its speed. Who joins others brings all back
// to 1.
static void handle_speed(struct viewer *v, struct text header, bool alone, struct rtsp_response *a,
                         usec_t now)
{
    double speed = 1;
    if (header.at && alone) {
        char text[32];
        text_copy(header, text, sizeof(text));
        speed = fmin(fmax(atof(text), 0.25), 4);
    }
    bool keeps = !header.at && alone && session_is_playing(v->session);
    if (v->stream->engine && !keeps)
        live_feed_set_speed(v->stream->engine, speed);
    if (!keeps)
        session_set_speed(v->session, speed, now);
    if (header.at)
        rtsp_response_header(a, "Speed: %.3f\r\n", speed);
}

static void answer_place(struct viewer *v, double wanted, struct rtsp_response *a, usec_t now)
{
    struct stored_place_told place;
    if (!session_place(v->session, wanted, &place, now)) {
        rtsp_response_header(a, "Range: npt=now-\r\n");
        return;
    }
    char frames[96];
    rtsp_response_header(a, "Range: npt=%.3f-%.3f\r\n", place.seconds, v->stream->duration);
    if (rtsp_frames_encode(&place.frames, frames, sizeof(frames)) > 0)
        rtsp_response_header(a, RTSP_FRAMES_HEADER ": %s\r\n", frames);
}

// The first sequence number of each track; `uri` is that of the stream, or of one track.
static void answer_rtp_info(const struct viewer *v, struct text uri, struct rtsp_response *a)
{
    uint16_t seq;
    uint32_t timestamp, ssrc;
    char base[MAX_URI];
    text_copy(uri, base, sizeof(base));
    int len = (int)strcspn(base, "?");
    len -= (int)catalog_path_track_bytes(base, (size_t)len);
    len -= len && base[len - 1] == '/';
    rtsp_response_header(a, "RTP-Info: ");
    if (session_has_pictures(v->session)) {
        session_rtp_info(v->session, &seq, &timestamp, &ssrc);
        rtsp_response_header(a, "url=%.*s/trackID=0;seq=%u", len, base, seq);
    }
    if (session_has_audio(v->session)) {
        session_audio_info(v->session, &seq, &ssrc);
        rtsp_response_header(a, "%surl=%.*s/trackID=1;seq=%u", viewer_has_second(v) ? "," : "", len,
                             base, seq);
    }
    rtsp_response_header(a, "\r\n");
}

static void handle_play(struct viewer *v, const struct rtsp_item *request, struct rtsp_response *a,
                        usec_t now)
{
    struct stream *stream = v->stream;
    struct rtsp_range range = {.from = -1, .to = -1};
    struct text header = rtsp_header(request, "Range");
    int err = header.at ? rtsp_range_decode(header, &range) : 0;
    if (err || (stream->duration >= 0 && range.from > stream->duration)) {
        rtsp_response_refuse(a, 457, "a range is npt=now- or npt=SECONDS-%s\r\n",
                             err ? "" : ", within the media");
        return;
    }
    bool alone = owns_time_line(v);
    handle_speed(v, rtsp_header(request, "Speed"), alone, a, now);
    answer_place(v, alone && range.from >= 0 ? range.from : NAN, a, now);
    answer_rtp_info(v, request->uri, a);
    rtsp_response_header(a, "Session: %s\r\n", v->state.id);
}

// One parameter of SET_PARAMETER. False: refused, `a` says why.
static bool set_parameter(struct viewer *v, struct text name, struct text value,
                          struct rtsp_response *a, usec_t now)
{
    char number[16];
    text_copy(value, number, sizeof(number));
    char *end;
    long n = strtol(number, &end, 10);
    bool good = value.len && value.len < sizeof(number) && !*end;
    if (text_is_nocase(name, "level")) {
        if (good && n >= 0 && n <= INT32_MAX && session_set_level(v->session, (int)n, now) == 0)
            return true;
        rtsp_response_refuse(a, 451, "there are levels 0 to %d\r\n",
                             v->stream->ladder.level_count - 1);
    } else if (text_is_nocase(name, "latency")) {
        if (good && n >= 0 && n <= INT32_MAX && session_set_latency(v->session, (int)n) == 0)
            return true;
        rtsp_response_refuse(a, 451, "latency is %d to %d ms\r\n", SESSION_LATENCY_MIN_MS,
                             SESSION_LATENCY_MAX_MS);
    } else if (text_is_nocase(name, "adapt")) {
        if (text_is_nocase(value, "sender") || text_is_nocase(value, "none")) {
            session_set_follows(v->session, text_is_nocase(value, "sender"), now);
            return true;
        }
        rtsp_response_refuse(a, 451, "adapt is sender or none\r\n");
    } else if (text_is_nocase(name, "capacity-probe")) {
        if (!good || n < 0 || n > INT32_MAX)
            rtsp_response_refuse(a, 451,
                                 "capacity-probe is the number of a pair, 0 to 2147483647\r\n");
        else if (viewer_send_pair(v, (uint32_t)n) != 0)
            rtsp_response_refuse(a, 451, "capacity-probe wants media that goes in datagrams\r\n");
        else
            return true;
    } else {
        rtsp_response_refuse(a, 451,
                             "the parameters that can be set are level, latency, adapt and "
                             "capacity-probe\r\n");
    }
    return false;
}

static void handle_set_parameter(struct viewer *v, const struct rtsp_item *request,
                                 struct rtsp_response *a, usec_t now)
{
    struct text name, value;
    size_t at = 0;
    int got;
    while ((got = rtsp_parameter_next(request->body, &at, &name, &value)) == 1)
        if (!set_parameter(v, name, value, a, now))
            return;
    if (got < 0)
        rtsp_response_refuse(a, 400, "a body has lines of the form name: value\r\n");
}

static void append_figure(char *line, size_t cap, const char *name, double value, int decimals)
{
    size_t used = strlen(line);
    if (isfinite(value))
        snprintf(line + used, cap - used, " %s=%.*f", name, decimals, value);
}

static void append_transport(struct viewer *v, char *line, size_t cap, usec_t now)
{
    struct transport_info info;
    session_info(v->session, &info, now);
    snprintf(line, cap, "transport:");
    append_figure(line, cap, "rtt_ms", info.rtt_ms, 3);
    append_figure(line, cap, "rate_bps", info.rate_bps, 0);
    append_figure(line, cap, "loss", info.loss, 5);
    append_figure(line, cap, "unsent_bytes", info.unsent_bytes, 0);
    append_figure(line, cap, "cwnd", info.cwnd_packets, 0);
    append_figure(line, cap, "loss_events", info.loss_events, 8);
    append_figure(line, cap, "allowed_bps", info.allowed_bps, 0);
    append_figure(line, cap, "skipped", (double)session_skipped(v->session), 0);
    for (int i = 0; i < TRANSPORT_VARIABLES && info.variable[i].name[0]; i++) {
        char variable[TRANSPORT_VARIABLE_NAME + 3];
        snprintf(variable, sizeof(variable), "cc.%s", info.variable[i].name);
        append_figure(line, cap, variable, info.variable[i].value, 8);
    }
}

static void append_parameter(struct viewer *v, struct text name, struct rtsp_response *a,
                             usec_t now)
{
    size_t used = strlen(a->body);
    char line[1024] = "";
    if (text_is_nocase(name, "clock")) {
        snprintf(line, sizeof(line), "clock: %" PRId64, clock_wall());
    } else if (text_is_nocase(name, "level") && v->session) {
        snprintf(line, sizeof(line), "level: %d", session_level(v->session));
    } else if (text_is_nocase(name, "transport") && v->session) {
        append_transport(v, line, sizeof(line), now);
    } else {
        rtsp_response_refuse(
            a, 451, "the parameters that can be asked for are clock, level and transport\r\n");
        return;
    }
    snprintf(a->body + used, sizeof(a->body) - used, "%s\r\n", line);
}

static void handle_get_parameter(struct viewer *v, const struct rtsp_item *request,
                                 struct rtsp_response *a, usec_t now)
{
    struct text name, value;
    size_t at = 0;
    int got;
    a->content_type = "text/parameters";
    while (a->status == 200 &&
           (got = rtsp_parameter_next(request->body, &at, &name, &value)) != 0) {
        if (got < 0)
            rtsp_response_refuse(a, 400, "a body names one parameter a line\r\n");
        else
            append_parameter(v, name, a, now);
    }
}

static void serve(struct viewer *v, const struct rtsp_item *request, struct rtsp_response *a,
                  usec_t now)
{
    switch (request->method) {
    case RTSP_OPTIONS:
        handle_options(a);
        break;
    case RTSP_DESCRIBE:
        handle_describe(v, request, a);
        break;
    case RTSP_SETUP:
        viewer_setup(v, request, a, now);
        return; // it applies its own change of state
    case RTSP_PLAY:
        handle_play(v, request, a, now);
        break;
    case RTSP_PAUSE:
        session_pause(v->session, now);
        break;
    case RTSP_GET_PARAMETER:
        handle_get_parameter(v, request, a, now);
        break;
    case RTSP_SET_PARAMETER:
        handle_set_parameter(v, request, a, now);
        break;
    case RTSP_TEARDOWN:
        viewer_teardown(v, now);
        break;
    case RTSP_UNKNOWN:
        break;
    }
    if (a->status == 200)
        rtsp_session_apply(&v->state, request->method, 0);
}

bool viewer_serve(struct viewer *v, const struct rtsp_item *request, struct rtsp_response *a,
                  usec_t now)
{
    a->status = request->cseq < 0 ? 400
                                  : rtsp_session_check(&v->state, request->method,
                                                       rtsp_header(request, "Session"));
    struct text require = rtsp_header(request, "Require");
    int err;
    rtsp_session_alive(&v->state, now); // also while it waits for a film
    if (a->status == 501) {
        handle_options(a);
    } else if (a->status == 455) { // RFC 2326, 11.3.6: with what is valid now
        rtsp_response_header(a, "Allow: OPTIONS, DESCRIBE, GET_PARAMETER, %s\r\n",
                             v->session ? "PLAY, PAUSE, TEARDOWN, SET_PARAMETER" : "SETUP");
    } else if (a->status == 200 &&
               (err = take_stream(v, request->uri, request->method == RTSP_OPTIONS)) != 0) {
        if (!refuse_uri(v, request, err, a))
            return false;
    } else if (a->status == 200 && require.at) { // RFC 2326, 12.32: no option is known
        a->status = 551;
        rtsp_response_header(a, "Unsupported: %.*s\r\n",
                             (int)(require.len < 200 ? require.len : 200), require.at);
    }
    if (a->status == 200)
        serve(v, request, a, now);
    return true;
}
