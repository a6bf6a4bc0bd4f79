// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/source_note.h"

#include <stdio.h>

static const double same_rate = 1.002;

bool source_note(const struct ladder *ladder, enum source_note why, char *out, size_t cap)
{
    static const char *const reasons[] = {
        [SOURCE_NOTE_SPEED] = "this machine encodes no more while it is watched (--level "
                              "WxH@FPS:KBPS sets more; --prepare encodes a file once, before)",
        [SOURCE_NOTE_VP9] = "that is the default of --codec vp9 (--level WxH@FPS:KBPS sets more)",
        [SOURCE_NOTE_TEST] = "that is the default of the test picture (--level WxH@FPS:KBPS sets "
                             "more)",
        [SOURCE_NOTE_PREPARED] = "it was prepared so (--prepare makes it anew)",
    };
    int top = ladder->level_count - 1;
    const struct size_spec *size = &ladder->sizes[ladder->levels[top].size_id];
    double fps = level_frame_rate(ladder, top), source_fps = fps_value(ladder->source_fps);
    bool is_smaller =
        (double)size->width * size->height < (double)ladder->source_width * ladder->source_height;
    if (!is_smaller && fps * same_rate >= source_fps)
        return false;
    snprintf(out, cap,
             "viewers get at most %dx%d at %.4g frames/s of the source's %dx%d at %.4g: %s",
             size->width, size->height, fps, ladder->source_width, ladder->source_height,
             source_fps, reasons[why]);
    return true;
}
