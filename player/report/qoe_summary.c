// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/report/qoe_summary.h"

#include <math.h>

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
        [STALL_NETWORK] = "packets lost", [STALL_TRANSPORT] = "transport too slow",
        [STALL_OUTAGE] = "nothing came",  [STALL_SENDER] = "nothing was sent",
        [STALL_LOST] = "server lost",
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
            fprintf(out, "%s%s %s", separator, seconds(r->freezes.by_cause[c].total).text,
                    freeze_cause_text(c));
            separator = ", ";
        }
    }
    fputc('\n', out);
}

static void print_playback(const struct qoe_json *r, FILE *out)
{
    fprintf(out, "startup   connected %s, buffered until %s, first picture %s\n",
            seconds(r->startup.connect).text, seconds(r->startup.initial_buffering).text,
            seconds(r->startup.time_to_first_frame).text);
    fprintf(out,
            "playback  %s frames in %s, %s of %s frames/s; %s lost, %s late, %s undecodable; "
            "%s left out by the sender\n",
            count(r->playback.frames_played).text, seconds(r->playback.wall).text,
            figure(r->playback.frame_rate, 1, "").text,
            figure(r->playback.encoded_frame_rate, 1, "").text, count(r->playback.frames_lost).text,
            count(r->playback.frames_late).text, count(r->playback.frames_undecodable).text,
            count(r->playback.frames_skipped_by_sender).text);
    print_causes(r, out);
    print_stalls(r, out);
    print_freezes(r, out);
    fprintf(out, "picture   PSNR %s, SSIM %s (%s compared)\n",
            figure(r->picture.psnr_y, 1, " dB").text, figure(r->picture.ssim, 3, "").text,
            count(r->picture.compared).text);
    fprintf(out, "levels    mean %s of 0 .. %s, %s switches\n", figure(r->levels.mean, 2, "").text,
            count(r->levels.count > 0 ? r->levels.count - 1 : NAN).text,
            count(r->levels.switch_count).text);
}

static void print_audio(const struct qoe_audio *a, FILE *out)
{
    fprintf(out,
            "audio     %s packets, %s lost, %s repaired, %s concealed, %s underruns; behind the "
            "picture %s (%s "
            "to %s)\n",
            count(a->packets).text, count(a->lost).text, count(a->repaired).text,
            ms(a->concealed).text, count(a->underruns).text, ms(a->offset.p50).text,
            ms(a->offset.p5).text, ms(a->offset.p95).text);
}

void qoe_summary_print(const struct qoe_json *r, FILE *out)
{
    print_session(r, out);
    print_playback(r, out);
    fprintf(out, "latency   write to read %s (p95 %s), within 200 ms %s, within 500 ms %s\n",
            ms(r->latency.protocol.mean).text, ms(r->latency.protocol.p95).text,
            percent(r->latency.d200).text, percent(r->latency.d500).text);
    fprintf(out, "          capture to screen %s (p95 %s)\n", ms(r->latency.display.mean).text,
            ms(r->latency.display.p95).text);
    fprintf(out, "jitter    mean %s, p95 %s, max %s\n", ms(r->jitter.mean).text,
            ms(r->jitter.p95).text, ms(r->jitter.max).text);
    fprintf(out, "network   %s received, %s of use, RTT %s\n", bitrate(r->network.throughput).text,
            bitrate(r->network.goodput).text, ms(r->network.rtt_mean).text);
    fprintf(out, "packets   %s received, %s lost (%s), %s reordered\n",
            count(r->network.packets_received).text, count(r->network.packets_lost).text,
            percent(r->network.loss_rate).text, count(r->network.packets_reordered).text);
    if (r->repair.is_known)
        fprintf(out, "repair    %s sent again, %s recovered by parity, %s more bytes\n",
                count(r->repair.resent).text, count(r->repair.fec_recovered).text,
                percent(r->repair.overhead).text);
    if (r->has_audio)
        print_audio(&r->audio, out);
}
