// SPDX-License-Identifier: GPL-2.0-or-later
// weir-play's command line.
#ifndef WEIR_PLAYER_OPTIONS_PLAY_OPTIONS_H
#define WEIR_PLAYER_OPTIONS_PLAY_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/net/log_stderr.h"
#include "common/program/command_line.h"
#include "common/repair/repair_policy.h"
#include "common/transport/transport_list.h"
#include "common/wire/sdp.h"
#include "common/wire/url.h"
#include "player/policy/play_script.h"
#include "player/policy/playlist.h"
#include "stream/goddard/goddard_params.h"

DECLS_BEGIN

// How the program ends; --help says the same.
enum exit_code {
    EXIT_ENDED = 0,
    EXIT_INTERNAL = 1,
    EXIT_USAGE = 2,
    EXIT_REFUSED = 3,
    EXIT_SERVER_LOST = 4,
    EXIT_UNDECODABLE = 5,
    EXIT_INTERRUPTED = 130,
};

// Who chooses the level while the stream runs.
enum adapt {
    ADAPT_AUTO,    // the player for a stored ladder, which has no encoder; else the server, if the
                   // media has an encoder
    ADAPT_SENDER,  // the server, by the measured network rate
    ADAPT_NONE,    // no adaptation
    ADAPT_GODDARD, // the player, by goddard.h
};

struct play_options {
    char *file;     // owned: the configuration file's text, NULL: none
    struct url url; // .host empty: the viewer is to choose one (play_options_parse_choosing)
    bool chooses;   // the viewer may choose the URL later
    struct transport_list transports;
    char cc[16]; // empty: the kernel's own choice
    int level;   // --level, else the URL's; -1: the server's choice
    enum adapt adapt;
    bool keep_levels;              // on a machine that is too slow for them, too
    const char *film_policy;       // ADAPT_AUTO: of a film's levels (abr_policy.h), static
    bool has_goddard;              // --goddard was given
    struct goddard_params goddard; // ADAPT_GODDARD sets `buffer` to its play_buf_thresh
    bool srtp;                     // datagrams are SRTP even beside a plain connection
    const char *second;            // interface or local address of a second network; NULL: none
    bool low_latency;              // the budget of PLAY_OPTIONS_LOW_LATENCY_MS, and no buffer
    usec_t latency;          // target for live media, capture to shown; 0: auto, or with --buffer
                             // that of the start
    bool latency_auto;       // --latency auto was given
    enum repair_mode repair; // of lost packets
    usec_t buffer;           // media before playing starts
    bool has_buffer;         // --buffer was given
    usec_t duration;         // 0: no limit
    usec_t start; // media time to begin at; < 0: so long before the present of live media
    double speed; // of playing films (play_speed.h)
    struct play_script script;
    const char *playlist_file; // NULL: none
    struct playlist playlist;  // owned; its first channel is `url`; empty: `url` is the only one
    usec_t timeout;            // without media or messages; 0: the transport's default
    const char *report;        // these point into argv or `file`; NULL: not wanted
    const char *events;
    bool adu_events;     // `events` has a line for each packet of synthetic media
    bool picture_events; // `events` has a line for each source frame compared
    const char *snapshot;
    const char *contact_sheet;
    const char *reference;
    bool no_picture;
    const char *record; // name of the recording (record_name.h)
    bool no_audio;
    int volume;        // percent
    int audio_track;   // from 1; 0: the server's choice
    int subtitles;     // track, from 1; 0: none
    bool list_servers; // list the servers of this network and exit
    bool headless;
    enum option_tristate
        reconnect;                // reconnect to a lost server; after play_options_parse on or off
    enum option_tristate standby; // a second connection is kept for the next channel; on or off
    bool full_screen;
    bool no_resume; // films begin at the beginning
    bool quiet;
    struct log_options log;
};

enum { PLAY_OPTIONS_LOW_LATENCY_MS = 400 };

extern const struct option_table play_option_table;

// Fills a struct play_options. RUN: its strings point into argv; the caller calls
// play_options_destroy(). DONE: the requested text (such as --help) was printed to `to`. BAD:
// `error` says which value is wrong and which are allowed.
enum options_result play_options_parse(int argc, char **argv, void *options, FILE *to, char *error,
                                       size_t error_cap);
// The same; without a URL and without --headless the result has none: play_options_choose follows.
enum options_result play_options_parse_choosing(int argc, char **argv, void *options, FILE *to,
                                                char *error, size_t error_cap);
// Sets the URL that the viewer has chosen. Returns false, with the reason in `error`, if it is
// none, or the other options conflict with each other: there is no URL as before.
bool play_options_choose(struct play_options *o, const char *url, char *error, size_t cap);
void play_options_destroy(void *options);

// Returns the max milliseconds that a frame may wait at the sender, at the start: the session's
// `latency` parameter.
int play_options_latency_ms(const struct play_options *o, bool live);
// Returns the policy by which the player buffers this stream and, if the viewer chose no level,
// chooses the level, static: "goddard" or one of abr_policy.h; NULL: by none.
const char *play_options_policy(const struct play_options *o, const struct sdp *sdp);
// Returns the media that such a policy other than goddard buffers.
usec_t play_options_buffer_target(const struct play_options *o);

DECLS_END
#endif
