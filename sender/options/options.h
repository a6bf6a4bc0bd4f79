// SPDX-License-Identifier: GPL-2.0-or-later
// weir-send's command line.
#ifndef WEIR_SENDER_OPTIONS_OPTIONS_H
#define WEIR_SENDER_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>

#include "common/net/log_stderr.h"
#include "common/program/command_line.h"
#include "media/coded/ladder.h"
#include "media/coded/synthetic.h"
#include "media/picture/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

struct options {
    struct sockaddr_storage listen;
    char *file;       // owned: the configuration file's text, NULL: none
    const char *path; // begins with '/'; names are borrowed from argv and `file`
    const char *source;
    const char *stats;               // NULL: none
    struct sockaddr_storage metrics; // AF_UNSPEC: none
    bool loop;
    bool has_capture;
    struct geometry capture; // if has_capture
    bool list_devices;       // and nothing else
    bool prepare;
    int temporal_layers; // 2 or 3; 0: not given
    int level_count;     // 0: the default ladder
    struct level_request levels[LADDER_MAX_LEVELS];
    bool steady;                // the filler is
    int filler_bps;             // 0: the source is no filler
    struct synthetic synthetic; // kind unknown: another source
    const char *audio;          // borrowed from argv; NULL: what the source has
    int audio_kbps;
    int timeout; // seconds
    int max_viewers;
    int mtp_port; // 0: any
    struct log_options log;
};

extern const struct option_table send_option_table;

// Fills `o`. RUN: options_destroy() is the caller's. DONE: what was asked for was printed to `out`.
// BAD: what is wrong and what is allowed was printed to `err`.
enum options_result options_parse(int argc, char **argv, struct options *o, FILE *out, FILE *err);
void options_destroy(struct options *o);

#ifdef __cplusplus
}
#endif
#endif
