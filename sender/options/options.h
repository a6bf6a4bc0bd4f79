// SPDX-License-Identifier: GPL-2.0-or-later
// weir-send's command line.
#ifndef WEIR_SENDER_OPTIONS_OPTIONS_H
#define WEIR_SENDER_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>

#include "common/base/decls.h"
#include "common/program/command_line.h"
#include "common/protocol/transport_names.h"
#include "common/wire/sdp.h"
#include "common/wire/url.h"
#include "media/coded/audio.h"
#include "media/coded/ladder.h"
#include "media/coded/synthetic.h"
#include "media/picture/geometry.h"
#include "media/record/policy/record_keep.h"
#include "sender/policy/hook_spec.h"
#include "sender/policy/push_audio.h"
#include "sender/policy/source_changes.h"
#include "sender/policy/source_name.h"
#include "server/options/server_options.h"

DECLS_BEGIN

struct given_media;
struct publisher;

// With several sources, or one that has a name, `sources` has the options of each; the members
// marked (source) may differ among them, and those of the outer struct are meaningless.
struct options {
    struct sockaddr_storage listen;
    bool no_announce;
    char *file;         // owned: text of the configuration file; NULL: none
    const char *path;   // (source) begins with '/'; strings are borrowed from argv and `file`
    const char *source; // (source)
    char mount[SOURCE_PATH_MAX]; // `path` of a source with a name; "": it has none
    // (source) Borrowed; not of the command line: the client whose media is at `path`. NULL: none.
    struct publisher *publisher;
    const char *publish[SOURCES_MAX]; // paths of --publish
    int publish_count;
    bool take_over;           // a second client of such a path replaces the first
    int source_count;         // 0: one source without a name
    struct options *sources;  // owned, source_count of them
    struct options *sections; // owned: those of [source NAME], while they are read
    int section_count;
    const char *given[SOURCES_MAX]; // operands
    int given_count;
    bool in_section;                 // these are one of `sections`
    bool has_source, has_levels;     // set in the section itself
    const char *stats;               // NULL: none
    struct sockaddr_storage metrics; // AF_UNSPEC: none
    bool control;
    struct sockaddr_storage http; // AF_UNSPEC: none
    int http_segment;             // seconds; 0: not given
    bool loop;
    bool transcode; // the pictures of an IP camera or a pipe are encoded again
    bool wait;      // for the next writer of a FIFO
    bool has_capture;
    struct geometry capture; // valid if has_capture
    bool list_devices;       // list the devices and exit
    bool prepare;
    bool has_ladder;
    bool fixed_ladder; // prepared films have the default levels; else those that they need
    enum sdp_codec codec;
    bool no_pass;        // H.264 of a file is encoded again
    int pass_kbps;       // ... and above this rate
    bool has_codec;      // it was given
    const char *encoder; // of H.264: a name of video_engine.h, "auto" or "list"
    bool baseline;       // H.264 in the constrained baseline profile
    bool keep_levels;    // on a machine that does not keep up, too
    int temporal_layers; // 2 or 3; 0: not given
    int level_count;     // 0: the default ladder
    struct level_request levels[LADDER_MAX_LEVELS];
    bool steady;                // the filler is SDP_SOURCE_STEADY, not SDP_SOURCE_GREEDY
    int filler_bps;             // 0: the source is no filler
    struct synthetic synthetic; // kind SDP_SOURCE_UNKNOWN: another source
    const char *audio;          // NULL: the audio of the source
    int audio_kbps;
    struct audio_mix mix; // of a file's audio of more than two channels
    int timeout;          // seconds
    int max_viewers;
    bool srtp;                      // datagrams are SRTP even beside a plain connection
    int fragment;                   // max bytes of a frame in a packet; 0: what the path allows
    struct trusted_proxies proxies; // that may have more of them
    struct hook_specs hooks;
    struct http_origins origins;           // of web pages that may play
    int mtp_port;                          // 0: any
    struct record_keep rewind;             // of live media, in memory; age 0: nothing
    const char *record;                    // (source) pattern of names (record_name.h); NULL: none
    char *record_own;                      // owned: `record` with the source's name; NULL: the same
    char *source_own;                      // owned: `source` of the control interface; NULL: none
    usec_t record_segment;                 // (source) 0: one file
    struct record_keep record_keep;        // (source)
    struct url push;                       // empty text: none
    struct transport_list push_transports; // count 0: not given
    struct push_audio push_audio;          // count 0: not given
    int push_level;                        // -1: the highest
    struct access_options who;             // may watch
    const char *state_dir;                 // NULL: not given (state_dir_find)
    const char *tls_cert;                  // file; NULL: not given. With tls_key
    const char *tls_key;                   // file
    struct log_options log;
    // Borrowed; not of the command line: a program pushes this media, and `source` is "". NULL: no.
    struct given_media *pushed;
};

enum { AUDIO_KBPS = 64, PASS_KBPS = 100000 }; // by default
enum { FRAGMENT_MIN = 200, FRAGMENT_MAX = 1400 };

extern const struct option_table send_option_table;

// Parses the command line into a struct options; returns what command_line_read() returns. After
// OPTIONS_RUN the caller calls options_destroy.
enum options_result options_parse(int argc, char **argv, void *options, FILE *out, char *error,
                                  size_t cap);
void options_destroy(void *options);
// Makes options with the sources as the control interface has changed them; they borrow of `base`,
// which is as it was read and has sources with names. The caller frees them after options_destroy.
// NULL: *err is ERR_FULL: more than SOURCES_MAX; ERR_MALFORMED: they conflict; ERR_NO_MEMORY:
// *error.
struct options *options_change(const struct options *base, const struct source_changes *changes,
                               int *err, char *error, size_t cap);
// Returns true if the source is synthetic:..., which has no pictures.
bool options_is_synthetic(const struct options *o);
// Returns true if --encoder names an encoder other than x264.
bool options_names_engine(const struct options *o);
// Returns true if a source that was opened with the first options is as the second ones want it.
bool options_source_equal(const struct options *a, const struct options *b);
// Returns the name of an option that differs and that a running server cannot change; NULL: none.
const char *options_fixed(const struct options *a, const struct options *b);

DECLS_END
#endif
