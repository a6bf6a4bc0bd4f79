// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/report/qoe_summary.h"

#include <math.h>
#include <string.h>

#include "common/base/utf8.h"

struct figure {
    char text[32];
};

// "12.3 ms"; "-" if it was not measured.
static struct figure figure(double value, int decimals, const char *unit)
{
    struct figure f = {"-"};
    if (isfinite(value))
        snprintf(f.text, sizeof(f.text), "%.*f%s", decimals, value, unit);
    return f;
}

static struct figure seconds(double value)
{
    return figure(value, 2, " s");
}

static struct figure ms(double value)
{
    return figure(value, 1, " ms");
}

static struct figure count(double value)
{
    return figure(value, 0, "");
}

static struct figure percent(double value)
{
    return figure(value * 100, 2, " %");
}

static struct figure bitrate(double bps)
{
    return bps >= 1e6 ? figure(bps / 1e6, 2, " Mbit/s") : figure(bps / 1e3, 0, " kbit/s");
}

// A line of parts, of which only the known ones are printed; without any there is no line.
struct line {
    FILE *out; // borrowed
    const char *head;
    bool begun;
};

static struct line begin(FILE *out, const char *head)
{
    return (struct line){.out = out, .head = head};
}

// Prints SEPARATOR, if it is not the first one, and "BEFORE 12.3 msAFTER" unless the figure is not
// known.
static void joined(struct line *l, const char *separator, const char *before, struct figure f,
                   const char *after)
{
    if (strcmp(f.text, "-") == 0)
        return;
    if (l->begun)
        fputs(separator, l->out);
    else
        fprintf(l->out, "%-10s", l->head);
    fprintf(l->out, "%s%s%s%s", before, *before ? " " : "", f.text, after);
    l->begun = true;
}

static void part(struct line *l, const char *before, struct figure f, const char *after)
{
    joined(l, ", ", before, f, after);
}

static const char *plural(double n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

static void end(const struct line *l)
{
    if (l->begun)
        fputc('\n', l->out);
}

// The viewing in one sentence, for people: "smooth: no freeze, 30.0 frames/s, 0.3 s behind".
// Freezes of less than 1 % of the time are a little; a viewer notices more.
static void print_sentence(const struct qoe_json *r, FILE *out)
{
    if (!(r->playback.frames_played > 0)) {
        fputs("no picture was shown\n", out);
        return;
    }
    double freezes = r->freezes.count;
    if (!(freezes > 0))
        fputs("smooth: no freeze", out);
    else
        fprintf(out, "%s: %.0f freeze%s, together %.1f s",
                r->freezes.ratio < 0.01 ? "nearly smooth" : "not smooth", freezes,
                freezes == 1 ? "" : "s", r->freezes.total);
    if (isfinite(r->playback.frame_rate))
        fprintf(out, ", %.1f frames/s", r->playback.frame_rate);
    if (isfinite(r->latency.display.mean))
        fprintf(out, ", %.1f s behind", r->latency.display.mean / 1e3);
    fputc('\n', out);
}

// Text from the server goes to a terminal: removes control characters.
static void print_text(FILE *out, const char *text)
{
    char clean[QOE_MAX_TEXT];
    utf8_copy(text, clean, sizeof(clean));
    fputs(clean, out);
}

static void print_session(const struct qoe_json *r, FILE *out)
{
    fputs("watched   ", out);
    print_text(out, r->session.url);
    if (r->session.source[0]) {
        fputs(", ", out);
        print_text(out, r->session.source);
    }
    if (r->session.transport[0]) {
        fputs(", over ", out);
        print_text(out, r->session.transport);
    }
    fprintf(out, "\n%-10s%s after %s", r->has_ended ? "ended" : "so far",
            r->has_ended ? qoe_ended_text(r->ended) : "watching",
            seconds(r->session.duration).text);
    if (r->error) {
        fputs(": ", out);
        print_text(out, r->error);
    }
    fputc('\n', out);
}

// "not shown 15 of 300 frames: 12 network, 3 sender".
static void print_causes(const struct qoe_json *r, FILE *out)
{
    double missing = r->causes.expected - r->causes.shown;
    if (!(missing > 0))
        return;
    fprintf(out, "not shown %.0f of %.0f frames", missing, r->causes.expected);
    const char *separator = ": ";
    for (int c = 0; c < FRAME_CAUSES; c++) {
        if (r->causes.by_root[c] > 0) {
            fprintf(out, "%s%.0f %s", separator, r->causes.by_root[c], frame_cause_text(c));
            separator = ", ";
        }
    }
    if (r->causes.by_cause[CAUSE_DEPENDENCY] > 0)
        fprintf(out, "; %.0f of them only because they depend on another frame",
                r->causes.by_cause[CAUSE_DEPENDENCY]);
    fputc('\n', out);
}

static void print_stalls(const struct qoe_json *r, FILE *out)
{
    static const char *const words[STALL_CAUSES] = {
        [STALL_NETWORK] = "packets lost",          [STALL_TRANSPORT] = "transport too slow",
        [STALL_OUTAGE] = "nothing came",           [STALL_SENDER] = "nothing was sent",
        [STALL_DISPLAY] = "this machine was late", [STALL_LOST] = "server lost",
    };
    fprintf(out, "stalls    %s, together %s (%s)", count(r->rebuffering.count).text,
            seconds(r->rebuffering.total).text, percent(r->rebuffering.ratio).text);
    const char *separator = ": ";
    for (int c = 0; c < STALL_CAUSES; c++) {
        if (r->rebuffering.by_cause[c].count > 0) {
            fprintf(out, "%s%s %s", separator, seconds(r->rebuffering.by_cause[c].total).text,
                    words[c]);
            separator = ", ";
        }
    }
    fputc('\n', out);
}

// "freezes   3, together 8.42 s (65.78 %), longest 8.00 s".
static void print_freezes(const struct qoe_json *r, FILE *out)
{
    fprintf(out, "freezes   %s, together %s (%s), longest %s", count(r->freezes.count).text,
            seconds(r->freezes.total).text, percent(r->freezes.ratio).text,
            seconds(r->freezes.longest).text);
    const char *separator = ": ";
    for (int c = 0; c < FREEZE_CAUSES; c++) {
        if (r->freezes.by_cause[c].count > 0) {
            // As the frames' cause above: their count "undecodable" has the frames that needed
            // another one.
            const char *cause =
                c == FREEZE_UNDECODABLE ? frame_cause_text(CAUSE_DECODER) : freeze_cause_text(c);
            fprintf(out, "%s%s %s", separator, seconds(r->freezes.by_cause[c].total).text, cause);
            separator = ", ";
        }
    }
    fputc('\n', out);
}

static void print_playback(const struct qoe_json *r, FILE *out)
{
    struct line l = begin(out, "startup");
    part(&l, "connected", seconds(r->startup.connect), "");
    part(&l, "buffered until", seconds(r->startup.initial_buffering), "");
    part(&l, "first picture", seconds(r->startup.time_to_first_frame), "");
    end(&l);
    l = begin(out, "playback");
    double sent = r->playback.encoded_frame_rate;
    part(&l, "", count(r->playback.frames_played),
         plural(r->playback.frames_played, " frame", " frames"));
    joined(&l, " ", "in", seconds(r->playback.wall), "");
    joined(&l, ": ", "", figure(r->playback.frame_rate, 1, ""), isfinite(sent) ? "" : " frames/s");
    joined(&l, " ", "of", figure(sent, 1, ""), " frames/s");
    part(&l, "", count(r->playback.frames_lost), " lost");
    part(&l, "", count(r->playback.frames_late), " late");
    part(&l, "", count(r->playback.frames_undecodable), " undecodable");
    end(&l);
    print_causes(r, out);
    if (isfinite(r->rebuffering.count))
        print_stalls(r, out);
    if (isfinite(r->freezes.count))
        print_freezes(r, out);
    if (r->picture.compared > 0) {
        l = begin(out, "picture");
        part(&l, "PSNR", figure(r->picture.psnr_y, 1, " dB"), "");
        part(&l, "SSIM", figure(r->picture.ssim, 3, ""), "");
        part(&l, "", count(r->picture.compared), " compared");
        end(&l);
    }
    if (isfinite(r->levels.mean) && r->levels.count > 1) {
        l = begin(out, "levels");
        part(&l, "mean", figure(r->levels.mean, 2, ""), "");
        part(&l, "highest", count(r->levels.count - 1), "");
        part(&l, "", count(r->levels.switch_count),
             plural(r->levels.switch_count, " switch", " switches"));
        end(&l);
    }
}

static void print_audio(const struct qoe_audio *a, FILE *out)
{
    struct line l = begin(out, "audio");
    part(&l, "", count(a->packets), " packets");
    part(&l, "", count(a->lost), " lost");
    part(&l, "", count(a->repaired), " repaired");
    part(&l, "", ms(a->concealed), " concealed");
    part(&l, "", count(a->underruns), plural(a->underruns, " underrun", " underruns"));
    bool leads = a->offset.p50 < 0;
    part(&l, "", ms(fabs(a->offset.p50)), leads ? " before the picture" : " behind the picture");
    joined(&l, " (", "", ms(leads ? -a->offset.p95 : a->offset.p5), "");
    joined(&l, " to ", "", ms(leads ? -a->offset.p5 : a->offset.p95), ")");
    end(&l);
}

static void print_path(const struct qoe_json *r, FILE *out)
{
    struct line l = begin(out, "latency");
    part(&l, "write to read", ms(r->latency.protocol.mean), "");
    part(&l, "p95", ms(r->latency.protocol.p95), "");
    part(&l, "within 200 ms", percent(r->latency.d200), "");
    part(&l, "within 500 ms", percent(r->latency.d500), "");
    end(&l);
    l = begin(out, "screen");
    part(&l, "capture to screen", ms(r->latency.display.mean), "");
    part(&l, "p95", ms(r->latency.display.p95), "");
    end(&l);
    l = begin(out, "jitter");
    part(&l, "mean", ms(r->jitter.mean), "");
    part(&l, "p95", ms(r->jitter.p95), "");
    part(&l, "max", ms(r->jitter.max), "");
    end(&l);
    l = begin(out, "network");
    part(&l, "", bitrate(r->network.throughput), " received");
    joined(&l, ", of it ", "", bitrate(r->network.goodput), " useful");
    part(&l, "RTT", ms(r->network.rtt_mean), "");
    end(&l);
    l = begin(out, "packets");
    part(&l, "", count(r->network.packets_received), " received");
    part(&l, "", count(r->network.packets_lost), " lost");
    joined(&l, " (", "", percent(r->network.loss_rate), ")");
    part(&l, "", count(r->network.packets_reordered), " reordered");
    end(&l);
}

void qoe_summary_print(const struct qoe_json *r, FILE *out)
{
    print_sentence(r, out);
    print_session(r, out);
    print_playback(r, out);
    print_path(r, out);
    if (r->repair.is_known) {
        struct line l = begin(out, "repair");
        part(&l, "", count(r->repair.resent), " sent again");
        part(&l, "", count(r->repair.fec_recovered), " recovered by parity");
        part(&l, "", percent(r->repair.overhead), " more bytes");
        end(&l);
    }
    if (r->has_audio)
        print_audio(&r->audio, out);
}
