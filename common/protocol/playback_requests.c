// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/playback_requests.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "common/base/log.h"
#include "common/protocol/server_dialect.h"

static const char RANGE_NOW[] = "Range: npt=now-\r\n"; // RFC 2326, section 3.6

// Writes the header line of a position in stored media, or before the present of live media.
static void write_range(bool live, double position, char *out, size_t cap)
{
    if (live && position <= 0)
        snprintf(out, cap, "%s", RANGE_NOW);
    else
        snprintf(out, cap, "Range: npt=%s%.3f-\r\n", live ? "-" : "", position);
}

void playback_requests_init(struct playback_requests *p, bool names_speed)
{
    *p = (struct playback_requests){.names_speed = names_speed,
                                    .live = true,
                                    .duration = -1,
                                    .level = -1,
                                    .again = -1,
                                    .latency_ms = -1,
                                    .playout_ms = -1,
                                    .max_bps = -1,
                                    .speed = 1,
                                    .requested_speed = 1,
                                    .position = NAN,
                                    .scale = 1,
                                    .served_scale = 1};
}

void playback_requests_describe(struct playback_requests *p, const struct sdp *sdp)
{
    p->live = sdp->duration < 0;
    p->duration = sdp->duration;
    p->knows_now = server_dialect_of(sdp)->knows_now;
}

void playback_requests_level(int level, struct playback_request *out)
{
    *out = (struct playback_request){.kind = REQUEST_LEVEL, .level = level};
    snprintf(out->body, sizeof(out->body), "level: %d\r\n", level);
}

void playback_requests_latency(int ms, struct playback_request *out)
{
    *out = (struct playback_request){.kind = REQUEST_LATENCY};
    snprintf(out->body, sizeof(out->body), "latency: %d\r\n", ms);
}

void playback_requests_audio_track(int track, struct playback_request *out)
{
    *out = (struct playback_request){.kind = REQUEST_AUDIO_TRACK};
    snprintf(out->body, sizeof(out->body), "audio-track: %d\r\n", track);
}

// `range`: a header line, or empty. Only a viewer that controls the speed names one: not every
// server knows the header. The same holds for the scale, which is 1 unless a PLAY named another.
static void play(struct playback_requests *p, const char *range, bool sought,
                 struct playback_request *out)
{
    *out = (struct playback_request){
        .kind = REQUEST_PLAY, .sought = sought, .paused = p->requested_pause};
    p->requested_speed = p->speed;
    bool names_scale = p->scale != 1 || p->served_scale != 1;
    int len = snprintf(out->headers, sizeof(out->headers), "%s", range);
    if (p->names_speed)
        len += snprintf(out->headers + len, sizeof(out->headers) - (size_t)len, "Speed: %.3f\r\n",
                        p->speed);
    if (names_scale)
        len += snprintf(out->headers + len, sizeof(out->headers) - (size_t)len, "Scale: %.3f\r\n",
                        p->scale);
    if (p->awaits_level)
        snprintf(out->headers + len, sizeof(out->headers) - (size_t)len,
                 RTSP_AWAIT_HEADER ": " RTSP_AWAIT_LEVEL "\r\n");
    p->awaits_level = false;
}

void playback_requests_start(struct playback_requests *p, double start,
                             struct playback_request *out)
{
    char range[48];
    bool beyond = !p->live && start > p->duration;
    if (start > 0 && (p->live || beyond))
        log_warn(beyond
                     ? "--start is beyond the end: playing from the beginning"
                     : "--start is ignored: the stream is not a file (-SECONDS goes back in it)");
    if (start < 0 && !p->live)
        log_warn("--start -SECONDS is ignored: the stream is a file");
    bool is_past = p->live && start < 0;
    write_range(p->live,
                is_past             ? -start
                : beyond || p->live ? 0
                                    : fmax(start, 0),
                range, sizeof(range));
    play(p, p->live && !p->knows_now && !is_past ? "" : range, false, out);
}

bool playback_requests_next(struct playback_requests *p, const struct pending_requests *pending,
                            struct playback_request *out)
{
    if (p->again >= 0 && !pending_requests_waiting(pending, REQUEST_LEVEL)) {
        *out = (struct playback_request){.kind = REQUEST_LEVEL, .level = p->again_level};
        snprintf(out->body, sizeof(out->body), "again: %" PRId64 "/%d\r\n", p->again,
                 p->again_level);
        p->again = -1;
        return true;
    }
    if (p->level >= 0 && !pending_requests_waiting(pending, REQUEST_LEVEL)) {
        playback_requests_level(p->level, out);
        p->level = -1;
        return true;
    }
    if (p->moves && !pending_requests_waiting(pending, REQUEST_PATH)) {
        *out = (struct playback_request){.kind = REQUEST_PATH, .body = "path: beside\r\n"};
        p->moves = false;
        return true;
    }
    if (p->latency_ms >= 0 && !pending_requests_waiting(pending, REQUEST_LATENCY)) {
        playback_requests_latency(p->latency_ms, out);
        p->latency_ms = -1;
        return true;
    }
    if (p->playout_ms >= 0 && !pending_requests_waiting(pending, REQUEST_PLAYOUT)) {
        *out = (struct playback_request){.kind = REQUEST_PLAYOUT};
        snprintf(out->body, sizeof(out->body), "playout: %d\r\n", p->playout_ms);
        p->playout_ms = -1;
        return true;
    }
    if (p->max_bps >= 0 && !pending_requests_waiting(pending, REQUEST_MAX_RATE)) {
        *out = (struct playback_request){.kind = REQUEST_MAX_RATE};
        snprintf(out->body, sizeof(out->body), "max-rate: %d\r\n", p->max_bps);
        p->max_bps = -1;
        return true;
    }
    if (p->adapt && !pending_requests_waiting(pending, REQUEST_ADAPT)) {
        *out = (struct playback_request){.kind = REQUEST_ADAPT};
        snprintf(out->body, sizeof(out->body), "adapt: %s\r\n", p->adapt);
        p->adapt = NULL;
        return true;
    }
    if (p->audio_track && !pending_requests_waiting(pending, REQUEST_AUDIO_TRACK)) {
        playback_requests_audio_track(p->audio_track, out);
        p->audio_track = 0;
        return true;
    }
    if (pending_requests_waiting(pending, REQUEST_PAUSE) ||
        pending_requests_waiting(pending, REQUEST_PLAY))
        return false;
    if (!isnan(p->position)) {
        char range[48];
        write_range(p->live, p->position, range, sizeof(range));
        play(p, range, true, out);
        p->position = NAN;
        p->requested_pause = p->pause = false;
        return true;
    }
    if (p->pause != p->requested_pause) {
        p->requested_pause = p->pause;
        // Stored media continues where it stopped (RFC 2326, section 10.5); live media with the
        // current picture, which the range tells a server that knows it. Another server's live
        // media has no other place to continue at.
        if (p->pause)
            *out = (struct playback_request){.kind = REQUEST_PAUSE};
        else
            play(p, p->live && p->knows_now && !p->in_past ? RANGE_NOW : "", false, out);
        return true;
    }
    if (p->speed != p->requested_speed && !p->requested_pause) {
        play(p, "", false, out);
        return true;
    }
    return false;
}

void playback_requests_seek_refused(struct playback_requests *p, bool paused)
{
    p->requested_pause = paused;
    playback_requests_scaled(p, p->served_scale);
}

void playback_requests_scaled(struct playback_requests *p, double scale)
{
    p->served_scale = scale;
    if (isnan(p->position)) // otherwise another choice waits
        p->scale = scale;
}
