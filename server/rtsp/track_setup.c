// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/track_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/random.h"
#include "common/net/tcp_conn.h"
#include "common/net/tcp_info.h"
#include "common/net/udp_socket.h"
#include "common/srtp/srtp_guard.h"
#include "common/transport/mtp_raw.h"
#include "common/transport/transport_offer.h"
#include "common/wire/base64.h"
#include "common/wire/rtsp_transport.h"
#include "server/policy/request_limits.h"
#include "server/rtsp/media_ports.h"

enum {
    SECOND_CHANNEL = 2
}; // audio uses this channel and the next one, unless the viewer names others
static const double START_BPS = 500e3; // used if the round trip is unknown

struct set_up_track {
    int channel[2];            // RTP, RTCP; interleaved
    struct media_ports *ports; // owned; NULL: the track has no ports of its own
    bool is_repaired;          // in the mode that the viewer requested
};

struct track_setup {
    struct track_setup_config config;
    struct session *session;               // owned; NULL before SETUP
    bool interleaved;                      // true if RTP or at least RTCP uses the connection
    bool knows_weir;                       // true if the viewer names Weir's transports
    bool has_token;                        // `token` authorizes a connection for media
    uint64_t token;                        // token of the SETUP response; 0: none
    struct srtp_guard *srtp;               // owned; of both tracks; NULL: plain RTP
    char key[BASE64_TEXT(SRTP_KEY_BYTES)]; // for the SETUP response; empty: none
    enum media_track
        first; // the track that was set up first: in one flow both tracks use its ports
    struct set_up_track tracks[TRACKS];
    // Beside the connection, or, of media in datagrams, over another network.
    struct {
        struct media_ports *ports; // owned; NULL: there is no second path
        struct srtp_guard *srtp;   // owned; NULL: plain RTP
    } beside;
    struct request_budget second_changes; // of its address
};

struct track_setup *track_setup_new(const struct track_setup_config *config)
{
    struct track_setup *t = calloc(1, sizeof(*t));
    if (t)
        t->config = *config;
    return t;
}

static void close_ports(struct track_setup *t)
{
    for (int i = 0; i < TRACKS; i++) {
        media_ports_free(t->tracks[i].ports);
        t->tracks[i].ports = NULL;
    }
}

static void close_srtp(struct track_setup *t)
{
    srtp_guard_free(t->srtp);
    t->srtp = NULL;
    explicit_bzero(t->key, sizeof(t->key));
}

static void close_beside(struct track_setup *t)
{
    media_ports_free(t->beside.ports);
    t->beside.ports = NULL;
    srtp_guard_free(t->beside.srtp);
    t->beside.srtp = NULL;
}

void track_setup_teardown(struct track_setup *t, usec_t now)
{
    session_free(t->session, now);
    t->session = NULL;
    close_ports(t);
    close_srtp(t);
    close_beside(t);
}

void track_setup_free(struct track_setup *t, usec_t now)
{
    if (!t)
        return;
    track_setup_teardown(t, now);
    free(t);
}

struct session *track_setup_session(const struct track_setup *t)
{
    return t->session;
}

bool track_setup_has_both(const struct track_setup *t)
{
    return session_has_audio(t->session) && session_has_pictures(t->session);
}

// ---- The viewer's address and reports

static void log_validated(const struct track_setup *t, int which, const struct sockaddr *address)
{
    char text[SOCKADDR_TEXT];
    sockaddr_text(address, text, sizeof(text));
    log_of(LOG_DEBUG, "viewer", t->config.name, "viewer %s: its %s can go to %s", t->config.name,
           which ? "RTCP" : "RTP", text);
}

static void on_validated(void *ctx, int which, const struct sockaddr *address, usec_t now)
{
    struct track_setup *t = ctx;
    log_validated(t, which, address);
    if (t->session)
        session_writable(t->session, now);
}

static void on_media(void *ctx, const uint8_t *data, size_t len, usec_t now)
{
    struct track_setup *t = ctx;
    if (t->session)
        session_media(t->session, data, len, now);
}

static void on_rtcp(void *ctx, const uint8_t *data, size_t len, usec_t now)
{
    struct track_setup *t = ctx;
    if (!t->session)
        return;
    rtsp_session_alive(t->config.state, now);
    session_rtcp(t->session, data, len, now);
}

static bool may_change(void *ctx, int which, usec_t now)
{
    struct track_setup *t = ctx;
    return t->session && session_may_change_address(t->session, which, now);
}

static bool is_doubted(void *ctx, usec_t now)
{
    (void)now;
    const struct track_setup *t = ctx;
    return t->session && session_doubts_address(t->session);
}

static void on_answered(void *ctx, const struct sockaddr *before, const struct sockaddr *address,
                        usec_t now)
{
    struct track_setup *t = ctx;
    if (t->session)
        session_address_answered(t->session, before, address, now);
}

static const struct media_ports_ops ports_ops = {.on_validated = on_validated,
                                                 .may_change = may_change,
                                                 .is_doubted = is_doubted,
                                                 .on_answered = on_answered,
                                                 .on_media = on_media,
                                                 .on_rtcp = on_rtcp};

// The viewer requests the move when it knows that the path passes datagrams both ways.
static void on_beside_validated(void *ctx, int which, const struct sockaddr *address, usec_t now)
{
    (void)now;
    log_validated(ctx, which, address);
}

static const struct media_ports_ops beside_ops = {.on_validated = on_beside_validated,
                                                  .may_change = may_change,
                                                  .is_doubted = is_doubted,
                                                  .on_answered = on_answered,
                                                  .on_rtcp = on_rtcp};

// The second path of media in datagrams: the viewer is at another address there, which has answered
// a challenge, and may change as often as any.
static bool second_may_change(void *ctx, int which, usec_t now)
{
    struct track_setup *t = ctx;
    const struct request_limit *limit = request_limit_of_parameter(PARAMETER_PATH);
    return which != 0 || request_budget_take(&t->second_changes, limit, now);
}

static bool second_is_doubted(void *ctx, usec_t now)
{
    (void)ctx, (void)now;
    return false;
}

static void on_second_answered(void *ctx, const struct sockaddr *before,
                               const struct sockaddr *address, usec_t now)
{
    struct track_setup *t = ctx;
    char text[SOCKADDR_TEXT];
    sockaddr_text(address, text, sizeof(text));
    if (sockaddr_port(before) != sockaddr_port(address) || !sockaddr_same_host(before, address))
        log_of(LOG_INFO, "viewer", t->config.name, "viewer %s: its second path leads to %s",
               t->config.name, text);
    if (t->session)
        session_second_validated(t->session, now);
}

static void on_second_rtcp(void *ctx, const uint8_t *data, size_t len, usec_t now)
{
    struct track_setup *t = ctx;
    if (!t->session)
        return;
    rtsp_session_alive(t->config.state, now);
    session_second_rtcp(t->session, data, len, now);
}

static const struct media_ports_ops second_ops = {.on_validated = on_beside_validated,
                                                  .may_change = second_may_change,
                                                  .is_doubted = second_is_doubted,
                                                  .on_answered = on_second_answered,
                                                  .on_rtcp = on_second_rtcp};

void track_setup_interleaved(struct track_setup *t, int channel, const uint8_t *data, size_t len,
                             usec_t now)
{
    if (!t->session || !t->interleaved)
        return;
    bool is_rtcp = channel == t->tracks[t->first].channel[1];
    is_rtcp |= track_setup_has_both(t) && channel == t->tracks[!t->first].channel[1];
    if (is_rtcp)
        on_rtcp(t, data, len, now);
}

int track_setup_send_pair(struct track_setup *t, uint32_t number)
{
    struct media_ports *ports = t->tracks[t->first].ports;
    if (!t->session || !ports)
        return ERR_UNSUPPORTED;
    uint16_t seq;
    uint32_t timestamp;
    struct media_pair pair = {.number = number, .bytes = session_packet_bytes(t->session)};
    session_rtp_info(t->session, &seq, &timestamp, &pair.ssrc);
    media_ports_send_pair(ports, &pair);
    return 0;
}

// ---- Paths

// Returns the server's port for transports that require raw sockets; 0: none.
static int raw_port(const struct track_setup *t)
{
    return mtp_raw_port(t->config.raw, (const struct sockaddr *)tcp_conn_local(t->config.tcp));
}

// Returns the channels of RTP and RTCP. They always differ, even if the viewer names only one, or
// one twice; `usual` if it names none.
static void choose_channels(const struct rtsp_transport *offer, int usual, int channel[2])
{
    channel[0] = offer->interleaved[0] >= 0 ? offer->interleaved[0] : usual;
    channel[1] = offer->interleaved[1];
    if (channel[1] < 0 || channel[1] == channel[0])
        channel[1] = channel[0] < 255 ? channel[0] + 1 : 0;
}

static bool channels_clash(const struct track_setup *t)
{
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            if (t->tracks[TRACK_VIDEO].channel[i] == t->tracks[TRACK_AUDIO].channel[k])
                return true;
    return false;
}

static struct media_ports *new_ports(struct track_setup *t, const struct rtsp_transport *offer,
                                     struct srtp_guard *srtp, const struct media_ports_ops *ops)
{
    bool is_elsewhere = ops == &second_ops;
    struct media_ports_config config = {.loop = t->config.loop,
                                        .local = tcp_conn_local(t->config.tcp),
                                        .host = is_elsewhere ? NULL : tcp_conn_peer(t->config.tcp),
                                        .client_port = offer->weir[0] ? NULL : offer->client_port,
                                        .srtp = srtp,
                                        .ops = ops,
                                        .ctx = t};
    return media_ports_new(&config);
}

static int open_ports(struct track_setup *t, enum media_track track,
                      const struct rtsp_transport *offer)
{
    t->tracks[track].ports = new_ports(t, offer, t->srtp, &ports_ops);
    return t->tracks[track].ports ? 0 : ERR_IO;
}

// Fills in the path of a track for the transport. In one flow the audio has no path of its own, and
// the video's path uses the ports of whichever track opened them.
static struct track_path path_of(const struct track_setup *t, enum media_track track)
{
    const struct set_up_track *own = &t->tracks[track];
    struct track_path path = {.channel = {own->channel[0], own->channel[1]}};
    const struct media_ports *ports = own->ports;
    if (t->knows_weir)
        ports = track == TRACK_VIDEO ? t->tracks[t->first].ports : NULL;
    if (ports)
        media_ports_fill(ports, &path);
    return path;
}

// The track was added to the session: repairs its losses as the viewer requests.
static void set_repair(struct track_setup *t, enum media_track track,
                       const struct rtsp_transport *offer)
{
    enum repair_mode mode;
    t->tracks[track].is_repaired = track == TRACK_VIDEO && offer->weir[0] &&
                                   repair_mode_parse(offer->repair, &mode) &&
                                   session_set_repair(t->session, mode);
}

// ---- The response

static uint32_t ssrc_of(const struct track_setup *t, enum media_track track)
{
    uint16_t seq;
    uint32_t timestamp, ssrc;
    if (track == TRACK_AUDIO)
        session_audio_info(t->session, &seq, &ssrc);
    else
        session_rtp_info(t->session, &seq, &timestamp, &ssrc);
    return ssrc;
}

static void answer(const struct track_setup *t, enum media_track track,
                   const struct rtsp_transport *offer, struct rtsp_response *a)
{
    const struct set_up_track *own = &t->tracks[track];
    const struct media_ports *ports = own->ports ? own->ports : t->tracks[t->first].ports;
    struct rtsp_transport given = {.tcp = offer->tcp,
                                   .avpf = offer->avpf,
                                   .savp = offer->savp,
                                   .interleaved = {-1, -1},
                                   .client_port = {-1, -1},
                                   .server_port = {-1, -1},
                                   .has_ssrc = true,
                                   .ssrc = ssrc_of(t, track)};
    for (int i = 0; i < 2; i++) {
        if (offer->tcp) {
            given.interleaved[i] = own->channel[i];
        } else {
            given.client_port[i] = offer->client_port[i];
            given.server_port[i] = media_ports_number(ports, i);
        }
    }
    snprintf(given.weir, sizeof(given.weir), "%s", offer->weir);
    if (own->is_repaired)
        snprintf(given.repair, sizeof(given.repair), "%s", offer->repair);
    if (track == t->first) { // headers of the transport, not of the track
        given.has_token = t->has_token;
        given.token = t->token;
        if (offer->tcp && t->has_token)
            given.server_port[0] = raw_port(t);
        snprintf(given.cc, sizeof(given.cc), "%s", offer->cc);
        snprintf(given.srtp, sizeof(given.srtp), "%s", t->key);
    }
    char text[512];
    rtsp_transport_encode(&given, text, sizeof(text));
    rtsp_response_header(a, "Transport: %s\r\nSession: %s;timeout=%d\r\n", text,
                         t->config.state->id, RTSP_SESSION_TIMEOUT_S);
}

// ---- The second track

// Returns true if the alternative is the transport that carries the first track.
static bool is_same_transport(const struct track_setup *t, const struct rtsp_transport *offer)
{
    if (offer->multicast || offer->tcp != t->interleaved || offer->savp != (t->srtp != NULL))
        return false;
    if (!t->knows_weir)
        return !offer->weir[0] && (offer->tcp || offer->client_port[0] > 0) &&
               offer->client_port[0] <= 65534;
    return strcmp(offer->weir, session_transport(t->session)) == 0;
}

static void set_up_second(struct track_setup *t, enum media_track track,
                          const struct rtsp_transport *offers, int count, struct rtsp_response *a)
{
    int i = 0;
    while (i < count && !is_same_transport(t, &offers[i]))
        i++;
    if (i == count) {
        rtsp_response_refuse(a, 461, "both tracks must use the same transport\r\n");
        return;
    }
    choose_channels(&offers[i], SECOND_CHANNEL, t->tracks[track].channel);
    if (t->interleaved && channels_clash(t)) {
        rtsp_response_refuse(a, 461, "the other track uses these channels\r\n");
        return;
    }
    if (!t->interleaved && !t->knows_weir && open_ports(t, track, &offers[i]) != 0) {
        rtsp_response_refuse(a, 503, "no free UDP ports\r\n");
        return;
    }
    struct track_path path = path_of(t, track);
    if (track == TRACK_AUDIO)
        session_add_audio(t->session, &path);
    else
        session_add_pictures(t->session, &path);
    set_repair(t, track, &offers[i]);
    answer(t, track, &offers[i], a);
}

// ---- The first track

// Returns true if keys may be exchanged on the connection, and media must not leave readable.
static bool encrypts(const struct track_setup *t)
{
    return t->config.srtp || tcp_conn_is_secure(t->config.tcp);
}

static bool read_key(const struct rtsp_transport *offer, uint8_t key[SRTP_KEY_BYTES])
{
    struct text text = {offer->srtp, strlen(offer->srtp)};
    return base64_decode(text, BASE64_URL, key, SRTP_KEY_BYTES) == SRTP_KEY_BYTES;
}

// Returns true if the offer's media may leave as the offer has it: SRTP beside an encrypted
// connection, plain RTP beside another, whose keys could be read.
static bool srtp_fits(const struct track_setup *t, const struct rtsp_transport *offer)
{
    uint8_t key[SRTP_KEY_BYTES];
    if (transport_is_interleaved(transport_offer_name(offer)))
        return !offer->savp;
    bool has_key = offer->weir[0] && offer->srtp[0] && read_key(offer, key);
    explicit_bzero(key, sizeof(key));
    return has_key ? offer->savp && encrypts(t) : !offer->savp && !offer->srtp[0] && !encrypts(t);
}

// Makes the keys of a path, and writes ours to `key`. 0; ERR_IO: no randomness; ERR_NO_MEMORY.
static int open_srtp(const struct rtsp_transport *offer, struct srtp_guard **srtp,
                     char key[BASE64_TEXT(SRTP_KEY_BYTES)])
{
    uint8_t ours[SRTP_KEY_BYTES], theirs[SRTP_KEY_BYTES];
    if (!offer->savp)
        return 0;
    int err = random_fill(ours, sizeof(ours)) && read_key(offer, theirs) ? 0 : ERR_IO;
    if (!err && !(*srtp = srtp_guard_new(ours, theirs)))
        err = ERR_NO_MEMORY;
    if (!err)
        base64_encode(ours, sizeof(ours), BASE64_URL, key);
    explicit_bzero(ours, sizeof(ours));
    explicit_bzero(theirs, sizeof(theirs));
    return err;
}

// Returns 0 if this alternative is supported; otherwise `why` has the reason.
static int try_offer(const struct track_setup *t, const struct rtsp_transport *offer, char *why,
                     size_t cap)
{
    int err = transport_offer_check(offer, raw_port(t) != 0, why, cap);
    if (!err && !srtp_fits(t, offer)) {
        snprintf(why, cap, "%s",
                 encrypts(t) ? "media in datagrams must be SRTP here (x-weir-srtp)"
                             : "keys of SRTP could be read on this connection: use rtsps://");
        return ERR_UNSUPPORTED;
    }
    if (err == ERR_IO)
        log_of(LOG_WARN, "viewer", t->config.name, "viewer %s: transport \"%s\" is refused: %s",
               t->config.name, transport_offer_name(offer), why);
    if (err || tcp_set_available_cc(tcp_conn_fd(t->config.tcp), offer->cc) == 0)
        return err;
    char available[256];
    tcp_available_cc(available, sizeof(available));
    snprintf(why, cap, "congestion control \"%s\" is not available (available: %s)", offer->cc,
             available);
    return ERR_UNSUPPORTED;
}

// Returns the first of the offers from `i` on that is of the transport `name`, and supported;
// `count`: none.
static int find_offer(const struct track_setup *t, const char *name,
                      const struct rtsp_transport *offers, int count, char *why, size_t cap)
{
    const struct transport_kind *wanted, *offered;
    const char *params;
    int i = 0;
    while (i < count &&
           !(transport_find(name, &wanted, &params) == 0 &&
             transport_find(transport_offer_name(&offers[i]), &offered, &params) == 0 &&
             wanted == offered && try_offer(t, &offers[i], why, cap) == 0))
        i++;
    return i;
}

static int choose_offer(const struct track_setup *t, const struct stream *stream,
                        const struct rtsp_transport *offers, int count, char *why, size_t cap)
{
    const struct transport_list *list = stream->transports;
    for (int k = 0; list && k < list->count; k++) {
        int i = find_offer(t, list->names[k], offers, count, why, cap);
        if (i < count)
            return i;
    }
    if (stream->only_these) {
        int len = snprintf(why, cap, "expected one of these transports:");
        for (int k = 0; k < list->count && (size_t)len < cap; k++)
            len += snprintf(why + len, cap - (size_t)len, " %s", list->names[k]);
        return count;
    }
    int i = 0;
    while (i < count && try_offer(t, &offers[i], why, cap) != 0)
        i++;
    return i;
}

// Five packets per round trip of the RTSP connection: half of TCP's max initial window (RFC 6928).
static double start_rate(const struct track_setup *t)
{
    struct tcp_snapshot s;
    if (tcp_info_read(tcp_conn_fd(t->config.tcp), &s) != 0 || !s.srtt)
        return START_BPS;
    return 5 * 8.0 * s.mss / usec_to_sec(s.srtt);
}

// Values that viewers must not be able to guess of other sessions. Each is drawn separately from
// the system's randomness, so that none reveals another.
struct secrets {
    uint64_t session_id;
    uint64_t seed;  // for the numbers of its RTP streams
    uint64_t token; // for its media connection, if the transport makes one
};

static int open_session(struct track_setup *t, const struct track_setup_request *r,
                        const struct rtsp_transport *offer, uint64_t seed, usec_t now)
{
    const struct media_ports *ports = t->tracks[t->first].ports;
    struct track_path path = {0};
    if (ports)
        media_ports_fill(ports, &path);
    const int *channel = t->tracks[t->first].channel;
    struct session_config config = {
        .stream = r->stream,
        .path = {.control = t->config.tcp,
                 .channel = {channel[0], channel[1]},
                 .socket = {path.socket[0], path.socket[1]},
                 .peer = {path.peer[0], path.peer[1]},
                 .raw = t->config.raw,
                 .srtp = t->srtp,
                 .feedback = transport_offer_reports(offer),
                 .ecn = offer->ecn,
                 .token = t->token,
                 .loop = t->config.loop},
        .address = ports ? media_ports_validation(ports) : NULL,
        .level = r->level,
        .follows = true, // if the media has an encoder
        .keeps_size = !t->knows_weir,
        .reports_losses = t->knows_weir,
        .audio_only = t->first == TRACK_AUDIO,
        .seed = seed,
        .start_bps = start_rate(t),
        .queue = r->stream->queue,
        .queue_bytes = r->stream->queue_bytes,
        .peer = t->config.name,
        .on_placed = t->config.on_placed,
        .on_stuck = t->config.on_stuck,
        .on_broken = t->config.on_broken,
        .ctx = t->config.ctx,
    };
    snprintf(config.transport, sizeof(config.transport), "%s", transport_offer_name(offer));
    snprintf(config.id, sizeof(config.id), "%s", t->config.state->id);
    t->session = session_new(&config, now);
    if (!t->session)
        return ERR_IO;
    path = path_of(t, TRACK_AUDIO);
    if (t->first == TRACK_AUDIO)
        session_add_audio(t->session, &path);
    return 0;
}

static void set_up_first(struct track_setup *t, const struct track_setup_request *r,
                         const struct rtsp_transport *offer, struct rtsp_response *a, usec_t now)
{
    struct secrets secrets;
    t->first = r->track;
    t->interleaved = offer->tcp;
    t->knows_weir = offer->weir[0];
    choose_channels(offer, 0, t->tracks[t->first].channel);
    if (!random_fill(&secrets, sizeof(secrets))) {
        rtsp_response_refuse(a, 503, "no randomness\r\n");
        return;
    }
    if (open_srtp(offer, &t->srtp, t->key) != 0) {
        rtsp_response_refuse(a, 503, "no keys for SRTP\r\n");
        return;
    }
    if (!t->interleaved && open_ports(t, t->first, offer) != 0) {
        close_srtp(t);
        rtsp_response_refuse(a, 503, "no free UDP ports\r\n");
        return;
    }
    if (t->interleaved) {
        t->has_token = transport_needs_raw(transport_offer_name(offer));
        t->token = t->has_token ? secrets.token : 0;
    } else {
        const struct path_validation *v = media_ports_validation(t->tracks[t->first].ports);
        t->has_token = v->by_token;
        t->token = v->token;
    }
    rtsp_session_apply(t->config.state, RTSP_SETUP, secrets.session_id);
    if (open_session(t, r, offer, secrets.seed, now) != 0) {
        rtsp_session_apply(t->config.state, RTSP_TEARDOWN, 0);
        close_ports(t);
        close_srtp(t);
        rtsp_response_refuse(a, 503, "the server is full\r\n");
        return;
    }
    set_repair(t, t->first, offer);
    answer(t, t->first, offer, a);
    log_of(LOG_INFO, "viewer", t->config.name, "viewer %s: %s%s%s%s", t->config.name,
           transport_offer_name(offer), offer->cc[0] ? ", " : "", offer->cc,
           t->srtp ? ", SRTP" : "");
}

// ---- A second path

int track_setup_move(struct track_setup *t, usec_t now)
{
    return t->session && t->interleaved && t->beside.ports ? session_move(t->session, now)
                                                           : ERR_UNSUPPORTED;
}

// Returns true if this session's media may go beside the connection as the offer has it, or over a
// second path of its own transport.
static bool takes_beside(const struct track_setup *t, const struct stream *stream,
                         const struct rtsp_transport *offer)
{
    char why[512];
    bool fits =
        t->interleaved ? !t->has_token : strcmp(offer->weir, session_transport(t->session)) == 0;
    return fits && t->knows_weir && t->first == TRACK_VIDEO && stream->media->duration < 0 &&
           offer->weir[0] && !offer->tcp && transport_offer_reports(offer) &&
           choose_offer(t, stream, offer, 1, why, sizeof(why)) == 0;
}

static void answer_beside(const struct track_setup *t, const struct rtsp_transport *offer,
                          enum repair_mode repair, const char *key, struct rtsp_response *a)
{
    char text[512];
    struct rtsp_transport given = *offer;
    for (int i = 0; i < 2; i++)
        given.server_port[i] = media_ports_number(t->beside.ports, i);
    given.has_ssrc = true;
    given.ssrc = ssrc_of(t, TRACK_VIDEO);
    given.has_token = true;
    given.token = media_ports_validation(t->beside.ports)->token;
    given.ecn = false;
    if (repair == REPAIR_MODE_OFF)
        given.repair[0] = '\0';
    snprintf(given.srtp, sizeof(given.srtp), "%s", key);
    if (rtsp_transport_encode(&given, text, sizeof(text)) > 0)
        rtsp_response_header(a, "%s: %s\r\n",
                             t->interleaved ? RTSP_BESIDE_HEADER : RTSP_SECOND_HEADER, text);
    explicit_bzero(text, sizeof(text));
}

void track_setup_beside(struct track_setup *t, struct stream *stream, struct text beside_header,
                        struct text second_header, struct rtsp_response *a, usec_t now)
{
    struct text header = t->interleaved ? beside_header : second_header;
    struct rtsp_transport offers[RTSP_MAX_OFFERS];
    char key[BASE64_TEXT(SRTP_KEY_BYTES)] = "";
    if (!t->session || t->beside.ports || session_is_playing(t->session) || !header.at ||
        rtsp_transport_decode(header, offers) != 1 || !takes_beside(t, stream, &offers[0]))
        return;
    const struct rtsp_transport *offer = &offers[0];
    struct session_beside beside = {
        .path = {
            .control = t->config.tcp, .feedback = true, .ecn = offer->ecn, .loop = t->config.loop}};
    if (open_srtp(offer, &t->beside.srtp, key) != 0 ||
        !(t->beside.ports =
              new_ports(t, offer, t->beside.srtp, t->interleaved ? &beside_ops : &second_ops))) {
        close_beside(t);
        return;
    }
    struct track_path path = {0};
    media_ports_fill(t->beside.ports, &path);
    for (int i = 0; i < 2; i++) {
        beside.path.socket[i] = path.socket[i];
        beside.path.peer[i] = path.peer[i];
    }
    beside.path.srtp = t->beside.srtp;
    beside.address = media_ports_validation(t->beside.ports);
    beside.path.token = beside.address->token;
    (void)repair_mode_parse(offer->repair, &beside.repair);
    snprintf(beside.transport, sizeof(beside.transport), "%s", offer->weir);
    if (t->interleaved) {
        session_set_beside(t->session, &beside);
    } else if (!session_set_second(t->session, &beside, now)) {
        close_beside(t);
        explicit_bzero(key, sizeof(key));
        return;
    }
    answer_beside(t, offer, beside.repair, key, a);
    explicit_bzero(key, sizeof(key));
}

void track_setup_serve(struct track_setup *t, const struct track_setup_request *r,
                       struct rtsp_response *a, usec_t now)
{
    struct rtsp_transport offers[RTSP_MAX_OFFERS];
    int count = r->transport.at ? rtsp_transport_decode(r->transport, offers) : ERR_MALFORMED;
    if (count < 0) {
        rtsp_response_refuse(a, 400, "SETUP needs a Transport header (RFC 2326, 12.39)\r\n");
        return;
    }
    if (t->session) {
        bool is_set_up = r->track == TRACK_AUDIO ? session_has_audio(t->session)
                                                 : session_has_pictures(t->session);
        if (is_set_up || session_is_playing(t->session))
            rtsp_response_refuse(a, 455, "a track can be set up only once, before PLAY\r\n");
        else
            set_up_second(t, r->track, offers, count, a);
        return;
    }
    if (!r->is_level_known) {
        rtsp_response_refuse(a, 451, "no such level: expected 0 to %d\r\n",
                             r->stream->media->ladder.level_count - 1);
        return;
    }
    char why[512] = "no transport in the Transport header is supported";
    int i = choose_offer(t, r->stream, offers, count, why, sizeof(why));
    if (i == count)
        rtsp_response_refuse(a, 461, "%s\r\n", why);
    else
        set_up_first(t, r, &offers[i], a, now);
}
