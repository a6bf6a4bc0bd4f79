// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/panel_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/mtp/mtp_flow.h"

const char *latency_part_name(enum latency_part part)
{
    static const char *const names[LATENCY_PARTS] = {
        [PART_ENCODER] = "encoder", [PART_TRANSPORT] = "transport", [PART_BUFFER] = "buffer",
        [PART_DECODER] = "decoder", [PART_DISPLAY] = "display",
    };
    return names[part];
}

void panel_sample_clear(struct panel_sample *s)
{
    memset(s, 0, sizeof(*s));
    for (int i = 0; i < PANEL_ROWS; i++)
        s->value[i] = NAN;
    for (int i = 0; i < LATENCY_PARTS; i++)
        s->part[i] = NAN;
    s->expected = s->stalls = s->freezes = NAN;
}

// ---- The last 30 s ----

static void forget(struct panel_history *h, int row)
{
    for (int i = 0; i < PANEL_SAMPLES; i++)
        h->value[row][i] = NAN;
}

void panel_history_init(struct panel_history *h)
{
    memset(h, 0, sizeof(*h));
    for (int row = 0; row < PANEL_ROWS; row++)
        forget(h, row);
}

void panel_history_push(struct panel_history *h, const struct panel_sample *s)
{
    for (int i = 0; i < PANEL_VARIABLES; i++) {
        if (strcmp(h->name[i], s->name[i]) == 0)
            continue;
        snprintf(h->name[i], PANEL_NAME, "%s", s->name[i]);
        forget(h, PANEL_VARIABLE + i); // the variable of another transport
    }
    for (int row = 0; row < PANEL_ROWS; row++)
        h->value[row][h->next] = (float)s->value[row];
    h->levels = s->levels;
    h->next = (h->next + 1) % PANEL_SAMPLES;
    h->count += h->count < PANEL_SAMPLES;
}

double panel_value(const struct panel_history *h, enum panel_row row, int ago)
{
    if (ago < 0 || ago >= h->count)
        return NAN;
    return h->value[row][(h->next - 1 - ago + 2 * PANEL_SAMPLES) % PANEL_SAMPLES];
}

// The reason of MTP's mode is a code, not a quantity, so it has no graph.
static bool is_shown(const struct panel_history *h, enum panel_row row)
{
    if (row >= PANEL_VARIABLE &&
        (!*h->name[row - PANEL_VARIABLE] || strcmp(h->name[row - PANEL_VARIABLE], "why") == 0))
        return false;
    for (int i = 0; i < h->count; i++) {
        if (isfinite(panel_value(h, row, i)))
            return true;
    }
    return false;
}

int panel_rows(const struct panel_history *h, enum panel_row out[PANEL_ROWS])
{
    int count = 0;
    for (int row = 0; row < PANEL_ROWS; row++) {
        if (is_shown(h, row))
            out[count++] = row;
    }
    return count;
}

double panel_graph_top(const struct panel_history *h, enum panel_row row)
{
    double max = 0;
    if (row == PANEL_LEVEL)
        return h->levels > 1 ? h->levels - 1 : 1;
    for (int i = 0; i < h->count; i++)
        max = fmax(max, panel_value(h, row, i)); // fmax ignores NaN
    if (!(max > 0) || !isfinite(max))
        return row == PANEL_LOSS ? 0.01 : 1;
    double power = pow(10, floor(log10(max)));
    static const double steps[] = {1, 2, 5, 10};
    for (int i = 0; i < 4; i++) {
        if (max <= steps[i] * power * (1 + 1e-6)) // tolerance, as the history stores floats
            return steps[i] * power;
    }
    return 10 * power;
}

// ---- Texts ----

const char *panel_label(const struct panel_history *h, enum panel_row row)
{
    static const char *const labels[PANEL_VARIABLE] = {
        [PANEL_LEVEL] = "Level",     [PANEL_FRAME_RATE] = "Frame rate",
        [PANEL_BUFFER] = "Buffer",   [PANEL_LATENCY] = "Latency",
        [PANEL_TARGET] = "Target",   [PANEL_RATE] = "Rate",
        [PANEL_ALLOWED] = "Allowed", [PANEL_RTT] = "Round trip",
        [PANEL_QUEUE] = "Queue",     [PANEL_LOSS] = "Loss",
        [PANEL_CWND] = "Window",     [PANEL_BEHIND] = "Behind live",
    };
    return row < PANEL_VARIABLE ? labels[row] : h->name[row - PANEL_VARIABLE];
}

static void rate_text(double bps, char *out, size_t cap)
{
    if (bps >= 999500)
        snprintf(out, cap, "%.2f Mbit/s", bps / 1e6);
    else
        snprintf(out, cap, "%.0f kbit/s", bps / 1e3);
}

// Writes "1.444 M": the units of a transport's own variables are those of its paper.
static void figure_text(double value, int digits, char *out, size_t cap)
{
    double size = fabs(value);
    if (size >= 1e6 && size < 1e9)
        snprintf(out, cap, "%.*g M", digits, value / 1e6);
    else if (size >= 1e4 && size < 1e6)
        snprintf(out, cap, "%.*g k", digits, value / 1e3);
    else
        snprintf(out, cap, "%.*g", digits, value);
}

static void variable_text(const char *name, double value, char *out, size_t cap)
{
    if (strcmp(name, "mode") == 0 && value >= 0 && value <= MTP_RESEND)
        snprintf(out, cap, "%s", mtp_mode_name((enum mtp_mode)value));
    else
        figure_text(value, 4, out, cap);
}

void panel_value_text(const struct panel_history *h, enum panel_row row, double value, char *out,
                      size_t cap)
{
    if (!isfinite(value)) {
        snprintf(out, cap, "-");
        return;
    }
    switch (row) {
    case PANEL_LEVEL:
        snprintf(out, cap, "%.0f of %d", value, h->levels > 0 ? h->levels - 1 : 0);
        return;
    case PANEL_FRAME_RATE:
        snprintf(out, cap, "%.1f /s", value);
        return;
    case PANEL_BUFFER:
        snprintf(out, cap, "%.2f s", value);
        return;
    case PANEL_BEHIND:
        snprintf(out, cap, "%.0f s", value);
        return;
    case PANEL_LATENCY:
    case PANEL_TARGET:
    case PANEL_RTT:
    case PANEL_QUEUE:
        snprintf(out, cap, value < 10 ? "%.1f ms" : "%.0f ms", value);
        return;
    case PANEL_RATE:
    case PANEL_ALLOWED:
        rate_text(value, out, cap);
        return;
    case PANEL_LOSS:
        snprintf(out, cap, "%.2g %%", value * 100);
        return;
    case PANEL_CWND:
        snprintf(out, cap, "%.1f packets", value);
        return;
    default:
        variable_text(h->name[row - PANEL_VARIABLE], value, out, cap);
    }
}

// The value is a round number, so no decimals are written.
void panel_scale_text(const struct panel_history *h, enum panel_row row, char *out, size_t cap)
{
    double top = panel_graph_top(h, row);
    switch (row) {
    case PANEL_FRAME_RATE:
        snprintf(out, cap, "%g /s", top);
        return;
    case PANEL_BUFFER:
    case PANEL_BEHIND:
        snprintf(out, cap, "%g s", top);
        return;
    case PANEL_LATENCY:
    case PANEL_TARGET:
    case PANEL_RTT:
    case PANEL_QUEUE:
        snprintf(out, cap, "%g ms", top);
        return;
    case PANEL_RATE:
    case PANEL_ALLOWED:
        snprintf(out, cap, top >= 1e6 ? "%g Mbit/s" : "%g kbit/s", top / (top >= 1e6 ? 1e6 : 1e3));
        return;
    case PANEL_LOSS:
        snprintf(out, cap, "%g %%", top * 100);
        return;
    default:
        figure_text(top, 3, out, cap);
    }
}

static void field_text(const struct panel_history *h, const struct panel_sample *s, int field,
                       char *out, size_t cap)
{
    double behind = panel_value(h, PANEL_LATENCY, 0), buffer = panel_value(h, PANEL_BUFFER, 0);
    double rate = panel_value(h, PANEL_FRAME_RATE, 0), loss = panel_value(h, PANEL_LOSS, 0);
    double bps = panel_value(h, PANEL_RATE, 0), live = panel_value(h, PANEL_BEHIND, 0);
    *out = '\0';
    if (field == 0)
        snprintf(out, cap, "%.*s", (int)strcspn(s->level, ","), s->level);
    else if (field == 1 && isfinite(rate))
        snprintf(out, cap, "%.1f frames/s", rate);
    else if (field == 2 && isfinite(live))
        snprintf(out, cap, "%.0f s behind live", live);
    else if (field == 2 && isfinite(behind))
        snprintf(out, cap, "%.2f s behind", behind / 1e3);
    else if (field == 2 && isfinite(buffer))
        snprintf(out, cap, "%.1f s buffered", buffer);
    else if (field == 3 && isfinite(bps))
        rate_text(bps, out, cap);
    else if (field == 4 && isfinite(loss))
        snprintf(out, cap, "%.2g %% lost", loss * 100);
    else if (field == 5 && isfinite(s->freezes))
        snprintf(out, cap, "%.0f freeze%s", s->freezes, s->freezes == 1 ? "" : "s");
}

void panel_line_text(const struct panel_history *h, const struct panel_sample *s, int fields,
                     char *out, size_t cap)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < fields && i < PANEL_FIELDS; i++) {
        char field[PANEL_TEXT];
        field_text(h, s, i, field, sizeof(field));
        if (*field && used < cap)
            used += (size_t)snprintf(out + used, cap - used, "%s%s", used ? "   " : "", field);
    }
}

bool panel_shorten(char *text)
{
    size_t at = strlen(text);
    while (at > 0 && !(text[at] && text[at + 1] == ' ' && strchr(":;,", text[at])))
        at--;
    text[at] = at ? '\0' : text[at];
    return at > 0;
}

void panel_losses_text(const struct panel_sample *s, char *out, size_t cap)
{
    double lost = 0;
    for (int c = 0; c < FRAME_CAUSES; c++)
        lost += s->not_shown[c];
    if (isnan(s->expected)) {
        snprintf(out, cap, "%s", "");
        return;
    }
    if (lost < 1) {
        snprintf(out, cap, "none of %.0f frames", s->expected);
        return;
    }
    int used = snprintf(out, cap, "%.0f of %.0f frames", lost, s->expected);
    const char *separator = ": ";
    for (int c = 0; c < FRAME_CAUSES && used >= 0 && (size_t)used < cap; c++) {
        if (s->not_shown[c] < 1)
            continue;
        used += snprintf(out + used, cap - (size_t)used, "%s%.0f %s", separator, s->not_shown[c],
                         frame_cause_text((enum frame_cause)c));
        separator = ", ";
    }
}

void panel_stalls_text(const struct panel_sample *s, char *out, size_t cap)
{
    if (isnan(s->stalls)) {
        snprintf(out, cap, "%s", "");
        return;
    }
    int used = s->stalls < 1 ? snprintf(out, cap, "none")
                             : snprintf(out, cap, "%.0f, together %.1f s", s->stalls, s->stalled);
    if (s->reconnects >= 1 && used >= 0 && (size_t)used < cap)
        snprintf(out + used, cap - (size_t)used, "; connected again %.0f x", s->reconnects);
}

void panel_freezes_text(const struct panel_sample *s, char *out, size_t cap)
{
    if (isnan(s->freezes))
        snprintf(out, cap, "%s", "");
    else if (s->freezes < 1)
        snprintf(out, cap, "none");
    else
        snprintf(out, cap, "%.0f, together %.1f s, longest %.1f s", s->freezes, s->frozen,
                 s->longest_freeze);
}
