// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/encode/video_engine.h"

#include <string.h>

#include "common/base/log.h"
#include "media/encode/avcodec_encoder.h"

// Each waits for no second picture before it gives a frame.
static const struct avcodec_engine vaapi = {.codec = "h264_vaapi",
                                            .options = "async_depth=1:rc_mode=CBR:sei=0",
                                            .device = AVCODEC_VAAPI,
                                            .is_nv12 = true};
static const struct avcodec_engine nvenc = {
    .codec = "h264_nvenc",
    .options = "preset=p3:tune=ull:rc=cbr:delay=0:zerolatency=1:forced-idr=1"};
static const struct avcodec_engine qsv = {
    .codec = "h264_qsv",
    .options = "preset=veryfast:async_depth=1:look_ahead=0:forced_idr=1:low_delay_brc=1",
    .is_nv12 = true};
static const struct avcodec_engine v4l2m2m = {.codec = "h264_v4l2m2m",
                                              .options = "num_capture_buffers=4"};
static const struct avcodec_engine libx264 = {
    .codec = "libx264", .options = "preset=superfast:tune=zerolatency:forced-idr=1:sc_threshold=0"};

// Of libavcodec 59's wrappers only nvenc's and libx264's take another bitrate while they run; none
// has temporal layers or forgets a reference on request.
static const struct video_engine engines[] = {
    {.name = "x264",
     .help = "the processor; with temporal layers, and repairs without a key frame",
     .remedy = "",
     .traits = {true, true, true}},
    {.name = "vaapi",
     .help = "a graphics chip of Intel or AMD, through VA-API",
     .remedy = "it needs /dev/dri/renderD128, to which this user has access (group render), and "
               "its driver (intel-media-va-driver or mesa-va-drivers); vainfo shows it",
     .is_hardware = true,
     .av = &vaapi},
    {.name = "nvenc",
     .help = "a graphics chip of NVIDIA",
     .remedy = "it needs NVIDIA's driver with libnvidia-encode.so.1; nvidia-smi shows the chip",
     .is_hardware = true,
     .av = &nvenc,
     .traits = {.reconfigure = true}},
    {.name = "qsv",
     .help = "a graphics chip of Intel, through Quick Sync (vaapi needs fewer parts)",
     .remedy = "it needs /dev/dri/renderD128 and Intel's runtime (libmfx-gen1.2 or libmfx1); try "
               "--encoder vaapi",
     .is_hardware = true,
     .av = &qsv},
    {.name = "v4l2m2m",
     .help = "the encoder of a small board, such as a Raspberry Pi up to 4",
     .remedy =
         "it needs an encoder among /dev/video*, to which this user has access (group video); "
         "v4l2-ctl --list-devices shows them",
     .is_hardware = true,
     .av = &v4l2m2m},
    {.name = "lavc-x264",
     .help = "x264 through libavcodec: for tests of that path, without layers",
     .remedy = "it needs a libavcodec that was built with libx264",
     .av = &libx264,
     .traits = {.reconfigure = true}},
};

const struct video_engine *video_engine_at(int i)
{
    return i >= 0 && i < (int)(sizeof(engines) / sizeof(*engines)) ? &engines[i] : NULL;
}

const struct video_engine *video_engine_find(const char *name)
{
    for (int i = 0; video_engine_at(i); i++)
        if (strcmp(engines[i].name, name) == 0)
            return &engines[i];
    return NULL;
}

struct video_encoder *video_engine_open(const struct video_engine *engine,
                                        const struct ladder *ladder, int size_id)
{
    if (!engine->av)
        return video_encoder_new_h264(ladder, size_id);
    char reason[AVCODEC_REASON_TEXT];
    struct video_encoder *e =
        avcodec_encoder_new(engine->av, &engine->traits, ladder, size_id, reason);
    if (!e)
        log_error("encoder %s: %s (%s; --encoder list shows those that are usable here, --encoder "
                  "x264 always is)",
                  engine->name, reason, engine->remedy);
    return e ? video_encoder_new_steady(e, engine->name, ladder) : NULL;
}

bool video_engine_is_usable(const struct video_engine *engine,
                            char reason[VIDEO_ENGINE_REASON_TEXT])
{
    static const struct ladder small = {.source_fps = {30, 1},
                                        .source_width = 640,
                                        .source_height = 360,
                                        .size_count = 1,
                                        .sizes = {{640, 360, {30, 1}, 1}},
                                        .level_count = 1,
                                        .levels = {{0, 0, 1000000}}};
    char why[AVCODEC_REASON_TEXT] = "it cannot be opened";
    struct video_encoder *e = engine->av
                                  ? avcodec_encoder_new(engine->av, &engine->traits, &small, 0, why)
                                  : video_encoder_new_h264(&small, 0);
    if (e)
        e->ops->free(e);
    else
        snprintf(reason, VIDEO_ENGINE_REASON_TEXT, "%s: %s", why, engine->remedy);
    return e != NULL;
}

const struct video_engine *video_engine_hardware(void)
{
    char reason[VIDEO_ENGINE_REASON_TEXT];
    for (int i = 0; video_engine_at(i); i++)
        if (engines[i].is_hardware && video_engine_is_usable(&engines[i], reason))
            return &engines[i];
    return NULL;
}

void video_engine_list(FILE *out)
{
    char reason[VIDEO_ENGINE_REASON_TEXT];
    for (int i = 0; video_engine_at(i); i++) {
        const struct video_engine *e = &engines[i];
        bool usable = video_engine_is_usable(e, reason);
        fprintf(out, "%-10s %-11s %s\n", e->name, usable ? "usable" : "not usable", e->help);
        if (usable)
            fprintf(out,
                    "%22s layers: %s, repair without a key frame: %s, another rate while it "
                    "runs: %s\n",
                    "", e->traits.layers ? "yes" : "no", e->traits.invalidate ? "yes" : "no",
                    e->traits.reconfigure ? "yes" : "no");
        else
            fprintf(out, "%22s %s\n", "", reason);
    }
}
