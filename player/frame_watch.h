// SPDX-License-Identifier: GPL-2.0-or-later
// Which frames of a stream came whole and which did not, told as its packets come, long before
// playout would miss them: what the policies of levels (goddard_on_frames) live on.
//
//   A frame that the level has (level_schedule.h) is lost when a packet of a later one comes and it
//   is not whole. Each counts once: what becomes whole after that stays lost.
//   Jitter of a whole frame: the time since the whole one before it / (frames lost between + 1)
//   (Chung, Claypool, Kinicki 2005, section IV).
//
// The first packet begins the stream; numbers more than FRAME_WATCH_AHEAD ahead begin it anew.
// Pure.
#ifndef WEIR_PLAYER_FRAME_WATCH_H
#define WEIR_PLAYER_FRAME_WATCH_H

#include <stddef.h>

#include "common/base/usec.h"
#include "player/goddard_monitor.h"
#include "player/level_schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FRAME_WATCH_AHEAD = 4096 }; // frame numbers

struct watched_packet {
    int64_t number; // of its frame, extended
    int level;      // that the sender serves
    int size_id;
    int temporal_id;
    bool key;
    size_t bytes;
};

struct frame_watch {
    struct level_schedule schedule;
    bool started;
    int64_t next;                // the first frame whose fate is open
    int64_t newest;              // of a packet; -1: none
    struct goddard_frames found; // not taken yet
    usec_t whole_at;             // the last whole frame; USEC_NEVER: none
    int lost_since;              // then
};

// `ladder` is borrowed; `level` as level_schedule_init's.
void frame_watch_init(struct frame_watch *w, const struct ladder *ladder, int level);
// Tell each packet, and then the frame that it made whole.
void frame_watch_packet(struct frame_watch *w, const struct watched_packet *p);
// `late`: after its time. The jitter; -1: none, or the frame counts as lost.
usec_t frame_watch_whole(struct frame_watch *w, int64_t number, bool late, usec_t now);
// What was found since the last call; false: nothing.
bool frame_watch_take(struct frame_watch *w, struct goddard_frames *out);

#ifdef __cplusplus
}
#endif
#endif
