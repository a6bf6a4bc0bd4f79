// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/stream_description.h"

#include <stdio.h>

#include "common/base/scan.h"
#include "common/base/utf8.h"
#include "common/protocol/server_dialect.h"

enum { LIST_COLUMN = 4096 };

const char *stream_description_refuse(const struct sdp *s, const struct play_options *o,
                                      bool has_display, char *out, size_t cap)
{
    bool has_levels = server_dialect_of(s)->has_levels;
    bool goddard = o->adapt == ADAPT_GODDARD;
    int levels = s->ladder.level_count;
    if (!has_display)
        snprintf(out, cap, "no display is available: set DISPLAY, or play with --headless");
    else if (has_levels && (s->ext.adu == 0 || (sdp_has_frames(s) && !levels)))
        snprintf(out, cap, "no levels, or no frame numbers on the packets");
    else if (!has_levels && (o->level > 0 || goddard))
        snprintf(out, cap, "this server is not weir-send: there are no levels to choose from");
    else if (goddard && !sdp_has_frames(s))
        snprintf(out, cap, "--adapt goddard requires a stream of frames");
    else if (levels && o->level >= levels)
        snprintf(out, cap, "the stream has no level %d: there are 0 to %d", o->level, levels - 1);
    else
        return NULL;
    return out;
}

void stream_description_source(const struct sdp *s, char out[STREAM_DESCRIPTION_TEXT])
{
    static const char *const kinds[] = {
        [SDP_SOURCE_UNKNOWN] = "unknown",
        [SDP_SOURCE_TEST] = "test",
        [SDP_SOURCE_FILE] = "file",
        [SDP_SOURCE_GREEDY] = "synthetic:greedy",
        [SDP_SOURCE_STEADY] = "synthetic:steady",
        [SDP_SOURCE_GODDARD] = "synthetic:goddard",
        [SDP_SOURCE_LAYERS] = "synthetic:layers",
        [SDP_SOURCE_CAMERA] = "camera",
        [SDP_SOURCE_SCREEN] = "screen",
        [SDP_SOURCE_RELAYED] = "relayed",
    };
    const struct ladder *l = &s->ladder;
    // The frames of two streams of a camera count at a rate that neither has.
    bool is_relayed = s->source == SDP_SOURCE_RELAYED && l->size_count > 0;
    struct fps fps = is_relayed ? l->sizes[l->size_count - 1].fps : l->source_fps;
    if (l->source_width > 0 && fps.den > 0)
        snprintf(out, STREAM_DESCRIPTION_TEXT, "%s %dx%d@%.4g", kinds[s->source], l->source_width,
                 l->source_height, fps_value(fps));
    else
        snprintf(out, STREAM_DESCRIPTION_TEXT, "%s", kinds[s->source]);
}

void stream_description_print_list(struct text list, FILE *to)
{
    struct scan all = list.at ? text_scan(list) : (struct scan){0};
    for (struct scan rest; scan_line(&all, &rest);) {
        while (!scan_end(&rest)) {
            char column[LIST_COLUMN];
            char clean[LIST_COLUMN];
            text_copy(text_of_scan(scan_until(&rest, '\t')), column, sizeof(column));
            utf8_copy(column, clean, sizeof(clean));
            fprintf(to, "%s%s", clean, scan_end(&rest) ? "" : "\t");
        }
        fputc('\n', to);
    }
    fflush(to);
}
