// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/rtsp_handler.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/put.h"
#include "common/base/scan.h"
#include "common/net/clock.h"
#include "common/net/random.h"
#include "common/net/tcp_conn.h"
#include "common/wire/request_path.h"
#include "common/wire/sdp.h"
#include "common/wire/url.h"
#include "common/wire/utc_time.h"
#include "media/stored/stored_track.h"
#include "server/access/access_guest.h"
#include "server/policy/request_limits.h"
#include "server/policy/rtsp_parameters.h"
#include "server/policy/scale.h"
#include "server/policy/session_attach.h"
#include "server/rtsp/publish_setup.h"
#include "server/rtsp/still_visit.h"
#include "server/rtsp/track_setup.h"
#include "stream/abr/film_table_parts.h"

enum { MAX_URI = 1024, LIMIT_S = CATALOG_OPEN_LIMIT / USEC_PER_SEC };

struct rtsp_handler {
    struct rtsp_handler_config config;
    struct rtsp_session state;
    struct track_setup *setup;     // owned
    struct publish_setup *publish; // owned; serves the client once it has announced media
    struct access_guest *guest;    // owned; NULL: everybody may watch
    bool is_known;                 // a request of the connection was let in
    char token[LOGIN_TOKEN_TEXT];  // as rtsp_handler_begin has it; empty: none
    char *authorization;           // owned; the same; NULL: none
    struct catalog_hold hold;      // of the film whose path was requested last
    struct still_visit *visit;     // owned; NULL: no picture was requested
    struct stream *stream;         // the stream of the film; NULL: none yet
    char *list;                    // owned; of which lines have not been given; NULL: none
    int query_level;               // from ?level=N; -1 = none
    char group[RTSP_MAX_NAME];     // Pipelined-Requests of the session's SETUP; empty: none
    struct request_budget budgets[PARAMETER_COUNT];
    struct session_attach attach; // of the session
};

// ---- Life

static void on_film_ready(void *ctx, usec_t now)
{
    struct rtsp_handler *h = ctx;
    h->config.on_ready(h->config.ctx, now);
}

static void on_film_revoked(void *ctx)
{
    struct rtsp_handler *h = ctx;
    h->stream = NULL;
}

static void on_publish_over(void *ctx, const char *why, usec_t now)
{
    struct rtsp_handler *h = ctx;
    (void)now;
    h->config.on_stuck(h->config.ctx, why);
}

static void on_access_ready(void *ctx, usec_t now)
{
    struct rtsp_handler *h = ctx;
    h->config.on_ready(h->config.ctx, now);
}

struct rtsp_handler *rtsp_handler_new(const struct rtsp_handler_config *config, usec_t now)
{
    struct rtsp_handler *h = calloc(1, sizeof(*h));
    if (!h)
        return NULL;
    h->config = *config;
    h->query_level = -1;
    h->hold =
        (struct catalog_hold){.on_ready = on_film_ready, .on_revoked = on_film_revoked, .ctx = h};
    rtsp_session_init(&h->state, now);
    struct track_setup_config setup = {.loop = config->loop,
                                       .tcp = config->tcp,
                                       .raw = config->raw,
                                       .name = config->name,
                                       .state = &h->state,
                                       .on_placed = config->on_ready,
                                       .on_stuck = config->on_stuck,
                                       .on_broken = config->on_broken,
                                       .ctx = config->ctx,
                                       .srtp = config->srtp};
    h->setup = track_setup_new(&setup);
    struct publish_setup_config publish = {.loop = config->loop,
                                           .catalog = config->catalog,
                                           .tcp = config->tcp,
                                           .name = config->name,
                                           .state = &h->state,
                                           .on_ready = on_film_ready,
                                           .on_over = on_publish_over,
                                           .ctx = h};
    h->publish = publish_setup_new(&publish);
    struct access_guest_config guest = {.access = config->access,
                                        .loop = config->loop,
                                        .peer = (const struct sockaddr *)tcp_conn_peer(config->tcp),
                                        .on_ready = on_access_ready,
                                        .ctx = h};
    h->guest = config->access ? access_guest_new(&guest) : NULL;
    if (h->setup && h->publish && (h->guest || !config->access))
        return h;
    rtsp_handler_free(h, now);
    return NULL;
}

void rtsp_handler_free(struct rtsp_handler *h, usec_t now)
{
    if (!h)
        return;
    access_guest_free(h->guest);
    still_visit_free(h->visit);
    free(h->list);
    if (h->authorization)
        explicit_bzero(h->authorization, strlen(h->authorization));
    free(h->authorization);
    publish_setup_free(h->publish, now);
    track_setup_free(h->setup, now);
    h->config.catalog->ops->leave(h->config.catalog, &h->hold);
    free(h);
}

void rtsp_handler_begin(struct rtsp_handler *h, struct text token, struct text authorization,
                        usec_t now)
{
    if (token.len < sizeof(h->token))
        text_copy(token, h->token, sizeof(h->token));
    h->authorization = authorization.at ? strndup(authorization.at, authorization.len) : NULL;
    rtsp_session_init(&h->state, now);
}

void rtsp_handler_end_session(struct rtsp_handler *h, usec_t now)
{
    track_setup_teardown(h->setup, now);
    publish_setup_end(h->publish, "the server stops", now);
}

void rtsp_handler_second(struct rtsp_handler *h, usec_t now)
{
    publish_setup_second(h->publish, now);
}

struct session *rtsp_handler_session(const struct rtsp_handler *h)
{
    return track_setup_session(h->setup);
}

const struct rtsp_session *rtsp_handler_state(const struct rtsp_handler *h)
{
    return &h->state;
}

void rtsp_handler_interleaved(struct rtsp_handler *h, const struct rtsp_item *frame, usec_t now)
{
    if (h->state.records)
        publish_setup_interleaved(h->publish, frame->channel, frame->data, frame->data_len, now);
    else
        track_setup_interleaved(h->setup, frame->channel, frame->data, frame->data_len, now);
}

// ---- Another connection for a session

int rtsp_handler_check_attach(struct rtsp_handler *h, struct text id, struct text secret,
                              bool is_secure, usec_t now)
{
    return h->state.id[0] && text_is(id, h->state.id)
               ? session_attach_check(&h->attach, secret, is_secure, now)
               : 454;
}

bool rtsp_handler_can_be_attached(const struct rtsp_handler *h)
{
    return h->state.id[0] && h->attach.secret[0];
}

void rtsp_handler_reconnected(struct rtsp_handler *h, usec_t lost_since, usec_t now)
{
    struct session *session = track_setup_session(h->setup);
    rtsp_session_alive(&h->state, now);
    if (session)
        session_reconnected(session, lost_since, now);
}

// A SETUP was served. Without randomness there is no secret, and the viewer knows that.
static void give_secret(struct rtsp_handler *h, const struct rtsp_item *request,
                        struct rtsp_response *a)
{
    uint8_t random[SESSION_ATTACH_BYTES];
    if (!h->config.attach || a->status != 200 || !rtsp_header(request, RTSP_ATTACH_HEADER).at)
        return;
    if (!h->attach.secret[0] && random_fill(random, sizeof(random)))
        session_attach_init(&h->attach, random, tcp_conn_is_secure(h->config.tcp));
    if (h->attach.secret[0])
        rtsp_response_header(a, RTSP_ATTACH_HEADER ": %s\r\n", h->attach.secret);
}

// Returns true if the request was to attach this connection to a session, and `a` is the response.
static bool serve_attach(struct rtsp_handler *h, const struct rtsp_item *request,
                         struct rtsp_response *a, usec_t now)
{
    struct text secret = rtsp_header(request, RTSP_ATTACH_HEADER);
    if (!h->config.attach || request->method != RTSP_OPTIONS || !secret.at || request->cseq < 0)
        return false;
    struct text id = rtsp_header(request, "Session");
    a->status =
        track_setup_session(h->setup) ? 455 : h->config.attach(h->config.ctx, id, secret, now);
    if (a->status == 200)
        rtsp_response_header(a, "Session: %.*s\r\n", (int)id.len, id.at);
    return true;
}

void rtsp_handler_dismiss(struct rtsp_handler *h, const char *why)
{
    // RTSP 1.0 allows requests of the server; RTSP 2.0 defines this one (RFC 7826, 13.7.2).
    char text[512];
    int len = snprintf(text, sizeof(text),
                       "TEARDOWN * RTSP/1.0\r\nCSeq: 1\r\nSession: %s\r\nContent-Type: "
                       "text/plain\r\nContent-Length: %zu\r\n\r\n%s",
                       h->state.id, strlen(why), why);
    struct session *session = track_setup_session(h->setup);
    if (session)
        session_dismiss(session, why);
    if ((session || h->state.records) && len > 0 && (size_t)len < sizeof(text))
        (void)tcp_conn_send(h->config.tcp, text, (size_t)len);
}

// ---- The stream of a request

// Returns the path of a URI, with its query; a URI without "rtsp://" or "rtsps://" is a path.
static const char *path_of(const char *uri)
{
    size_t scheme = url_scheme(uri);
    const char *path = scheme ? strchr(uri + scheme, '/') : uri;
    return path ? path : "/";
}

// Takes the key out of a URI, so that no catalog, log or other server gets it. A pin is for the
// viewer alone. A URI that is too long is not read: it names no stream.
static void take_key(struct text *uri, char bare[MAX_URI], char key[URL_MAX_KEY])
{
    char pin[URL_MAX_KEY];
    key[0] = '\0';
    if (uri->len >= MAX_URI)
        return;
    text_copy(*uri, bare, MAX_URI);
    if (!url_take_parameter(bare, "key", key, URL_MAX_KEY) &&
        !url_take_parameter(bare, "pin", pin, sizeof(pin)))
        return;
    (void)url_take_parameter(bare, "pin", pin, sizeof(pin));
    *uri = (struct text){bare, strlen(bare)};
}

static bool is_to_publish(const struct rtsp_handler *h, const struct rtsp_item *request)
{
    return h->state.records || request->method == RTSP_ANNOUNCE;
}

// Returns true if the request may be served. *waits: it must be served again; otherwise `a` has
// the reason.
static bool is_let_in(struct rtsp_handler *h, const struct rtsp_item *request, const char *key,
                      struct rtsp_response *a, bool *waits, usec_t now)
{
    char uri[MAX_URI];
    struct access_refusal why;
    text_copy(request->uri, uri, sizeof(uri));
    const char *path = path_of(uri);
    struct access_request r = {.path = {path, strcspn(path, "?#")},
                               .key = {key, strlen(key)},
                               .authorization = rtsp_header(request, "Authorization"),
                               .token = {h->token, strlen(h->token)},
                               .right = is_to_publish(h, request) ? ACCESS_PUBLISH : ACCESS_WATCH,
                               .is_secure = tcp_conn_is_secure(h->config.tcp),
                               .in_session = track_setup_session(h->setup) || h->state.records};
    if (!h->guest || request->method == RTSP_OPTIONS)
        return true;
    if (!r.authorization.at && h->authorization)
        r.authorization = (struct text){h->authorization, strlen(h->authorization)};
    enum access_answer answer = access_guest_ask(h->guest, &r, &why, now);
    *waits = answer == ACCESS_WAITS;
    if (*waits)
        rtsp_session_waits(&h->state);
    h->is_known = h->is_known || answer == ACCESS_GRANTED;
    if (answer != ACCESS_REFUSED)
        return answer == ACCESS_GRANTED;
    rtsp_response_refuse(a, why.status == 429 ? 503 : why.status, "%s\r\n", why.text);
    if (why.status == 401)
        rtsp_response_header(a, "WWW-Authenticate: %s\r\n", why.challenge);
    if (r.key.len || r.authorization.at)
        log_of(LOG_INFO, "viewer", h->config.name, "viewer %s is not let in: %s", h->config.name,
               why.text);
    return false;
}

// ?level=N of DESCRIBE or SETUP; later requests may leave it out.
static void read_query(struct rtsp_handler *h, const char *path)
{
    const char *query = strstr(path, "?level=");
    if (!query)
        return;
    char *end;
    long level = strtol(query + 7, &end, 10);
    bool good = end != query + 7 && !*end && level >= 0 && level < LADDER_MAX_LEVELS;
    h->query_level = good ? (int)level : LADDER_MAX_LEVELS; // the request was refused at SETUP
}

// Gets the stream of a request's URI; a session keeps its stream. Returns 0, or an error of
// catalog_ops.take.
static int take_stream(struct rtsp_handler *h, const struct rtsp_item *request)
{
    char text[MAX_URI];
    struct text uri = request->uri;
    // Whoever asks need not be let in, and a catalog may ask another server for the path.
    if (request->method == RTSP_OPTIONS)
        return 0;
    if (uri.len >= sizeof(text))
        return ERR_NOT_FOUND;
    text_copy(uri, text, sizeof(text));
    const char *path = path_of(text);
    if (!track_setup_session(h->setup))
        h->stream = NULL;
    bool only = track_setup_session(h->setup) != NULL;
    text_copy(rtsp_header(request, "Via"), h->hold.via, sizeof(h->hold.via));
    int err = h->config.catalog->ops->take(h->config.catalog, path, &h->hold, only, &h->stream);
    if (err)
        return err;
    read_query(h, path);
    return 0;
}

// Writes the lines of the list from number `first` on, as many as fit, and drops the list with the
// last one.
static void give_lines(struct rtsp_handler *h, int first, struct rtsp_response *a)
{
    const char *begin = h->list, *end = h->list;
    int total = 0;
    for (const char *at = h->list, *next; *at; at = next, total++) {
        next = at + strcspn(at, "\n");
        next += *next == '\n';
        begin = total < first ? next : begin;
        if (total < first || (end == at && next - begin < (ptrdiff_t)sizeof(a->body)))
            end = next;
    }
    memcpy(a->body, begin, (size_t)(end - begin));
    a->body[end - begin] = '\0';
    rtsp_response_header(a, "X-Weir-List: first=%d;total=%d\r\n", first, total);
    if (*end)
        return;
    free(h->list);
    h->list = NULL;
}

// Makes the list of the catalog, for its first lines. Returns as catalog_ops.list.
static int make_list(struct rtsp_handler *h)
{
    int count;
    free(h->list);
    h->list = malloc(CATALOG_LIST_BYTES);
    int err = !h->list ? ERR_NO_MEMORY
                       : h->config.catalog->ops->list(h->config.catalog, &h->hold, h->list,
                                                      CATALOG_LIST_BYTES, &count);
    char *fitting = err ? NULL : realloc(h->list, strlen(h->list) + 1);
    if (err)
        free(h->list);
    h->list = fitting ? fitting : err ? NULL : h->list;
    return err;
}

// Lists the files of a folder, for people: players cannot choose among them. With X-Weir-List: N
// the lines from N on, of the same list. Returns false if the list is not complete yet.
static bool list_files(struct rtsp_handler *h, const struct rtsp_item *request,
                       struct rtsp_response *a)
{
    struct text header = rtsp_header(request, "X-Weir-List");
    struct scan s = scan_of(header.at, header.len);
    int64_t first = 0;
    if (header.at && (!scan_int(&s, CATALOG_LIST_BYTES, &first) || scan_left(&s))) {
        rtsp_response_refuse(a, 400, "X-Weir-List expects the number of a line\r\n");
        return true;
    }
    int err = first && h->list ? 0 : make_list(h);
    if (err == CATALOG_WAITS)
        return false;
    if (err == ERR_TIMED_OUT)
        rtsp_response_refuse(a, 503, "the folder takes more than %d s to list; try again\r\n",
                             LIMIT_S);
    else if (err)
        rtsp_response_refuse(a, 503, "the folder cannot be listed: %s\r\n", err_text(err));
    else
        give_lines(h, (int)first, a);
    a->status = err ? a->status : 300;
    a->content_type = "text/plain";
    return true;
}

// Gives the lines of a list that was made for the request before. Returns false if there is none.
static bool continue_list(struct rtsp_handler *h, const struct rtsp_item *request,
                          struct rtsp_response *a)
{
    return request->method == RTSP_DESCRIBE && h->list && rtsp_header(request, "X-Weir-List").at &&
           list_files(h, request, a);
}

static bool wants_picture(const struct rtsp_item *request)
{
    return request->method == RTSP_DESCRIBE &&
           text_is_nocase(rtsp_header(request, "Accept"), "image/jpeg");
}

// Gives a small picture of a film, for a proxy: what GET /PATH.jpg?small gives to a page. Returns
// false if the request has to wait.
static bool give_picture(struct rtsp_handler *h, const struct rtsp_item *request,
                         struct rtsp_response *a, usec_t now)
{
    char uri[MAX_URI], query[MAX_URI];
    struct still_visit_config config = {.catalog = h->config.catalog,
                                        .film_maker = h->config.films,
                                        .on_ready = on_film_ready,
                                        .ctx = h};
    struct web_still still;
    if (!h->visit && !(h->visit = still_visit_new(&config))) {
        rtsp_response_refuse(a, 503, "no memory\r\n");
        return true;
    }
    text_copy(request->uri, uri, sizeof(uri));
    const char *path = path_of(uri);
    size_t len = strcspn(path, "?#");
    snprintf(query, sizeof(query), "small&%s", path[len] == '?' ? path + len + 1 : "");
    struct still_query q = {
        .path = {path, len}, .query = {query, strlen(query)}, .via = rtsp_header(request, "Via")};
    if (!still_visit_ask(h->visit, &q, &still, now))
        return false;
    a->status = still.status;
    if (still.status != 200) {
        rtsp_response_refuse(a, still.status, "%s\r\n", still.reason);
    } else if (still.bytes > sizeof(a->body)) {
        rtsp_response_refuse(a, 404, "the picture is too large\r\n");
    } else {
        rtsp_response_header(a, "Cache-Control: max-age=%d\r\n", still.max_age);
        a->content_type = "image/jpeg";
        a->body_bytes = still.bytes;
        memcpy(a->body, still.data, still.bytes);
    }
    return true;
}

// Returns false if the request has to wait.
static bool refuse_uri(struct rtsp_handler *h, const struct rtsp_item *request, int err,
                       struct rtsp_response *a)
{
    if (err == CATALOG_WAITS)
        return false;
    if (err == ERR_END && request->method == RTSP_DESCRIBE)
        return list_files(h, request, a);
    if (err == CATALOG_REFUSED)
        rtsp_response_refuse(a, h->hold.refusal.status, "%s\r\n", h->hold.refusal.text);
    else if (err == ERR_FULL)
        rtsp_response_refuse(a, 503, "too many open files: the limit is %d\r\n", CATALOG_MAX_OPEN);
    else if (err == ERR_AGAIN)
        rtsp_response_refuse(a, 503, "busy opening other files; try again\r\n");
    else if (err == ERR_TIMED_OUT)
        rtsp_response_refuse(a, 503, "the file took more than %d s to open: is it complete?\r\n",
                             LIMIT_S);
    else if ((err == ERR_END || err == ERR_NOT_FOUND) && h->config.catalog->ops->list)
        rtsp_response_refuse(a, 404, "no such %s; DESCRIBE rtsp://HOST/ lists the %ss\r\n",
                             h->config.catalog->items, h->config.catalog->items);
    else if (err == ERR_END || err == ERR_NOT_FOUND)
        rtsp_response_refuse(a, 404, "no such stream: the server has only %s\r\n",
                             h->config.catalog->where);
    else
        rtsp_response_refuse(a, 404, "cannot open the file: %s (see the server's log)\r\n",
                             err == ERR_UNSUPPORTED ? "not a video that can be read"
                                                    : err_text(err));
    return true;
}

// Returns the level to begin with: the URL's, or the highest if the URL has none.
static int first_level(const struct rtsp_handler *h)
{
    int top = h->stream->media->ladder.level_count - 1;
    return h->query_level >= 0 && h->query_level < top ? h->query_level : top;
}

static void handle_options(const struct rtsp_handler *h, struct rtsp_response *a)
{
    rtsp_response_header(a,
                         "Public: OPTIONS, DESCRIBE, SETUP, PLAY, PAUSE, TEARDOWN, GET_PARAMETER, "
                         "SET_PARAMETER%s\r\n",
                         publish_setup_is_offered(h->publish) ? ", ANNOUNCE, RECORD" : "");
}

static void handle_describe(struct rtsp_handler *h, const struct rtsp_item *request,
                            struct rtsp_response *a)
{
    struct text accept = rtsp_header(request, "Accept");
    if (accept.at && !memmem(accept.at, accept.len, "application/sdp", 15) &&
        !memmem(accept.at, accept.len, "*/*", 3)) {
        a->status = 406;
        return;
    }
    struct sdp sdp;
    stream_describe(h->stream, first_level(h), &sdp);
    bool v6 = tcp_conn_peer(h->config.tcp)->ss_family == AF_INET6;
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

// Without the header a viewer that plays already keeps its speed. Who joins others brings all back
// to 1.
static void handle_speed(struct rtsp_handler *h, struct text header, bool alone,
                         struct rtsp_response *a, usec_t now)
{
    double speed = 1;
    if (header.at && alone) {
        char text[32];
        text_copy(header, text, sizeof(text));
        speed = atof(text);
    }
    bool keeps = !header.at && alone && session_is_playing(track_setup_session(h->setup));
    if (!keeps)
        speed = session_set_speed(track_setup_session(h->setup), speed, now);
    if (header.at)
        rtsp_response_header(a, "Speed: %.3f\r\n", speed);
}

// Refuses another scale than 1 of a file that knows no other: its only frames are those that the
// sender encodes as it plays. Live media answers with the scale that it has (RFC 2326, 12.34).
static bool refuse_scale(const struct rtsp_handler *h, struct text header, struct rtsp_response *a)
{
    double scale;
    if (!header.at || rtsp_scale_decode(header, &scale) != 0 || scale_nearest(scale) == 1 ||
        h->stream->media->duration < 0 || session_scales(track_setup_session(h->setup)))
        return false;
    rtsp_response_refuse(a, 456,
                         "this film has no fast forward and no rewind: it is not prepared "
                         "(weir-send --prepare FILE)\r\n");
    return true;
}

// Returns the scale to play at: the nearest one to the header's that there is. Without the header a
// viewer that plays already keeps its scale.
static double scale_of(const struct rtsp_handler *h, struct text header)
{
    double scale = 1;
    const struct session *session = track_setup_session(h->setup);
    if (header.at)
        (void)rtsp_scale_decode(header, &scale);
    else if (session_is_playing(session))
        return session_scale(session);
    return scale_nearest(scale);
}

static void answer_place(const struct rtsp_handler *h, const struct media_place *place,
                         struct rtsp_response *a)
{
    char frames[96];
    rtsp_response_header(a, "Range: npt=%.3f-%.3f\r\n", place->seconds, h->stream->media->duration);
    if (rtsp_frames_encode(&place->frames, frames, sizeof(frames)) > 0)
        rtsp_response_header(a, RTSP_FRAMES_HEADER ": %s\r\n", frames);
}

// Writes the first sequence number of each track; `uri` is that of the stream, or of one track.
static void answer_rtp_info(const struct rtsp_handler *h, struct text uri, struct rtsp_response *a)
{
    uint16_t seq;
    uint32_t timestamp, ssrc;
    char base[MAX_URI];
    text_copy(uri, base, sizeof(base));
    int len = (int)strcspn(base, "?");
    len -= (int)request_path_track_bytes(base, (size_t)len);
    len -= len && base[len - 1] == '/';
    rtsp_response_header(a, "RTP-Info: ");
    if (session_has_pictures(track_setup_session(h->setup))) {
        session_rtp_info(track_setup_session(h->setup), &seq, &timestamp, &ssrc);
        rtsp_response_header(a, "url=%.*s/trackID=0;seq=%u", len, base, seq);
    }
    if (session_has_audio(track_setup_session(h->setup))) {
        session_audio_info(track_setup_session(h->setup), &seq, &ssrc);
        rtsp_response_header(a, "%surl=%.*s/trackID=1;seq=%u",
                             track_setup_has_both(h->setup) ? "," : "", len, base, seq);
    }
    rtsp_response_header(a, "\r\n");
}

// Live media: the present has no position.
static void answer_live_place(const struct rtsp_handler *h, const struct media_place *place,
                              bool jumps, struct rtsp_response *a)
{
    char clock[UTC_TIME_TEXT], text[96];
    const struct rtsp_rewind r = {.behind = usec_to_sec(place->behind),
                                  .back = h->stream->media->back};
    utc_time_encode(usec_to_sec(place->wall), clock);
    if (place->wall)
        rtsp_response_header(a, "Range: clock=%s-\r\n", clock);
    else
        rtsp_response_header(a, "Range: npt=now-\r\n");
    if (jumps && rtsp_frames_encode(&place->frames, text, sizeof(text)) > 0)
        rtsp_response_header(a, RTSP_FRAMES_HEADER ": %s\r\n", text);
    if (r.back > 0 && rtsp_rewind_encode(&r, text, sizeof(text)) > 0)
        rtsp_response_header(a, RTSP_REWIND_HEADER ": %s\r\n", text);
}

// Reads where the viewer wants to begin. Returns false if there is no such place; `a` says why.
// `alone`: it may seek in media whose time line it could share.
static bool read_position(const struct rtsp_handler *h, struct text header, bool alone,
                          struct session_position *to, struct rtsp_response *a)
{
    const struct stream_media *m = h->stream->media;
    struct rtsp_range range = {.from = -1, .to = -1};
    int err = header.at ? rtsp_range_decode(header, &range) : 0;
    bool is_past = !err && range.kind != RTSP_RANGE_NPT;
    if (err || (m->duration >= 0 && (is_past || range.from > m->duration))) {
        rtsp_response_refuse(a, 457, "expected Range: npt=now- or npt=SECONDS-%s\r\n",
                             err ? "" : ", within the media");
        return false;
    }
    if (is_past && m->back <= 0) {
        rtsp_response_refuse(
            a, 457, "no past of this stream is kept (weir-send --rewind TIME keeps it)\r\n");
        return false;
    }
    if (is_past && range.kind == RTSP_RANGE_BACK)
        to->wall = clock_wall() - (usec_t)(range.from * 1e6);
    else if (is_past)
        to->wall = usec_max((usec_t)(range.from * 1e6), 1); // 0: no seek
    else if (m->back > 0 && header.at)
        to->wall = USEC_NEVER; // as for all live media, any other position is the present
    else if (alone && range.from >= 0)
        to->seconds = range.from;
    return true;
}

// Returns false if the request has to wait.
static bool handle_play(struct rtsp_handler *h, const struct rtsp_item *request,
                        struct rtsp_response *a, usec_t now)
{
    // Viewers of live media share one time line.
    bool alone = session_owns_time_line(track_setup_session(h->setup));
    struct text scale = rtsp_header(request, "Scale");
    struct session_position to = {.seconds = NAN};
    if (!read_position(h, rtsp_header(request, "Range"), alone, &to, a) ||
        refuse_scale(h, scale, a))
        return true;
    handle_speed(h, rtsp_header(request, "Speed"), alone, a, now);
    to.scale = alone ? scale_of(h, scale) : 1;
    to.awaits_level =
        alone && text_is_nocase(rtsp_header(request, RTSP_AWAIT_HEADER), RTSP_AWAIT_LEVEL);
    struct media_place place = {.scale = 1};
    switch (session_place(track_setup_session(h->setup), &to, &place, now)) {
    case MEDIA_WAITS:
        return false;
    case MEDIA_REFUSED:
        rtsp_response_refuse(a, place.refusal.status, "%s\r\n", place.refusal.text);
        return true;
    case MEDIA_NOWHERE:
        answer_live_place(h, &place, false, a);
        break;
    case MEDIA_CONTINUES:
    case MEDIA_SOUGHT:
        if (h->stream->media->back > 0)
            answer_live_place(h, &place, true, a);
        else
            answer_place(h, &place, a);
        break;
    }
    if (scale.at || place.scale != 1)
        rtsp_response_header(a, "Scale: %g\r\n", place.scale);
    answer_rtp_info(h, request->uri, a);
    rtsp_response_header(a, "Session: %s\r\n", h->state.id);
    return true;
}

static void refuse_setting(struct rtsp_handler *h, enum rtsp_parameter parameter,
                           struct rtsp_response *a)
{
    switch (parameter) {
    case PARAMETER_LEVEL:
        rtsp_response_refuse(a, 451, "no such level: expected 0 to %d\r\n",
                             h->stream->media->ladder.level_count - 1);
        break;
    case PARAMETER_LATENCY:
        rtsp_response_refuse(a, 451, "expected latency: %d to %d ms\r\n", SESSION_LATENCY_MIN_MS,
                             SESSION_LATENCY_MAX_MS);
        break;
    case PARAMETER_PLAYOUT:
        rtsp_response_refuse(a, 451, "expected playout: %d to %d ms\r\n", SESSION_LATENCY_MIN_MS,
                             SESSION_LATENCY_MAX_MS);
        break;
    case PARAMETER_MAX_RATE:
        rtsp_response_refuse(a, 451, "expected max-rate: 0, or %d bit/s or more\r\n",
                             SESSION_MIN_MAX_RATE);
        break;
    case PARAMETER_AUDIO_TRACK:
        rtsp_response_refuse(a, 451, "no such audio track: the stream has %d to choose from\r\n",
                             h->stream->media->audio_track_count);
        break;
    case PARAMETER_ADAPT:
        rtsp_response_refuse(a, 451, "expected adapt: sender or none\r\n");
        break;
    case PARAMETER_AGAIN:
        rtsp_response_refuse(a, 451,
                             "expected again: FRAME/LEVEL of a stored film that plays, where a "
                             "group that was begun begins\r\n");
        break;
    case PARAMETER_ONLY:
        rtsp_response_refuse(a, 451,
                             "expected only: video=FROM-TO,... audio=FROM-TO,... of a "
                             "stored film, at most %d ranges each\r\n",
                             FRAME_RANGES_MAX);
        break;
    case PARAMETER_PATH:
        rtsp_response_refuse(a, 451,
                             "expected path: beside, after a SETUP with " RTSP_BESIDE_HEADER
                             " and the tokens of its response\r\n");
        break;
    case PARAMETER_CAPACITY_PROBE:
        rtsp_response_refuse(a, 451,
                             "expected capacity-probe: the number of a pair, 0 to 2147483647\r\n");
        break;
    default:
        rtsp_response_refuse(a, 451,
                             "parameter cannot be set (expected level, latency, buffer, "
                             "playout, max-rate, audio-track, adapt, again or capacity-probe)\r\n");
    }
}

// Returns false if the request is refused; `a` has the reason.
static bool set_parameter(struct rtsp_handler *h, const struct rtsp_setting *s,
                          struct rtsp_response *a, usec_t now)
{
    struct session *session = track_setup_session(h->setup);
    bool done = s->is_valid;
    // Without budget it has no effect, as if what it asks for were lost on the way.
    if (done && !request_budget_take(&h->budgets[s->parameter],
                                     request_limit_of_parameter(s->parameter), now))
        return true;
    if (done && s->parameter == PARAMETER_LEVEL)
        done = session_set_level(session, s->number, now) == 0;
    else if (done && s->parameter == PARAMETER_LATENCY)
        done = session_set_latency(session, s->number) == 0;
    else if (done && s->parameter == PARAMETER_PLAYOUT)
        done = session_set_playout(session, s->number) == 0;
    else if (done && s->parameter == PARAMETER_MAX_RATE)
        done = session_set_max_rate(session, s->number, now) == 0;
    else if (done && s->parameter == PARAMETER_AUDIO_TRACK)
        done = session_set_audio_track(session, s->number) == 0;
    else if (done && s->parameter == PARAMETER_AGAIN)
        done = session_send_again(session, s->frame, s->number, now) == 0;
    else if (done && s->parameter == PARAMETER_ONLY)
        done = session_set_only(session, &s->ranges) == 0;
    else if (done && s->parameter == PARAMETER_ADAPT)
        session_set_follows(session, s->number, now);
    else if (done && s->parameter == PARAMETER_PATH)
        done = track_setup_move(h->setup, now) == 0;
    else if (done && track_setup_send_pair(h->setup, (uint32_t)s->number) != 0) {
        rtsp_response_refuse(a, 451, "capacity-probe requires a datagram transport\r\n");
        return false;
    }
    if (!done)
        refuse_setting(h, s->parameter, a);
    return done;
}

// Returns true if a body has more parameters than it may have; `a` says so.
static bool is_one_too_many(int i, struct rtsp_response *a)
{
    if (i < REQUEST_MAX_PARAMETERS)
        return false;
    rtsp_response_refuse(a, 413, "more than %d parameters in a request\r\n",
                         REQUEST_MAX_PARAMETERS);
    return true;
}

static void handle_set_parameter(struct rtsp_handler *h, const struct rtsp_item *request,
                                 struct rtsp_response *a, usec_t now)
{
    struct text name, value;
    size_t at = 0;
    int got;
    for (int i = 0; (got = rtsp_parameter_next(request->body, &at, &name, &value)) == 1; i++) {
        struct rtsp_setting setting = rtsp_setting_of(name, value);
        if (is_one_too_many(i, a) || !set_parameter(h, &setting, a, now))
            return;
    }
    if (got < 0)
        rtsp_response_refuse(a, 400, "malformed body: expected lines of the form name: value\r\n");
}

// Writes "group-hash: TRACK/GROUP HASH" in hexadecimal digits; `later` instead of it: it is being
// computed; `none`: there is no such group, or it cannot be read. Returns false if there is no such
// parameter, or the value is malformed.
static bool write_hash(struct rtsp_handler *h, struct text value, char *out, size_t cap)
{
    struct stored_digest digest;
    struct rtsp_group of;
    struct stream_media *m = h->stream ? h->stream->media : NULL;
    if (!m || !m->ops->digest || !rtsp_parameter_group(value, &of))
        return false;
    int err = m->ops->digest(m, of.track, of.group, &digest);
    struct put p = put_into(out, cap);
    put_format(&p, "group-hash: %.*s ", (int)value.len, value.at);
    for (int i = 0; !err && i < STORED_DIGEST_BYTES; i++)
        put_format(&p, "%02x", digest.bytes[i]);
    if (err)
        put_format(&p, "%s", err == ERR_AGAIN ? "later" : "none");
    return put_result(&p) > 0;
}

// Appends a line for each cue to `out`, as many as have room. Returns false if there is no such
// track, or the value is malformed.
static bool write_subtitles(struct rtsp_handler *h, struct text value, char *out, size_t cap,
                            usec_t now)
{
    struct subtitle_request r;
    struct subtitle_set set = {.count = 0};
    struct subtitle_source *s = h->stream ? h->stream->subtitles : NULL;
    struct session *session = s ? NULL : track_setup_session(h->setup);
    if ((!s && !session) || !subtitle_request_decode(value, &r) ||
        (s && r.track > subtitle_source_count(s)))
        return false;
    // One request may have many such lines: those that find no room shall cost nothing.
    if (cap - strlen(out) < SUBTITLE_LINE)
        return true;
    if (s && r.head)
        subtitle_source_head(s, r.track, set.head);
    set.count = s ? subtitle_source_find(s, r.track, r.from, r.from + SUBTITLE_AHEAD, set.cues,
                                         SUBTITLE_CUES)
                  : session_subtitles(session, &r, &set, now);
    if (set.count < 0)
        return false;
    size_t used = strlen(out);
    (void)subtitle_set_encode(set.head, set.cues, set.count, out + used, cap - used);
    return true;
}

// Appends a part of the film's table, if it has room. Returns false if there is none, or the value
// is malformed.
static bool write_film_table(struct rtsp_handler *h, struct text value, char *out, size_t cap,
                             usec_t now)
{
    const struct film_table *table;
    size_t at, used = strlen(out);
    struct session *session = track_setup_session(h->setup);
    int err = session ? session_film_table(session, &table, now) : ERR_NOT_FOUND;
    if ((err && err != ERR_AGAIN) || !film_table_part_at(value, &at))
        return false;
    if (cap - used < FILM_TABLE_LINE + 2)
        return true;
    int len = err ? snprintf(out + used, cap - used, FILM_TABLE_LATER)
                  : film_table_part_encode(table, at, out + used);
    if (len < 0)
        return false;
    snprintf(out + used + len, cap - used - (size_t)len, "\r\n");
    return true;
}

static void append_parameter(struct rtsp_handler *h, struct text name, struct text value,
                             struct rtsp_response *a, usec_t now)
{
    struct session *session = track_setup_session(h->setup);
    enum rtsp_parameter parameter = rtsp_parameter_of(name);
    size_t used = strlen(a->body);
    char line[1024] = "";
    if (parameter == PARAMETER_SUBTITLES &&
        write_subtitles(h, value, a->body, sizeof(a->body), now)) {
        return;
    } else if (parameter == PARAMETER_FILM_TABLE &&
               write_film_table(h, value, a->body, sizeof(a->body), now)) {
        return;
    } else if (parameter == PARAMETER_CLOCK) {
        snprintf(line, sizeof(line), "clock: %" PRId64,
                 session ? session_wall(session) : clock_wall());
    } else if (parameter == PARAMETER_LEVEL && session) {
        snprintf(line, sizeof(line), "level: %d", session_level(session));
    } else if (parameter == PARAMETER_TRANSPORT && session) {
        struct transport_info info;
        session_info(session, &info, now);
        rtsp_parameter_transport(&info, (double)session_skipped(session), line, sizeof(line));
        struct relay_info relay;
        if (session_relay_info(session, &relay, now))
            rtsp_parameter_relay(&relay, line, sizeof(line));
        const struct stream_media *m = h->stream->media;
        struct media_away away;
        if (m->ops->away && m->ops->away(m, &away))
            rtsp_parameter_away(usec_to_sec(now - away.since), away.why, line, sizeof(line));
    } else if (parameter != PARAMETER_GROUP_HASH || !write_hash(h, value, line, sizeof(line))) {
        rtsp_response_refuse(
            a, 451,
            "parameter not available (available: clock; after SETUP also level and transport; of "
            "a stored film also group-hash: TRACK/GROUP and film-table: BYTE; of a film with text "
            "subtitles also "
            "subtitles: TRACK/MS)\r\n");
        return;
    }
    snprintf(a->body + used, sizeof(a->body) - used, "%s\r\n", line);
}

static void handle_get_parameter(struct rtsp_handler *h, const struct rtsp_item *request,
                                 struct rtsp_response *a, usec_t now)
{
    struct text name, value;
    size_t at = 0;
    int got;
    a->content_type = "text/parameters";
    for (int i = 0;
         a->status == 200 && (got = rtsp_parameter_next(request->body, &at, &name, &value)) != 0;
         i++) {
        if (got < 0)
            rtsp_response_refuse(a, 400,
                                 "malformed body: expected one parameter name per line\r\n");
        else if (!is_one_too_many(i, a))
            append_parameter(h, name, value, a, now);
    }
}

// Returns true if the URI names the audio's track.
static bool is_of_audio(const struct rtsp_handler *h, struct text uri)
{
    size_t len = 0;
    while (len < uri.len && uri.at[len] != '?')
        len++;
    return h->stream->media->audio_bps && request_path_track_bytes(uri.at, len) &&
           uri.at[len - 1] == '1';
}

// A player that sends no parameters may say in SETUP how much it buffers. What is no such time is
// ignored.
static void set_buffer(struct rtsp_handler *h, struct text header)
{
    static const char name[] = "buffer";
    struct session *session = track_setup_session(h->setup);
    if (!header.at || !session)
        return;
    struct rtsp_setting s = rtsp_setting_of((struct text){name, sizeof(name) - 1}, header);
    if (s.is_valid)
        (void)session_set_latency(session, s.number);
}

static void handle_setup(struct rtsp_handler *h, const struct rtsp_item *request,
                         struct rtsp_response *a, usec_t now)
{
    struct track_setup_request setup = {
        .transport = rtsp_header(request, "Transport"),
        .track = is_of_audio(h, request->uri) ? TRACK_AUDIO : TRACK_VIDEO,
        .stream = h->stream,
        .level = first_level(h),
        .is_level_known = h->query_level < h->stream->media->ladder.level_count};
    track_setup_serve(h->setup, &setup, a, now);
    if (a->status == 200)
        track_setup_beside(h->setup, h->stream, rtsp_header(request, RTSP_BESIDE_HEADER),
                           rtsp_header(request, RTSP_SECOND_HEADER), a, now);
    set_buffer(h, rtsp_header(request, "X-Weir-Buffer"));
}

// Returns the id of the session that the request is for; empty: none. A viewer that does not know
// the id yet names the group of the SETUP (RFC 7826, 18.33).
static struct text session_of(const struct rtsp_handler *h, const struct rtsp_item *request)
{
    struct text id = rtsp_header(request, "Session");
    struct text group = rtsp_header(request, RTSP_PIPELINED_HEADER);
    if (!id.len && group.len && track_setup_session(h->setup) && text_is(group, h->group))
        return (struct text){h->state.id, strlen(h->state.id)};
    return id;
}

// Call it after a SETUP was served.
static void note_group(struct rtsp_handler *h, const struct rtsp_item *request,
                       struct rtsp_response *a)
{
    struct text group = rtsp_header(request, RTSP_PIPELINED_HEADER);
    if (a->status != 200 || !group.len || group.len >= sizeof(h->group))
        return;
    text_copy(group, h->group, sizeof(h->group));
    rtsp_response_header(a, RTSP_PIPELINED_HEADER ": %s\r\n", h->group);
}

// Serves a request of a client that publishes, or is about to. Returns false if it has to wait.
static bool serve_publish(struct rtsp_handler *h, const struct rtsp_item *request,
                          struct rtsp_response *a, usec_t now)
{
    char uri[MAX_URI];
    if (request->method == RTSP_OPTIONS) {
        handle_options(h, a);
    } else if (request->method == RTSP_GET_PARAMETER) {
        handle_get_parameter(h, request, a, now);
    } else if (request->uri.len >= sizeof(uri)) {
        a->status = 414;
    } else {
        text_copy(request->uri, uri, sizeof(uri));
        return publish_setup_serve(h->publish, request, path_of(uri), a, now);
    }
    return true;
}

// Returns false if the request has to wait.
static bool serve(struct rtsp_handler *h, const struct rtsp_item *request, struct rtsp_response *a,
                  usec_t now)
{
    if (is_to_publish(h, request))
        return serve_publish(h, request, a, now);
    switch (request->method) {
    case RTSP_OPTIONS:
        handle_options(h, a);
        break;
    case RTSP_DESCRIBE:
        handle_describe(h, request, a);
        break;
    case RTSP_SETUP:
        handle_setup(h, request, a, now);
        give_secret(h, request, a);
        note_group(h, request, a);
        return true; // SETUP applies its own change of state
    case RTSP_PLAY:
        if (!handle_play(h, request, a, now))
            return false;
        break;
    case RTSP_PAUSE:
        session_pause(track_setup_session(h->setup));
        break;
    case RTSP_GET_PARAMETER:
        handle_get_parameter(h, request, a, now);
        break;
    case RTSP_SET_PARAMETER:
        handle_set_parameter(h, request, a, now);
        break;
    case RTSP_TEARDOWN:
        track_setup_teardown(h->setup, now);
        h->group[0] = '\0';
        h->attach = (struct session_attach){0};
        break;
    case RTSP_UNKNOWN:
    case RTSP_ANNOUNCE:
    case RTSP_RECORD:
        break; // of serve_publish
    }
    if (a->status == 200)
        rtsp_session_apply(&h->state, request->method, 0);
    return true;
}

bool rtsp_handler_serve(struct rtsp_handler *h, const struct rtsp_item *given,
                        struct rtsp_response *a, usec_t now)
{
    char bare[MAX_URI], key[URL_MAX_KEY];
    struct rtsp_item without_key = *given;
    const struct rtsp_item *request = &without_key;
    bool waits = false;
    if (serve_attach(h, given, a, now))
        return true;
    take_key(&without_key.uri, bare, key);
    a->status = request->cseq < 0
                    ? 400
                    : rtsp_session_check(&h->state, request->method, session_of(h, request));
    struct text require = rtsp_header(request, "Require");
    int err;
    bool is_publish = is_to_publish(h, request);
    if ((is_publish || request->method == RTSP_RECORD) && !publish_setup_is_offered(h->publish))
        a->status = 501;
    if (a->status == 200 && !is_let_in(h, request, key, a, &waits, now))
        return !waits;
    // Whoever was not let in keeps no place by asking again.
    if (!h->guest || h->is_known || access_guest_is_open(h->guest))
        rtsp_session_alive(&h->state, now); // true even while it waits for a film
    if (a->status == 501) {
        handle_options(h, a);
    } else if (a->status == 455 && h->state.records) {
        rtsp_response_header(a, "Allow: OPTIONS, GET_PARAMETER, SETUP%s\r\n",
                             h->state.id[0] ? ", RECORD, TEARDOWN" : "");
    } else if (a->status == 455) { // RFC 2326, 11.3.6: the methods that are valid in this state
        rtsp_response_header(a, "Allow: OPTIONS, DESCRIBE, GET_PARAMETER, %s\r\n",
                             track_setup_session(h->setup) ? "PLAY, PAUSE, TEARDOWN, SET_PARAMETER"
                                                           : "SETUP");
    } else if (a->status == 200 && !is_publish && wants_picture(request)) {
        return give_picture(h, request, a, now);
    } else if (a->status == 200 && !is_publish && continue_list(h, request, a)) {
        return true;
    } else if (a->status == 200 && !is_publish && (err = take_stream(h, request)) != 0) {
        if (!refuse_uri(h, request, err, a))
            return false;
    } else if (a->status == 200 && require.at) { // RFC 2326, 12.32: no option is supported
        a->status = 551;
        rtsp_response_header(a, "Unsupported: %.*s\r\n",
                             (int)(require.len < 200 ? require.len : 200), require.at);
    }
    return a->status != 200 || serve(h, request, a, now);
}
