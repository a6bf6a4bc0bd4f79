// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/rtsp_parameters.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/level.h"
#include "common/base/scan.h"

static bool read_number(struct text value, int *out)
{
    char number[16];
    char *end;
    if (!value.len || value.len >= sizeof(number))
        return false;
    text_copy(value, number, sizeof(number));
    long n = strtol(number, &end, 10);
    *out = (int)n;
    return !*end && n >= 0 && n <= INT32_MAX;
}

static bool read_again(struct text value, struct rtsp_setting *out)
{
    struct scan s = text_scan(value);
    int64_t level;
    if (!scan_int(&s, INT64_C(1) << 40, &out->frame) || !scan_char(&s, '/') ||
        !scan_int(&s, LADDER_MAX_LEVELS - 1, &level))
        return false;
    out->number = (int)level;
    return scan_end(&s);
}

static const struct rtsp_parameter_name names[] = {
    {"level", PARAMETER_LEVEL, true, true},
    {"latency", PARAMETER_LATENCY, true, false},
    {"buffer", PARAMETER_LATENCY, true, false},
    {"playout", PARAMETER_PLAYOUT, true, false},
    {"max-rate", PARAMETER_MAX_RATE, true, false},
    {"audio-track", PARAMETER_AUDIO_TRACK, true, false},
    {"adapt", PARAMETER_ADAPT, true, false},
    {"capacity-probe", PARAMETER_CAPACITY_PROBE, true, false},
    {"again", PARAMETER_AGAIN, true, false},
    {"only", PARAMETER_ONLY, true, false},
    {"path", PARAMETER_PATH, true, false},
    {"group-hash", PARAMETER_GROUP_HASH, false, true},
    {"subtitles", PARAMETER_SUBTITLES, false, true},
    {"film-table", PARAMETER_FILM_TABLE, false, true},
    {"clock", PARAMETER_CLOCK, false, true},
    {"transport", PARAMETER_TRANSPORT, false, true},
};

const struct rtsp_parameter_name *rtsp_parameter_at(int i)
{
    return i >= 0 && (size_t)i < sizeof(names) / sizeof(*names) ? &names[i] : NULL;
}

static enum rtsp_parameter find(struct text name, bool sets)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if ((sets ? names[i].can_set : names[i].can_get) && text_is_nocase(name, names[i].name))
            return names[i].parameter;
    return PARAMETER_UNKNOWN;
}

struct rtsp_setting rtsp_setting_of(struct text name, struct text value)
{
    struct rtsp_setting s = {.parameter = find(name, true)};
    if (s.parameter == PARAMETER_ADAPT) {
        s.number = text_is_nocase(value, "sender");
        s.is_valid = s.number || text_is_nocase(value, "none");
    } else if (s.parameter == PARAMETER_PATH) {
        s.is_valid = text_is_nocase(value, "beside");
    } else if (s.parameter == PARAMETER_ONLY) {
        s.is_valid = frame_ranges_decode(value, &s.ranges) == 0;
    } else if (s.parameter == PARAMETER_AGAIN) {
        s.is_valid = read_again(value, &s);
    } else {
        s.is_valid = s.parameter != PARAMETER_UNKNOWN && read_number(value, &s.number);
    }
    return s;
}

enum rtsp_parameter rtsp_parameter_of(struct text name)
{
    return find(name, false);
}

bool rtsp_parameter_group(struct text value, struct rtsp_group *out)
{
    struct scan s = text_scan(value);
    int64_t track = LADDER_MAX_SIZES; // of the audio
    if (!scan_word(&s, "audio") && !scan_int(&s, LADDER_MAX_SIZES - 1, &track))
        return false;
    out->track = (int)track;
    return scan_char(&s, '/') && scan_int(&s, INT32_MAX, &out->group) && scan_end(&s);
}

static void append(char *line, size_t cap, const char *name, double value, int decimals)
{
    size_t used = strlen(line);
    if (isfinite(value))
        snprintf(line + used, cap - used, " %s=%.*f", name, decimals, value);
}

void rtsp_parameter_transport(const struct transport_info *info, double skipped, char *out,
                              size_t cap)
{
    snprintf(out, cap, "transport:");
    append(out, cap, "rtt_ms", info->rtt_ms, 3);
    append(out, cap, "rate_bps", info->rate_bps, 0);
    append(out, cap, "loss", info->loss, 5);
    append(out, cap, "unsent_bytes", info->unsent_bytes, 0);
    append(out, cap, "cwnd", info->cwnd_packets, 0);
    append(out, cap, "loss_events", info->loss_events, 8);
    append(out, cap, "allowed_bps", info->allowed_bps, 0);
    append(out, cap, "skipped", skipped, 0);
    for (int i = 0; i < TRANSPORT_VARIABLES && info->variable[i].name[0]; i++) {
        char variable[TRANSPORT_VARIABLE_NAME + 3];
        snprintf(variable, sizeof(variable), "cc.%s", info->variable[i].name);
        append(out, cap, variable, info->variable[i].value, 8);
    }
}

void rtsp_parameter_away(double seconds, const char *why, char *out, size_t cap)
{
    size_t used = strlen(out);
    snprintf(out + used, cap - used, "\r\nsource-away: %.3f ", seconds);
    for (used = strlen(out); *why && used + 1 < cap; why++)
        out[used++] = (unsigned char)*why < ' ' ? ' ' : *why;
    out[used] = '\0';
}

void rtsp_parameter_relay(const struct relay_info *info, char *out, size_t cap)
{
    struct relay_info values = *info;
    struct relay_field fields[RELAY_FIELDS];
    relay_info_fields(&values, fields);
    for (int i = 0; fields[i].name; i++)
        append(out, cap, fields[i].name, *fields[i].value, fields[i].decimals);
}
