// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/options/unused_options.h"

#include <string.h>

#include "media/capture/source_capture.h"
#include "media/source/media_input.h"

enum kind { // of a source; a set of them is a number
    TEST = 1,
    FILM = 2,
    FOLDER = 4,
    DEVICE = 8,
    CAMERA = 16, // an IP camera, or a pipe
    SYNTHETIC = 32,
    GIVEN = 64, // by the program that uses the library
    ALL = 127,
};

static enum kind kind_of(const struct options *o, bool is_folder)
{
    if (is_folder)
        return FOLDER;
    if (options_is_synthetic(o))
        return SYNTHETIC;
    if (source_is_capture(o->source))
        return DEVICE;
    if (strcmp(o->source, SOURCE_PUBLISHED) == 0 || url_scheme(o->source) ||
        media_input_is_pipe(o->source))
        return CAMERA;
    if (strncmp(o->source, "test:", 5) == 0)
        return TEST;
    return *o->source ? FILM : GIVEN;
}

int unused_options(const struct options *o, bool is_folder, const char *out[UNUSED_OPTIONS])
{
    static const struct {
        int kinds; // to which it applies
        const char *warning;
    } rows[UNUSED_OPTIONS] = {
        {DEVICE, "--capture has no effect: it applies only to cameras and screens"},
        {ALL & ~SYNTHETIC, "--level has no effect: a synthetic source has no pictures"},
        {ALL & ~SYNTHETIC, "--temporal-layers has no effect: a synthetic source has no pictures"},
        {ALL & ~SYNTHETIC, "--profile has no effect: a synthetic source has no pictures"},
        {ALL & ~SYNTHETIC, "--sound-rate has no effect: a synthetic source has no audio"},
        {FILM | FOLDER, "the levels of a downmix have no effect: they apply only to files"},
        {FILM | FOLDER, "--loop has no effect: it applies only to files"},
        {FILM | FOLDER, "--no-passthrough has no effect: it applies only to files"},
        {FILM | FOLDER, "--passthrough-rate has no effect: it applies only to files"},
        {ALL & ~FOLDER, "--path has no effect: each file of a folder has its own path"},
        {ALL & ~FOLDER, "--rewind has no effect: viewers seek in the files of a folder"},
    };
    bool is_given[UNUSED_OPTIONS] = {0}, is_used[UNUSED_OPTIONS] = {0};
    int count = 0;
    // Of several sources each may have what stands before the first section: one that uses it is
    // enough.
    for (int i = 0; i < (o->source_count ? o->source_count : 1); i++) {
        const struct options *one = o->source_count ? &o->sources[i] : o;
        const bool given[UNUSED_OPTIONS] = {
            one->has_capture,
            one->level_count > 0,
            one->temporal_layers > 0,
            one->baseline,
            one->audio_kbps != AUDIO_KBPS,
            !audio_mix_is_default(one->mix),
            one->loop,
            one->no_pass,
            one->pass_kbps != PASS_KBPS,
            strcmp(one->path, "/live") != 0,
            one->rewind.age && !one->loop, // a looped file is live
        };
        for (int row = 0; row < UNUSED_OPTIONS; row++) {
            is_given[row] |= given[row];
            is_used[row] |= given[row] && rows[row].kinds & (int)kind_of(one, is_folder);
        }
    }
    for (int row = 0; row < UNUSED_OPTIONS; row++)
        if (is_given[row] && !is_used[row])
            out[count++] = rows[row].warning;
    return count;
}
