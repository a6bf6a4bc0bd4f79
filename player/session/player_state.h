// SPDX-License-Identifier: GPL-2.0-or-later
// What the files player*.c share; nobody else includes it. player.c: life and the end;
// player_server.c: what the server says; player_frames.c: the ways of frames and pictures;
// player_sound.c: those of sound; player_reconnect.c: from one connection to the next;
// player_viewer.c: what the viewer wants; player_seek.c: going to another place of a file;
// player_goddard.c: what --adapt goddard asks for in his place; player_osd.c: what the window
// tells; player_tick.c: what is looked at once in a while.
#ifndef WEIR_PLAYER_SESSION_PLAYER_STATE_H
#define WEIR_PLAYER_SESSION_PLAYER_STATE_H

#include <pthread.h>
#include <uv.h>

#include "common/net/mailbox.h"
#include "common/net/stop_signals.h"
#include "common/net/timer.h"
#include "player/audio/audio_output.h"
#include "player/audio/audio_receiver.h"
#include "player/compare/picture_compare.h"
#include "player/policy/media_silence.h"
#include "player/policy/reconnect.h"
#include "player/receive/video_receiver.h"
#include "player/rtsp/client.h"
#include "player/session/player.h"
#include "player/ui/model/rolling_mean.h"
#include "player/video/presenter.h"

#ifdef __cplusplus
extern "C" {
#endif

struct viewer_command {
    enum viewer_wish { WISH_COMMAND, WISH_SEEK, WISH_SEEK_BY, WISH_LEVEL, WISH_TRANSPORT } wish;
    enum display_command command; // WISH_COMMAND
    double seconds;               // of seeks
    int level;
    char transport[TRANSPORT_MAX_NAME];
};

// Where in a file the viewer is: frame `number` is what stands at `seconds`.
struct player_place {
    bool known;
    int64_t number;
    double seconds;
    int64_t shown;                                    // the newest frame shown
    enum { SEEK_NONE, SEEK_ASKED, SEEK_PLACED } seek; // PLACED: no frame of it was shown yet
    double to;                                        // of the seek
    usec_t asked;                                     // likewise
    bool held; // in a pause, of which the server does not know yet
};

// Between two connections of one viewing.
struct outage {
    bool open;   // no media comes: the server was lost, or the viewer changes the transport
    bool chosen; // the latter
    bool trying; // the client is one that tries
    bool due;    // an attempt, as soon as what is paused or held was shown
    bool back;   // not by that one: by the transport of before
    // What had come was shown, and the picture stands still: as if the viewer had paused when it is
    // his own doing.
    enum { GAP_NONE, GAP_STALL, GAP_PAUSE } gap;
    usec_t since;
    usec_t gap_since;
    struct transport_list transports; // of before, if `chosen`
    char why[256];
};

struct player {
    const struct play_options *options; // borrowed
    struct play_options own;            // the same, with what the viewer chose since
    struct source *reference;           // owned until measuring takes it over
    struct display *display;            // borrowed
    uv_loop_t loop;
    pthread_t thread;

    // What joins the threads; owned.
    struct render_queue *show;
    struct mailbox *done;     // struct play_frame
    struct mailbox *commands; // struct viewer_command
    struct mailbox *measured; // struct measured

    // The loop thread's; owned. After the thread is joined the main thread's.
    struct client *client;
    struct mtp_raw_receiver *raw; // NULL: not wanted, or not possible
    struct video_receiver *input;
    struct presenter *presenter; // NULL for packets without frames
    struct picture *last_shown;  // of the connections before; NULL: none
    struct audio_output *audio;  // NULL: there is none, or it is not wanted
    uint64_t audio_random;       // audio_receiver_init's
    struct audio_receiver audio_input;
    struct media_clock audio_clock; // of low latency, which has none
    bool audio_clocked;
    bool flashed;       // the last picture did
    usec_t audio_delay; // likewise, behind the pictures
    uint64_t audio_underruns;
    struct { // of the connections before this one
        uint64_t packets;
        uint64_t lost;
        uint64_t bytes;
    } audio_before;
    struct picture_compare *measure; // NULL: nothing to measure. Its push is the main thread's
    struct contact_sheet *sheet;     // NULL: not wanted
    struct qoe *qoe;
    struct trace *events;
    struct player_goddard *goddard; // NULL: not wanted
    struct timer *tick;
    struct timer *duration;
    struct timer *bye;
    struct timer *script;
    int steps_done; // of the options' script
    struct timer *retry;
    struct reconnect reconnect;
    struct outage outage;
    unsigned frames_session; // of frames that are under way
    struct osd_state osd;    // as told last
    struct panel_recent {
        struct rolling_mean shown;
        struct rolling_mean display;
        struct rolling_mean part[LATENCY_PARTS];
    } lately;
    struct qoe_transport last_second;
    struct stop_signals signals;
    struct sdp sdp;
    struct clock_sync clock;
    struct transport_info path; // as the sender told last
    usec_t rtt;                 // 0 = unknown
    int sender_ms;              // its share of the latency, as told last; 0: not yet
    char transport[TRANSPORT_MAX_NAME];
    int level;             // that comes
    int wanted_level;      // that the viewer asked for last
    const char *asked_why; // and why; NULL: it has come
    bool described;
    bool datagram;
    bool pairs; // of packets, to measure the path, can be asked for
    bool playing;
    usec_t playing_since;
    usec_t media_since; // of this connection
    usec_t next_tick;
    int ticks;
    bool warned_quiet;
    struct media_silence silence;
    struct player_place place;
    char why[128]; // the description cannot be played

    // How it ends.
    bool over;
    bool leaving; // TEARDOWN is out
    usec_t over_at;
    enum qoe_ended ended;
    int exit_code;
    char error[512]; // empty: none
};

// Loop thread, unless told otherwise.

// Remembers how the viewing ends, without ending it; the first reason counts.
void player_give_reason(struct player *p, enum qoe_ended ended, int exit_code, const char *error);
void player_stop(struct player *p, usec_t now);
// Both.
void player_end(struct player *p, enum qoe_ended ended, int exit_code, const char *error,
                usec_t now);

// Connects to the server that the options name. NULL: logged.
struct client *player_new_client(struct player *p, usec_t now);

// What display_config and the mailboxes want; the first two are the main thread's.
void player_on_shown(void *ctx, struct play_frame *f);
void player_on_display_command(void *ctx, enum display_command command);
void player_on_display_level(void *ctx, int level);
void player_on_display_transport(void *ctx, const char *name);
void player_on_display_seek(void *ctx, bool relative, double seconds);
void player_on_script(void *ctx, usec_t now);
void player_on_command(void *ctx, void *item, usec_t now);
void player_on_done(void *ctx, void *item, usec_t now);
void player_on_measured(void *ctx, void *item, usec_t now);
void player_report_frame(void *ctx, struct play_frame *f); // any thread

// When the description is known. False: out of memory or threads.
bool player_open_frames(struct player *p);
void player_on_bye_time(void *ctx, usec_t now); // the timer set by the server's BYE

// From where a step counts: of several in a row, from where the last one goes. NaN: not known.
double player_seek_base(const struct player *p);
void player_seek_to(struct player *p, double seconds, usec_t now);
// PLAY was answered.
void player_seek_placed(struct player *p, const struct rtsp_client_place *place, usec_t now);
void player_seek_refused(struct player *p, usec_t now);
// After a reconnect: what was asked for meanwhile.
void player_seek_again(struct player *p, usec_t now);
// Is the file's end still far, by what has come? Not when this connection brought next to nothing:
// then the file is shorter than it was said to be.
bool player_seek_is_early(const struct player *p);
void player_seek_shown(struct player *p, int64_t number, usec_t shown_at, usec_t now);
void player_seek_tick(struct player *p, usec_t now);
// Seconds of the media that stand on the screen; NaN: not a file, or not known.
double player_position(const struct player *p);
// Borrowed until the next call; NULL: none yet.
struct picture *player_last_shown(const struct player *p);
// The connection is lost, `why`. False: nobody wants another one.
bool player_lost(struct player *p, const char *why, usec_t now);
void player_change_transport(struct player *p, const char *name, usec_t now);
bool player_drained(struct player *p, usec_t now);      // False: this was the end of the media
void player_resumed_lost(struct player *p, usec_t now); // the viewer goes on while nothing comes
void player_drop_frames(struct player *p, usec_t now);  // those of the connection before
void player_reconnected(struct player *p, usec_t now);
void player_on_started(void *ctx, usec_t now); // pictures move, at first or again
void player_on_retry_time(void *ctx, usec_t now);

// With --adapt goddard; without it these do nothing, but for the first two, which are not called.
bool player_goddard_open(struct player *p); // False: out of memory
void player_goddard_ready(struct player *p, usec_t now);
void player_goddard_pair(struct player *p, const struct capacity_packet *packet, size_t bytes,
                         usec_t arrived, usec_t now);
void player_goddard_no_pair(struct player *p, usec_t now);
void player_goddard_packet(struct player *p, const struct rtp_packet *packet, usec_t arrived,
                           usec_t now);
void player_goddard_whole(struct player *p, int64_t number, usec_t now);
void player_goddard_empty(void *ctx, usec_t now);
void player_goddard_pause(struct player *p, bool pause, usec_t now); // or resume
void player_goddard_close(struct player *p);

// Tells the viewer once.
void player_toast(struct player *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void player_show_osd(struct player *p, usec_t now);
void player_show_end(struct player *p, const char *error); // the last that the window is told

// player_sound.c; without sound these do nothing.
void player_audio_open(void *ctx); // there is sound
bool player_audio_packet(struct player *p, bool rtcp, const uint8_t *data, size_t len,
                         usec_t arrived);                 // takes what is the sound's
void player_audio_near(struct player *p, int64_t number); // a frame that comes
// The same of a server that is not weir-send, with its RTP time stamp.
void player_audio_frame(struct player *p, int64_t number, uint32_t stamp, usec_t arrived);
void player_audio_clock(void *ctx, bool playing, const struct media_clock *clock);
void player_audio_picture(struct player *p, const struct play_frame *f, usec_t pts);
void player_audio_second(struct player *p, usec_t now);
void player_audio_mute(struct player *p);
void player_audio_drop(struct player *p); // what was heard ends here; another connection follows
void player_audio_end(struct player *p);  // no packet comes any more
void player_audio_read(struct player *p); // to QoE

// Of pictures and sound, by this connection.
uint64_t player_media_packets(const struct player *p);
// Plays for long enough by now, but has shown no picture.
bool player_shows_nothing(const struct player *p, usec_t now);
void player_start_ticks(struct player *p, usec_t now);
void player_on_tick(void *ctx, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
