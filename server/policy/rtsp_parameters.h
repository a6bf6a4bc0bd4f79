// SPDX-License-Identifier: GPL-2.0-or-later
// Reads and writes the parameters of GET_PARAMETER and SET_PARAMETER (RFC 2326, 10.8 and 10.9):
// their names and values as text. rtsp_handler.c implements their effects. Pure.
#ifndef WEIR_SERVER_POLICY_RTSP_PARAMETERS_H
#define WEIR_SERVER_POLICY_RTSP_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/protocol/relay_info.h"
#include "common/protocol/transport_info.h"
#include "common/wire/frame_ranges.h"
#include "common/wire/text.h"

DECLS_BEGIN

enum rtsp_parameter {
    PARAMETER_UNKNOWN,
    PARAMETER_LEVEL,          // set, get: level of the ladder
    PARAMETER_LATENCY,        // set: how long a frame may wait for the transport, ms; `buffer`, as
                              // what the viewer buffers says it, is the same
    PARAMETER_PLAYOUT,        // set: how long after its capture the viewer shows a frame, ms
    PARAMETER_MAX_RATE,       // set: max rate of all that is sent, bit/s; 0: none
    PARAMETER_AUDIO_TRACK,    // set: a track of x-weir-audio (sdp.h), from 1
    PARAMETER_ADAPT,          // set: `sender` (1) or `none` (0)
    PARAMETER_CAPACITY_PROBE, // set: the number of a packet pair
    PARAMETER_AGAIN,          // set: "FRAME/LEVEL", from which frame on the film is sent again
    PARAMETER_ONLY,           // set: frame_ranges.h
    PARAMETER_PATH,           // set: `beside`, where media goes on
    PARAMETER_GROUP_HASH,     // get: the SHA-256 of a group (stored_track.h)
    PARAMETER_SUBTITLES,      // get: subtitle.h
    PARAMETER_FILM_TABLE,     // get: film_table_parts.h
    PARAMETER_CLOCK,          // get
    PARAMETER_TRANSPORT,      // get
    PARAMETER_COUNT,          // of parameters
};

struct rtsp_parameter_name {
    const char *name; // static
    enum rtsp_parameter parameter;
    bool can_set, can_get;
};

// All names, which are read without regard to case. Returns NULL if `i`, from 0, is beyond the last
// one.
const struct rtsp_parameter_name *rtsp_parameter_at(int i);

struct rtsp_setting {
    enum rtsp_parameter parameter;
    bool is_valid;              // the value can be one of this parameter's
    int number;                 // 0 or more; not of PARAMETER_ONLY. PARAMETER_AGAIN: the level
    int64_t frame;              // PARAMETER_AGAIN
    struct frame_ranges ranges; // PARAMETER_ONLY
};

// Reads one line of SET_PARAMETER's body.
struct rtsp_setting rtsp_setting_of(struct text name, struct text value);
// Reads one name of GET_PARAMETER's body; UNKNOWN: it is none that can be got.
enum rtsp_parameter rtsp_parameter_of(struct text name);
struct rtsp_group { // the value of group-hash: "TRACK/GROUP", TRACK a size's number or `audio`
    int track;      // stored_group.h
    int64_t group;
};
// Returns false if the value is malformed.
bool rtsp_parameter_group(struct text value, struct rtsp_group *out);
// Writes "transport: rtt_ms=12.345 ...", terminated and truncated to `cap`: the known values of
// `info`, and the number of frames that this viewer did not get.
void rtsp_parameter_transport(const struct transport_info *info, double skipped, char *out,
                              size_t cap);

// Appends what a proxy knows of the way behind it to that line.
// Appends the line "source-away: SECONDS REASON": the source of live media sends nothing since
// then.
void rtsp_parameter_away(double seconds, const char *why, char *out, size_t cap);
void rtsp_parameter_relay(const struct relay_info *info, char *out, size_t cap);

DECLS_END
#endif
