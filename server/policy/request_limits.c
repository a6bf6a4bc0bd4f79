// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/request_limits.h"

#include <math.h>
#include <stddef.h>

#define ANSWER(name)                                                                               \
    {                                                                                              \
        name, REQUEST_COSTS_ANSWER, 0, 0, "its answer", "common/net/tcp_conn.h"                    \
    }

static const struct request_limit methods[] = {
    [RTSP_OPTIONS] = ANSWER("OPTIONS"),
    [RTSP_DESCRIBE] =
        {"DESCRIBE", REQUEST_COSTS_WORK, 0, 0,
         "FOLDER_OPENERS films are opened at once and few stay open idle; the list is "
         "made by one thread, for all who wait",
         "sender/catalog/folder_catalog.c"},
    [RTSP_SETUP] = {"SETUP", REQUEST_COSTS_PLACE, 0, 0,
                    "one session a connection, connections by places.h",
                    "server/rtsp/track_setup.c"},
    [RTSP_PLAY] = {"PLAY", REQUEST_COSTS_WORK, 0, 0,
                   "one target is sought at a time, the last one; media leaves at the transport's "
                   "rate",
                   "sender/feed/live_control.c"},
    [RTSP_PAUSE] = ANSWER("PAUSE"),
    [RTSP_TEARDOWN] = ANSWER("TEARDOWN"),
    [RTSP_GET_PARAMETER] = {"GET_PARAMETER", REQUEST_COSTS_ANSWER, 0, 0,
                            "REQUEST_MAX_PARAMETERS lines, each a row of its own", ""},
    [RTSP_SET_PARAMETER] = {"SET_PARAMETER", REQUEST_COSTS_ANSWER, 0, 0,
                            "REQUEST_MAX_PARAMETERS lines, each a row of its own", ""},
    [RTSP_UNKNOWN] = ANSWER("another method"),
    [RTSP_ANNOUNCE] = {"ANNOUNCE", REQUEST_COSTS_PLACE, 0, 0,
                       "one client a path, MOUNTS_MAX paths, and one a connection",
                       "sender/catalog/mount_catalog.c"},
    [RTSP_RECORD] = {"RECORD", REQUEST_COSTS_WORK, 0, 0,
                     "one stream a path; PUBLISH_MAX_PACKETS a second",
                     "server/rtsp/publish_setup.c"},
};

static const struct request_limit parameters[] = {
    [PARAMETER_UNKNOWN] = ANSWER("another parameter"),
    [PARAMETER_LEVEL] =
        {"level", REQUEST_COSTS_BYTES, 0, 0,
         "a key frame for a viewer who starts at a size: four at once, and one a second",
         "stream/send/repair_budget.h"},
    [PARAMETER_LATENCY] = ANSWER("latency"),
    [PARAMETER_PLAYOUT] = ANSWER("playout"),
    [PARAMETER_MAX_RATE] = ANSWER("max-rate"),
    [PARAMETER_AUDIO_TRACK] = {"audio-track", REQUEST_COSTS_WORK, 0, 0,
                               "one track a viewer, one thread a track of the film",
                               "sender/feed/audio_thread.c"},
    [PARAMETER_ADAPT] = ANSWER("adapt"),
    [PARAMETER_CAPACITY_PROBE] = {"capacity-probe", REQUEST_COSTS_BYTES, 2, USEC_PER_SEC / 10,
                                  "two packets, to a validated address; one without budget counts "
                                  "as lost on the way",
                                  ""},
    [PARAMETER_AGAIN] =
        {"again", REQUEST_COSTS_BYTES, 4, USEC_PER_SEC / 2,
         "a group of the film, to the viewer's transport; one without budget counts "
         "as lost on the way",
         ""},
    [PARAMETER_ONLY] = {"only", REQUEST_COSTS_PLACE, 0, 0, "FRAME_RANGES_MAX ranges",
                        "common/wire/frame_ranges.h"},
    [PARAMETER_PATH] = {"path", REQUEST_COSTS_BYTES, 4, USEC_PER_SEC,
                        "a controller, and what is lost if the path is; "
                        "one without budget has no effect",
                        ""},
    [PARAMETER_GROUP_HASH] =
        {"group-hash", REQUEST_COSTS_WORK, 0, 0,
         "DIGEST_JOBS groups of a film are read at once, and the last ones are "
         "kept",
         "server/stored/stored_cache.c"},
    [PARAMETER_SUBTITLES] = {"subtitles", REQUEST_COSTS_WORK, 0, 0,
                             "a film's text is read once, at a bounded pace",
                             "media/coded/read_pace.h"},
    [PARAMETER_FILM_TABLE] = ANSWER("film-table"),
    [PARAMETER_CLOCK] = ANSWER("clock"),
    [PARAMETER_TRANSPORT] = ANSWER("transport"),
};

// Datagrams, and frames of the RTSP connection: those of an address that is not the viewer's are
// dropped (path_validation.h).
static const struct request_limit rtcp[] = {
    [RTCP_IS_SR] = ANSWER("SR"),
    [RTCP_IS_RR] = ANSWER("RR"),
    [RTCP_IS_SDES] = ANSWER("SDES"),
    [RTCP_IS_BYE] = ANSWER("BYE"),
    [RTCP_IS_NACK] = {"NACK", REQUEST_COSTS_BYTES, 0, 0,
                      "two packets named for each that was sent, and FEEDBACK_MAX_CREDIT",
                      "stream/send/feedback_limit.h"},
    [RTCP_IS_PLI] =
        {"PLI", REQUEST_COSTS_BYTES, 0, 0,
         "ten a second of a viewer; the key frames that follow are those of a shared budget",
         "stream/send/repair_budget.h"},
    [RTCP_IS_TMMBR] = {"TMMBR", REQUEST_COSTS_BYTES, 10, USEC_PER_SEC / 10,
                       "a TMMBN and a sender report; without budget it is obeyed, not answered",
                       ""},
    [RTCP_IS_TMMBN] = ANSWER("TMMBN"),
    [RTCP_IS_REMB] = ANSWER("REMB"),
    [RTCP_IS_OTHER] = {"reports of RFC 8888", REQUEST_COSTS_ANSWER, 0, 0,
                       "what was sent is looked up in a window of a bounded length",
                       "common/protocol/datagram_sender.h"},
};

static const struct request_limit others[] = {
    {"a re-attachment", REQUEST_COSTS_BYTES, 4, USEC_PER_SEC,
     "a socket for another, and what is lost of media over the connection before; one without "
     "budget is refused with 503",
     ""},
    {"a connection", REQUEST_COSTS_PLACE, 0, 0, "a quarter of --max-viewers of one address",
     "server/policy/places.h"},
    {"a connection that is refused", REQUEST_COSTS_PLACE, 0, 0,
     "16 wait for their request, four of one address, for five seconds", "server/rtsp/server.c"},
    {"a handshake of TLS", REQUEST_COSTS_WORK, 0, 0,
     "a place of the address, and the time of its "
     "first request",
     "server/rtsp/connection_accepted.c"},
    {"a key or a password", REQUEST_COSTS_WORK, 0, 0,
     "an attempt in two seconds after 20 failures of an address; a thread of its own, and two of "
     "one address that wait for it",
     "server/policy/login_failures.h"},
    {"a token of path validation", REQUEST_COSTS_BYTES, 0, 0,
     "an echo or a challenge of the same size; both to a validated address that is in doubt",
     "common/transport/path_validation.h"},
    {"a change of the viewer's address", REQUEST_COSTS_BYTES, 0, 0,
     "a controller, from the budget of \"path\"", "server/session/session_paths.h"},
    {"an acknowledgement of MTP", REQUEST_COSTS_ANSWER, 0, 0, "its connection's window",
     "common/mtp/mtp_sender.h"},
    {"a still picture", REQUEST_COSTS_WORK, 0, 0,
     "one a path and still_size.age, for all who wait; STILLS_CODING wait for the thread",
     "server/still/still_maker.h"},
    {"a file of the page", REQUEST_COSTS_ANSWER, 0, 0, "HTTP_LAST and HTTP_END of a connection",
     "server/rtsp/connection_accepted.c"},
    {"a request of --http", REQUEST_COSTS_WORK, 0, 0,
     "connections and waiting requests of an address; FOLDER_LIBRARY_FILMS films",
     "server/http/http_server.h"},
    {"a request of --metrics", REQUEST_COSTS_ANSWER, 0, 0, "connections of an address",
     "server/export/stats_http.c"},
    {"a film of an origin", REQUEST_COSTS_WORK, 0, 0,
     "one a connection; a session with the origin ends when it has sent what was announced",
     "proxy/policy/run_limit.h"},
};

#define ROW(table, i)                                                                              \
    ((size_t)(i) < sizeof(table) / sizeof(*(table)) && (table)[i].name ? &(table)[i] : NULL)

const struct request_limit *request_limit_of_method(enum rtsp_method method)
{
    return ROW(methods, method);
}

const struct request_limit *request_limit_of_parameter(enum rtsp_parameter parameter)
{
    return ROW(parameters, parameter);
}

const struct request_limit *request_limit_of_rtcp(enum rtcp_kind kind)
{
    return ROW(rtcp, kind);
}

const struct request_limit *request_limit_of_attach(void)
{
    return &others[0];
}

const struct request_limit *request_limit_of_other(int i)
{
    return ROW(others, i);
}

bool request_budget_take(struct request_budget *b, const struct request_limit *limit, usec_t now)
{
    if (!limit->interval)
        return true;
    double gained = b->has_begun ? (double)(now - b->at) / (double)limit->interval : limit->burst;
    b->left = fmin(limit->burst, b->left + gained);
    b->at = now;
    b->has_begun = true;
    bool may = b->left >= 1;
    b->left -= may;
    return may;
}
