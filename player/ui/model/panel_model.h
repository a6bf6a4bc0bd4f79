// SPDX-License-Identifier: GPL-2.0-or-later
// What the panel over the picture tells: figures with names and units, and the last 30 s of each as
// a graph. Four samples a second come in; what a sample does not know is NaN, and leaves a gap. A
// figure that was not known for 30 s has no row.
#ifndef WEIR_PLAYER_UI_MODEL_PANEL_MODEL_H
#define WEIR_PLAYER_UI_MODEL_PANEL_MODEL_H

#include <stddef.h>

#include "stream/outcome/cause.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PANEL_SAMPLES = 120, // 30 s
    PANEL_VARIABLES = 5, // of the transport
    PANEL_NAME = 16,
    PANEL_TEXT = 96,
};

enum panel_row {
    PANEL_LEVEL,
    PANEL_FRAME_RATE, // shown a second
    PANEL_BUFFER,     // seconds
    PANEL_LATENCY,    // capture to shown, ms
    PANEL_RATE,       // arriving, bit/s
    PANEL_ALLOWED,    // by the sender's rate controller, bit/s
    PANEL_RTT,        // ms
    PANEL_QUEUE,      // one-way delay above the least seen, ms
    PANEL_LOSS,       // fraction of packets
    PANEL_CWND,       // packets
    PANEL_VARIABLE,   // the first of the transport's own
    PANEL_ROWS = PANEL_VARIABLE + PANEL_VARIABLES,
};

enum latency_part { // of PANEL_LATENCY, in the order of a frame's way
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
    char name[PANEL_VARIABLES][PANEL_NAME]; // of the transport's own figures; empty: none
    char transport[64];
    char level[64];             // "1280x720@30, 1.80 Mbit/s"
    int levels;                 // of the ladder
    double part[LATENCY_PARTS]; // ms
    double expected;            // frames so far, NaN: there are none
    double not_shown[FRAME_CAUSES];
    double stalls;
    double stalled; // seconds
    double freezes;
    double frozen; // seconds
    double longest_freeze;
    double reconnects;
};
void panel_sample_clear(struct panel_sample *s); // nothing is known

struct panel_history {
    int count;
    int next;
    int levels;
    char name[PANEL_VARIABLES][PANEL_NAME];
    float value[PANEL_ROWS][PANEL_SAMPLES]; // rings
};

void panel_history_init(struct panel_history *h);
void panel_history_push(struct panel_history *h, const struct panel_sample *s);
// The rows to show, in their order; returns how many.
int panel_rows(const struct panel_history *h, enum panel_row out[PANEL_ROWS]);
// The value `ago` samples back, 0 is the newest; NaN: not known.
double panel_value(const struct panel_history *h, enum panel_row row, int ago);
// What the graph's upper edge stands for: 1, 2 or 5 times a power of ten, above all values; its
// lower edge is 0. Of levels the highest there is.
double panel_graph_top(const struct panel_history *h, enum panel_row row);

const char *panel_label(const struct panel_history *h, enum panel_row row);
// "1.82 Mbit/s", "24 ms", "4 of 6"; "-" when not known.
void panel_value_text(const struct panel_history *h, enum panel_row row, double value, char *out,
                      size_t cap);
// What the graph's upper edge stands for: "2 Mbit/s", "50 ms".
void panel_scale_text(const struct panel_history *h, enum panel_row row, char *out, size_t cap);
// "12 of 1830 frames: 7 network, 5 late"; "none of 1830 frames"
void panel_losses_text(const struct panel_sample *s, char *out, size_t cap);
// "2 stalls, 1.3 s, connected again once"
void panel_stalls_text(const struct panel_sample *s, char *out, size_t cap);
// "3, together 8.4 s, longest 8.0 s"; "none"
void panel_freezes_text(const struct panel_sample *s, char *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
