// SPDX-License-Identifier: GPL-2.0-or-later
// A film's viewer, as its policy (abr_policy.h) sees it: packets in, level and speed to request of
// the sender out. It drives one policy over one connection.
//
//   Numbers   Frame `number` of the stream is frame number - base of the film. The base is that of
//             the last PLAY (abr_viewer_place). A number beyond the end of the film means that it
//             began again.
//   Samples   Bytes of video that arrived in ABR_VIEWER_SAMPLE or more; in ABR_VIEWER_PACED or more
//             if the policy paces, or the buffer is full, and as much longer as the speed is below
//             1: few frames arrive then. If nothing arrives, in ABR_VIEWER_SILENCE. In a sample
//             media of so many frames has passed. That is below .75 of what the requested speed
//             gives: the network was the limit (RATE_LIMIT_NETWORK), and so it was if a tenth of
//             the packets is missing. Else, and within a round trip of a change of the speed, the
//             sender's pace was (RATE_LIMIT_MEDIA); and so it is for ABR_VIEWER_SILENCE after a
//             speed below 1, while no more than that arrives.
//   Start     A server that awaits the level (abr_viewer_await) sends the first group as fast as
//             its transport takes it. Once that has arrived, the next group is decided by the rate
//             at which it came (first_burst.h), less the audio's. The path carries at least that
//             (RATE_LIMIT_MEDIA). If the burst was long, it carries just that, and the decision
//             comes when what is missing arrives within a round trip.
//   Cut       Such a server sends the video again from a frame on, at another level: so the last
//             group that was begun is cut off if the policy says so (abr_policy_cut), before it is
//             shown. With the first packet at that level it counts as begun again. A request
//             without an effect in ABR_VIEWER_AGAIN is the last one.
//   Exchange  So are groups that are buffered, at a better level, with all behind them
//             (abr_state.with_rest). What is buffered then counts as far as the copies reach; the
//             older ones are shown where no copy comes.
//   Next      What the path carries in a round trip is on the way already. So the first group that
//             a request of now still changes is the one that begins behind that many bytes.
//   Decision  For each such group, and again with each sample while it waits (abr_policy_revises).
//   Speed     Below the target: the policy's pace, or as fast as the level can follow, at most
//             `max_speed`: a group takes a round trip and two samples at least, at twice the speed,
//             at which a server begins. So a fast path is not filled with the lowest level before
//             it has shown its rate. Of a level that stays, 8, and 4 from 10 s of buffer on, as
//             nothing is to follow. 1 from the target on, until two groups of room are there. .25
//             from 5 s beyond it on. Once the whole film has arrived, nothing is requested.
//             Where the sender does not follow the network, a loss lowers the speed to .85 of the
//             forecast; it grows by .05 of the forecast a second.
//   Pace      Of a film that is played at another pace than 1, times are those of playing: its
//             groups are shorter, and so is what is buffered; speeds are multiples of the pace.
//   Bytes     The buffer counts as full with ABR_VIEWER_FULL_BYTES or ABR_VIEWER_FULL_FRAMES, and
//             as more than full with a third more: 96 MB or 3200 frames. What is under way then
//             still fits held_frames.h.
//   Table     Until the film's own is there, one that is made of the ladder's bitrates. The samples
//             so far are told to the policy of the new table.
//
// Pure, not thread-safe. Only abr_viewer_new and abr_viewer_set_table allocate.
#ifndef WEIR_STREAM_ABR_ABR_VIEWER_H
#define WEIR_STREAM_ABR_ABR_VIEWER_H

#include <stddef.h>

#include "common/base/decls.h"
#include "stream/abr/abr_policy.h"

DECLS_BEGIN

#define ABR_VIEWER_SAMPLE     (100 * USEC_PER_MSEC)
#define ABR_VIEWER_PACED      USEC_PER_SEC
#define ABR_VIEWER_SILENCE    (500 * USEC_PER_MSEC)
#define ABR_VIEWER_AGAIN      (10 * USEC_PER_SEC)
#define ABR_VIEWER_FAST       100.0
#define ABR_VIEWER_FIRST      4.5 // speed of the first request: servers that leave frames out grant 4
#define ABR_VIEWER_MIN_TARGET (4 * USEC_PER_SEC)
#define ABR_VIEWER_START      (250 * USEC_PER_MSEC) // of media
#define ABR_VIEWER_RESUME     (2 * USEC_PER_SEC)
enum {
    ABR_VIEWER_FULL_BYTES = 72 << 20,
    ABR_VIEWER_FULL_FRAMES = 2400,
    ABR_VIEWER_TEXT = 192,
};

struct abr_viewer_config {
    const char *policy;          // a name of abr_policy_name; static
    const struct ladder *ladder; // borrowed for the viewer's life
    int64_t frames;              // of the film, at least 1
    int group_frames;            // of a group, until a table says
    usec_t target;               // time of playing in the buffer; ABR_VIEWER_MIN_TARGET ..
                                 // ABR_MAX_TARGET
    double max_speed;            // 1 .. ABR_VIEWER_FAST; less over a transport that loses what the
                                 // network cannot take
};

struct abr_packet {   // of video
    int64_t number;   // of its frame
    int64_t slot;     // of the frame, in the order of sending
    int64_t sequence; // without gaps, if none is lost
    int level;        // that the sender serves
    size_t bytes;     // of payload
    bool last;        // of its frame
};

struct abr_buffer { // of the viewer
    int64_t number; // of the frame that is shown next; -1: not known
    usec_t media;   // that waits, without a hole
    size_t bytes;
    int frames;
    bool playing;
};

struct abr_action { // the complete request; what differs from the last one is sent
    int level;
    double speed;
    bool changes_level; // since the last action
    bool changes_speed;
    int64_t again; // from this frame on the video is requested again, at `level`; -1: from none
    bool awaited;  // the level is to be requested even if it is the same: the server awaits it
    bool decided;  // about another group, or otherwise: `decision` is news
    struct abr_decision decision;
    usec_t buffered;
};

struct abr_viewer;

// Starts with a table of the ladder's bitrates. 0; what abr_policy_new and film_table_new return.
int abr_viewer_new(const struct abr_viewer_config *config, struct abr_viewer **out);
void abr_viewer_free(struct abr_viewer *v); // NULL is fine

// The film's own table arrived; takes it over in every case. 0; ERR_RANGE: it lies
// (film_table_check), and the one that is there stays; ERR_NO_MEMORY.
int abr_viewer_set_table(struct abr_viewer *v, struct film_table *table);
bool abr_viewer_has_table(const struct abr_viewer *v); // false: it was made of bitrates

void abr_viewer_limit_speed(struct abr_viewer *v, double max_speed); // as in the configuration
void abr_viewer_set_rtt(struct abr_viewer *v, usec_t rtt);           // 0: not known
// The film is played `pace` times as fast as it was made, > 0. The policies that take the length of
// a group when they begin (bola-e and its like) keep that.
void abr_viewer_set_pace(struct abr_viewer *v, double pace);
// Frame `number` of the stream is frame `frame` of the film. `sought`: the position changed; what
// arrived before is of no use.
void abr_viewer_place(struct abr_viewer *v, int64_t number, int64_t frame, bool sought, usec_t now);
// Returns true if the policy can decide while the first group arrives; then ask the server to await
// the level.
bool abr_viewer_awaits(const struct abr_viewer *v);
// The server awaits the level of frame `number`, which begins a group, and sends all before it as
// fast as it can. Call it after abr_viewer_place.
void abr_viewer_await(struct abr_viewer *v, int64_t number);
// Nothing is requested from now on, or again; what is measured begins anew.
void abr_viewer_pause(struct abr_viewer *v, bool pause);
// The viewer chose this level; ABR_NO_LEVEL: the policy chooses.
void abr_viewer_choose(struct abr_viewer *v, int level);
// Other media of the same flow arrived: audio.
void abr_viewer_beside(struct abr_viewer *v, size_t bytes, usec_t now);
// A packet arrived. Returns true if abr_viewer_run is due at once.
bool abr_viewer_packet(struct abr_viewer *v, const struct abr_packet *p, usec_t now);
// Call it every ABR_VIEWER_SAMPLE, too, and first before PLAY. Returns true if *out says something.
bool abr_viewer_run(struct abr_viewer *v, const struct abr_buffer *b, struct abr_action *out,
                    usec_t now);
// Returns with how much media playing goes on, or would after a stall: ABR_VIEWER_START if it may
// now, ABR_MAX_TARGET if it is to wait, ABR_VIEWER_RESUME while it has not stalled.
usec_t abr_viewer_resume(struct abr_viewer *v, const struct abr_buffer *b, bool stalled,
                         usec_t now);

// Returns true if the level may change: there are several, and the viewer chose none.
bool abr_viewer_adapts(const struct abr_viewer *v);
// What is watched and why, as of the last decision: "buffer 12.3 of 30 s, path 3.9 Mbit/s +- 8 %,
// level 5 of 6: the path carries no higher one", or "..., one level: nothing to adapt". Empty
// before the first one.
void abr_viewer_text(const struct abr_viewer *v, char out[ABR_VIEWER_TEXT]);

DECLS_END
#endif
