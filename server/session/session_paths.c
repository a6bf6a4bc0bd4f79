// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/session/session_paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/tcp_conn.h"
#include "common/net/tcp_info.h"
#include "common/net/udp_socket.h"
#include "common/protocol/two_paths.h"
#include "server/policy/path_change.h"
#include "server/policy/path_loss.h"
#include "server/policy/request_limits.h"
#include "server/session/session.h"

struct session_paths {
    struct stream_sender *sender;  // borrowed
    const char *peer;              // borrowed
    struct transport_path path;    // of home
    struct transport *transport;   // borrowed: `home` or `away`, which carries the media
    struct transport *home;        // owned
    struct transport *away;        // owned; NULL: the media does not go there
    struct transport *second;      // owned; NULL: there is one path
    struct two_paths *both;        // owned; over `home` and `second`; NULL: there is one path
    struct session_beside beside;  // an empty transport: there is none
    enum repair_mode repair;       // of home
    bool leaves_home;              // the media goes to `beside`, once no frame has left in part
    struct path_loss loss;         // of `away`
    usec_t lost_since;             // media came home, as the path was lost; USEC_NEVER: it did not
    uint64_t acked;                // bytes of the connection, when it came home
    double shown_bps;              // by home, when the media left it
    usec_t shown_rtt;              //
    struct request_budget changes; // of the viewer's address
};

static void log_move(const struct session_paths *p, const char *why)
{
    log_of(LOG_INFO, "viewer", p->peer, "viewer %s: media moves to %s%s", p->peer,
           p->transport->name, why);
}

static void free_transport(struct transport **t)
{
    if (*t)
        (*t)->ops->free(*t);
    *t = NULL;
}

// ---- Home and away

static void note_shown(struct session_paths *p, usec_t now)
{
    struct transport_info info;
    p->home->media.ops->info(&p->home->media, &info, now);
    p->shown_bps = info.rate_bps > 0 ? info.rate_bps : 0;
    p->shown_rtt = info.rtt_ms > 0 ? (usec_t)(info.rtt_ms * USEC_PER_MSEC) : 0;
}

// Moves the media to a new transport in *at, at this rate. Returns false: logged, and it stays.
static bool open_at(struct session_paths *p, struct transport **at, double bps, usec_t lost_since,
                    usec_t now)
{
    bool is_home = at == &p->home;
    struct transport_path path = is_home ? p->path : p->beside.path;
    path.ssrc = p->path.ssrc;
    path.on_room = p->path.on_room;
    path.ctx = p->path.ctx;
    path.first_seq =
        p->both ? two_paths_next_number(p->both, 0) : stream_sender_next_flow_number(p->sender);
    path.goes_on = true;
    path.start_bps = bps;
    path.start_rtt = p->shown_rtt;
    struct transport *next =
        transport_open(is_home ? p->home->name : p->beside.transport, &path, now);
    if (!next)
        return false;
    if (is_home)
        memcpy(next->tracks, p->home->tracks, sizeof(next->tracks));
    if (p->both)
        two_paths_set_path(p->both, 0, &next->media, now);
    struct sender_move move = {.transport = p->both ? two_paths_media(p->both) : &next->media,
                               .repair = is_home ? p->repair : p->beside.repair,
                               .lost_since = lost_since};
    if (stream_sender_move(p->sender, &move, now) != 0)
        log_error("lost packets are not repaired: out of memory");
    free_transport(at);
    *at = p->transport = next;
    p->lost_since = USEC_NEVER;
    return true;
}

// The connection's bytes that the viewer's end has acknowledged.
static uint64_t acked(const struct session_paths *p)
{
    struct tcp_snapshot s;
    return tcp_info_read(tcp_conn_fd(p->path.control), &s) == 0 ? s.bytes_acked : 0;
}

// RTSP 1.0 allows requests of the server (RFC 2326, 10.1). What does not fit is not sent: the
// viewer does not read, and is asked again.
static void ask_viewer(const struct session_paths *p)
{
    char text[64];
    int len = snprintf(text, sizeof(text), "OPTIONS * RTSP/1.0\r\nCSeq: %d\r\n\r\n", p->loss.asked);
    (void)tcp_conn_send(p->path.control, text, (size_t)len);
}

static void go_away(struct session_paths *p, usec_t now)
{
    note_shown(p, now);
    path_loss_begin(&p->loss);
    if (open_at(p, &p->away, p->shown_bps, USEC_NEVER, now))
        log_move(p, "");
}

static void go_home(struct session_paths *p, usec_t lost_since, usec_t now)
{
    struct sender_move move = {.transport = &p->home->media, .lost_since = lost_since};
    (void)stream_sender_move(p->sender, &move, now);
    p->transport = p->home;
    p->lost_since = lost_since;
    p->acked = acked(p);
    free_transport(&p->away);
    log_move(p, ": the viewer's reports cease");
}

void session_paths_check(struct session_paths *p, usec_t now)
{
    struct transport_info info;
    if (p->leaves_home && stream_sender_may_move(p->sender)) {
        p->leaves_home = false;
        go_away(p, now);
    }
    if (!p->away)
        return;
    p->away->media.ops->info(&p->away->media, &info, now);
    switch (path_loss_check(&p->loss, &info, now)) {
    case PATH_LOSS_NONE:
        break;
    case PATH_LOSS_REQUEST:
        ask_viewer(p);
        break;
    case PATH_LOSS_LOST:
        go_home(p, path_loss_since(&info, now), now);
        break;
    }
}

int session_paths_request(struct session_paths *p, usec_t now)
{
    const struct path_validation *v = p->beside.address;
    if (!v || v->peer[0].ss_family == AF_UNSPEC || v->peer[1].ss_family == AF_UNSPEC)
        return ERR_UNSUPPORTED;
    p->leaves_home = !p->away;
    session_paths_check(p, now);
    return 0;
}

usec_t session_paths_next_timeout(const struct session_paths *p)
{
    if (p->both)
        return two_paths_next_timeout(p->both);
    return p->away ? path_loss_next_timeout(&p->loss) : USEC_NEVER;
}

void session_paths_on_timeout(struct session_paths *p, usec_t now)
{
    if (session_paths_next_timeout(p) > now)
        return;
    if (p->both)
        two_paths_on_timeout(p->both, now);
    else
        session_paths_check(p, now);
}

// ---- Both

int session_paths_set_second(struct session_paths *p, const struct session_beside *second,
                             usec_t now)
{
    if (p->second || !p->home->kind->responsive || !p->home->kind->datagram || !p->path.feedback ||
        !stream_sender_may_move(p->sender))
        return ERR_UNSUPPORTED;
    struct transport_path path = second->path;
    path.ssrc = p->path.ssrc;
    path.first_seq = p->path.first_seq;
    path.on_room = p->path.on_room;
    path.ctx = p->path.ctx;
    p->second = transport_open(p->home->name, &path, now);
    if (!p->second)
        return ERR_NO_MEMORY;
    struct two_paths_config both = {.path = {&p->home->media, &p->second->media},
                                    .first_number = {path.first_seq, path.first_seq},
                                    .share = TWO_PATHS_SHARE};
    p->both = two_paths_new(&both, now);
    if (!p->both) {
        free_transport(&p->second);
        return ERR_NO_MEMORY;
    }
    struct sender_move move = {
        .transport = two_paths_media(p->both), .repair = p->repair, .lost_since = USEC_NEVER};
    if (stream_sender_move(p->sender, &move, now) != 0)
        log_error("lost packets are not repaired: out of memory");
    return 0;
}

struct transport *session_paths_second(const struct session_paths *p)
{
    return p->second;
}

void session_paths_info(const struct session_paths *p, struct transport_info *out, usec_t now)
{
    struct media_transport *m = p->both ? two_paths_media(p->both) : &p->transport->media;
    m->ops->info(m, out, now);
}

void session_paths_on_event(struct session_paths *p, usec_t now)
{
    if (p->both)
        two_paths_on_event(p->both, now);
}

void session_paths_send_rtcp(struct session_paths *p, enum media_track track, const uint8_t *data,
                             size_t len, usec_t now)
{
    (void)p->transport->ops->send_rtcp(p->transport, track, data, len, now);
    if (p->second)
        (void)p->second->ops->send_rtcp(p->second, track, data, len, now);
}

void session_paths_responded(struct session_paths *p, int number, usec_t now)
{
    path_loss_responded(&p->loss, number, now);
}

void session_paths_reconnected(struct session_paths *p, usec_t lost_since, usec_t now)
{
    if (!p->home->ops->on_reconnected)
        return;
    p->home->ops->on_reconnected(p->home, now);
    p->acked = 0;
    if (p->away)
        return;
    struct sender_move move = {
        .transport = &p->home->media, .repair = p->repair, .lost_since = lost_since};
    if (stream_sender_move(p->sender, &move, now) != 0)
        log_error("lost packets are not repaired: out of memory");
}

// ---- The viewer's address

// Returns true if the media goes to the address of the path of datagrams.
static bool is_in_use(const struct session_paths *p)
{
    return p->away || p->home->kind->datagram;
}

bool session_paths_may_change(struct session_paths *p, int which, usec_t now)
{
    struct transport_info info;
    if (is_in_use(p))
        p->transport->media.ops->info(&p->transport->media, &info, now);
    if (!path_may_change(is_in_use(p) ? &info : NULL))
        return false;
    return which != 0 ||
           request_budget_take(&p->changes, request_limit_of_parameter(PARAMETER_PATH), now);
}

bool session_paths_is_doubted(const struct session_paths *p)
{
    return !is_in_use(p) && p->lost_since != USEC_NEVER && acked(p) <= p->acked;
}

// Only a transport of reports needs a new controller: the window of MTP finds out by itself.
static void begin_anew(struct session_paths *p, bool other_host, usec_t now)
{
    struct transport_info info;
    struct transport **at = p->away ? &p->away : &p->home;
    (*at)->media.ops->info(&(*at)->media, &info, now);
    if (!info.is_reported)
        return;
    (void)open_at(p, at, other_host ? p->shown_bps : info.rate_bps, path_loss_since(&info, now),
                  now);
}

void session_paths_answered(struct session_paths *p, const struct sockaddr *before,
                            const struct sockaddr *address, usec_t now)
{
    struct path_change change = {.is_in_use = is_in_use(p),
                                 .other_host = !sockaddr_same_host(before, address),
                                 .other_port = sockaddr_port(before) != sockaddr_port(address),
                                 .was_lost = p->lost_since != USEC_NEVER,
                                 .home_stands = session_paths_is_doubted(p)};
    char text[SOCKADDR_TEXT];
    sockaddr_text(address, text, sizeof(text));
    if (change.other_host || change.other_port)
        log_of(LOG_INFO, "viewer", p->peer,
               "viewer %s: its address of datagrams has changed to %s, which has been validated",
               p->peer, text);
    switch (path_step_of(&change)) {
    case PATH_STEP_NONE:
        break;
    case PATH_STEP_ANEW:
        begin_anew(p, true, now);
        break;
    case PATH_STEP_GOES_ON:
        begin_anew(p, false, now);
        break;
    case PATH_STEP_BACK:
        path_loss_begin(&p->loss);
        if (open_at(p, &p->away, p->shown_bps, p->lost_since, now))
            log_move(p, ": the connection delivers nothing");
        break;
    }
}

// ---- Life

struct session_paths *session_paths_new(const struct session_paths_config *config, usec_t now)
{
    struct session_paths *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->sender = config->sender;
    p->peer = config->peer ? config->peer : "";
    p->path = *config->path;
    path_loss_init(&p->loss);
    p->lost_since = USEC_NEVER;
    p->shown_bps = p->path.start_bps;
    p->home = p->transport = transport_open(config->transport, &p->path, now);
    if (p->home && stream_sender_attach(p->sender, &p->home->media, now) == 0)
        return p;
    session_paths_free(p);
    return NULL;
}

static void log_both(const struct session_paths *p)
{
    struct two_paths_stats s;
    two_paths_read(p->both, &s, 0);
    if (s.packets[1])
        log_of(
            LOG_INFO, "viewer", p->peer,
            "viewer %s: %.1f %% of the bytes took its second path; the first was silent %llu times",
            p->peer, 100 * (double)s.bytes[1] / (double)(s.bytes[0] + s.bytes[1]),
            (unsigned long long)s.silences);
}

void session_paths_free(struct session_paths *p)
{
    if (!p)
        return;
    if (p->both)
        log_both(p);
    two_paths_free(p->both);
    free_transport(&p->second);
    free_transport(&p->away);
    free_transport(&p->home);
    free(p);
}

struct transport *session_paths_transport(const struct session_paths *p)
{
    return p->transport;
}

struct transport *session_paths_home(const struct session_paths *p)
{
    return p->home;
}

void session_paths_set_beside(struct session_paths *p, const struct session_beside *beside)
{
    p->beside = *beside;
}

const struct session_beside *session_paths_beside(const struct session_paths *p)
{
    return &p->beside;
}

void session_paths_set_repair(struct session_paths *p, enum repair_mode mode)
{
    p->repair = mode;
}
