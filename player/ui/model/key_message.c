// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/key_message.h"

#include <math.h>
#include <stdio.h>

void key_message_volume(const struct key_volume *v, char *out, size_t cap)
{
    if (!v->present)
        snprintf(out, cap, "No audio");
    else
        snprintf(out, cap, v->muted ? "Muted (volume %d %%)" : "Volume %d %%", v->percent);
}

void key_message_level(const struct key_level *l, char *out, size_t cap)
{
    if (!l->ladder) {
        snprintf(out, cap, "No stream plays yet");
        return;
    }
    int top = l->ladder->level_count - 1;
    if (l->policy) {
        snprintf(out, cap, "The level cannot be chosen: --adapt goddard chooses it");
    } else if (top < 0) {
        snprintf(out, cap, "The level cannot be chosen: this server offers none");
    } else if (!l->may_choose) {
        snprintf(out, cap, "The level cannot be chosen now: no media arrives");
    } else if (l->level > top) {
        snprintf(out, cap, "Level %d is the highest", top);
    } else if (l->level < 0) {
        snprintf(out, cap, "Level 0 is the lowest");
    } else {
        const struct level *level = &l->ladder->levels[l->level];
        const struct size_spec *size = &l->ladder->sizes[level->size_id];
        snprintf(out, cap, "Level %d: %dx%d, %.4g frames/s, %.2f Mbit/s", l->level, size->width,
                 size->height, level_frame_rate(l->ladder, l->level), level->bitrate_bps / 1e6);
    }
}

void key_message_subtitles(const struct key_subtitles *s, char *out, size_t cap)
{
    if (!s->plays)
        snprintf(out, cap, "No stream plays yet");
    else if (!s->count)
        snprintf(out, cap, "This stream has no text subtitles");
    else if (!s->track)
        snprintf(out, cap, "Subtitles off");
    else
        snprintf(out, cap, "Subtitles %d of %d%s%s", s->track, s->count, *s->name ? ": " : "",
                 s->name);
}

void key_message_audio_track(const struct key_audio_track *t, char *out, size_t cap)
{
    if (!t->plays)
        snprintf(out, cap, "No stream plays yet");
    else if (!t->has_audio)
        snprintf(out, cap, "This stream has no audio");
    else if (!t->count)
        snprintf(out, cap, "This stream has one audio track");
    else
        snprintf(out, cap, "Audio track %d of %d%s%s", t->track, t->count, *t->name ? ": " : "",
                 t->name);
}

void key_message_time(double seconds, char *out, size_t cap)
{
    long s = lround(fmin(fmax(seconds, 0), 1e8));
    if (s >= 3600)
        snprintf(out, cap, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, cap, "%ld:%02ld", s / 60, s % 60);
}

void key_message_seek(const struct key_seek *s, char *out, size_t cap)
{
    char at[24], end[24];
    if (!s->plays) {
        snprintf(out, cap, "No stream plays yet");
    } else if (!s->placed) {
        snprintf(out, cap, "Cannot seek: the server does not report the position");
    } else {
        key_message_time(fmin(s->seconds, s->duration), at, sizeof(at));
        key_message_time(s->duration, end, sizeof(end));
        snprintf(out, cap, "%s of %s", at, end);
    }
}

void key_message_live(const struct key_live *l, char *out, size_t cap)
{
    char text[24];
    if (!l->possible) {
        snprintf(out, cap,
                 l->back ? "Cannot rewind live video: the server keeps no past"
                         : "Live video is at its end");
    } else if (l->at_limit && l->back) {
        key_message_time(l->kept, text, sizeof(text));
        snprintf(out, cap, "The server keeps only %s", text);
    } else if (l->behind > 0) {
        key_message_time(l->behind, text, sizeof(text));
        snprintf(out, cap, "%s behind live", text);
    } else {
        snprintf(out, cap, "Live");
    }
}
