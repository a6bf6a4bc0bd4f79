// SPDX-License-Identifier: GPL-2.0-or-later
// The content of the panel over the picture: stats with names and units, and a graph of the last 30
// s of each. It takes four samples a second; a value that a sample lacks is NaN and leaves a gap. A
// stat that was unknown for 30 s has no row.
#ifndef WEIR_PLAYER_UI_MODEL_PANEL_MODEL_H
#define WEIR_PLAYER_UI_MODEL_PANEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "stream/outcome/cause.h"

DECLS_BEGIN

enum {
    PANEL_SAMPLES = 120, // 30 s
    PANEL_VARIABLES = 5, // stats of the transport's own
    PANEL_NAME = 16,
    PANEL_TEXT = 96,
};

enum panel_row {
    PANEL_LEVEL,
    PANEL_FRAME_RATE, // frames shown per second
    PANEL_BUFFER,     // seconds
    PANEL_LATENCY,    // capture to shown, ms
    PANEL_TARGET,     // latency that live media aims at, ms
    PANEL_BEHIND,     // what arrives, behind live media, seconds; unknown in the present
    PANEL_RATE,       // rate of arrival, bit/s
    PANEL_ALLOWED,    // rate allowed by the sender's rate controller, bit/s
    PANEL_RTT,        // ms
    PANEL_QUEUE,      // one-way delay above the min seen, ms
    PANEL_LOSS,       // fraction of packets
    PANEL_CWND,       // packets
    PANEL_VARIABLE,   // the first of the transport's own stats
    PANEL_ROWS = PANEL_VARIABLE + PANEL_VARIABLES,
};

enum latency_part { // of PANEL_LATENCY, in the order a frame passes them
    PART_ENCODER,
    PART_TRANSPORT,
    PART_BUFFER,
    PART_DECODER,
    PART_DISPLAY,
    LATENCY_PARTS,
};
const char *latency_part_name(enum latency_part part); // "encoder" ...

struct panel_sample {
    double value[PANEL_ROWS];
    char name[PANEL_VARIABLES][PANEL_NAME]; // of the transport's own stats; empty: none
    char transport[64];
    char level[64];             // "1280x720@30, 1.80 Mbit/s"
    char film[2 * PANEL_TEXT];  // what the policy of a film's levels does; empty: there is none
    int levels;                 // number of levels of the ladder
    double part[LATENCY_PARTS]; // ms
    double expected;            // number of frames so far; NaN: the media has none
    double not_shown[FRAME_CAUSES];
    double stalls;
    double stalled; // seconds
    double freezes;
    double frozen; // seconds
    double longest_freeze;
    double reconnects;
};
void panel_sample_clear(struct panel_sample *s); // sets all values to unknown

struct panel_history {
    int count;
    int next;
    int levels;
    char name[PANEL_VARIABLES][PANEL_NAME];
    float value[PANEL_ROWS][PANEL_SAMPLES]; // rings
};

void panel_history_init(struct panel_history *h);
void panel_history_push(struct panel_history *h, const struct panel_sample *s);
// Fills `out` with the rows to show, in order. Returns their number.
int panel_rows(const struct panel_history *h, enum panel_row out[PANEL_ROWS]);
// Returns the value `ago` samples before the newest; NaN: unknown.
double panel_value(const struct panel_history *h, enum panel_row row, int ago);
// Returns the value of the graph's upper edge: 1, 2 or 5 times a power of ten, above all values.
// For PANEL_LEVEL it is the highest level. The lower edge is 0.
double panel_graph_top(const struct panel_history *h, enum panel_row row);

const char *panel_label(const struct panel_history *h, enum panel_row row);
// "1.82 Mbit/s", "24 ms", "4 of 6"; "-" if unknown.
void panel_value_text(const struct panel_history *h, enum panel_row row, double value, char *out,
                      size_t cap);
// The value of the graph's upper edge as text: "2 Mbit/s", "50 ms".
void panel_scale_text(const struct panel_history *h, enum panel_row row, char *out, size_t cap);
// The compact form: the first `fields` of PANEL_FIELDS, the most important first, without those
// that are not known. "1280x720@30   30.0 frames/s   0.31 s behind   1.82 Mbit/s   0 % lost   2
// freezes"
enum { PANEL_FIELDS = 6 };
void panel_line_text(const struct panel_history *h, const struct panel_sample *s, int fields,
                     char *out, size_t cap);
// Removes the last detail of a text: what follows the last ": ", "; " or ", ". Returns false if
// there is none.
bool panel_shorten(char *text);
// "12 of 1830 frames: 7 network, 5 late"; "none of 1830 frames"
void panel_losses_text(const struct panel_sample *s, char *out, size_t cap);
// "2 stalls, 1.3 s, connected again once"
void panel_stalls_text(const struct panel_sample *s, char *out, size_t cap);
// "3, together 8.4 s, longest 8.0 s"; "none"
void panel_freezes_text(const struct panel_sample *s, char *out, size_t cap);

DECLS_END
#endif
