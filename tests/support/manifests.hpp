// SPDX-License-Identifier: GPL-2.0-or-later
// A manifest of a live stream: video and Opus, four complete segments of two parts, and an open
// one.
#ifndef WEIR_TESTS_MANIFESTS_HPP
#define WEIR_TESTS_MANIFESTS_HPP

#include <cstdio>

#include "media/manifest/manifest.h"

struct live_manifest {
    manifest m{};
    manifest_segment video[5]{}, opus[5]{};

    live_manifest()
    {
        snprintf(m.run.token, sizeof(m.run.token), "abc");
        m.segment_seconds = 2;
        m.segment_parts = 2;
        m.run.number = 3;
        m.origin = (1700000000 - 4) * USEC_PER_SEC;
        m.rendition_count = 2;
        fill(0, "v0", CMAF_H264, "avc1.64001f", video);
        fill(1, "opus", CMAF_OPUS, "Opus", opus);
        m.renditions[0].width = 640;
        m.renditions[0].height = 360;
        m.renditions[0].frame_rate = 4;
        m.renditions[0].bandwidth_bps = 1100;
        m.renditions[0].average_bps = 1000;
        m.renditions[1].bandwidth_bps = 10;
        m.renditions[1].average_bps = 9;
    }
    live_manifest(const live_manifest &) = delete;
    live_manifest &operator=(const live_manifest &) = delete;

  private:
    void fill(int i, const char *name, cmaf_codec codec, const char *codec_name,
              manifest_segment *segments)
    {
        manifest_rendition &r = m.renditions[i];
        snprintf(r.name, sizeof(r.name), "%s", name);
        snprintf(r.codec_name, sizeof(r.codec_name), "%s", codec_name);
        r.codec = codec;
        r.timescale = 1000;
        r.part_target = 1;
        r.segments = segments;
        r.segment_count = 5;
        for (int k = 0; k < 5; k++) {
            manifest_segment &s = segments[k];
            s.number = 100 + k;
            s.time = 4000 + 2000 * k;
            s.wall = 1700000000 * USEC_PER_SEC + 2 * k * USEC_PER_SEC;
            s.complete = k < 4;
            s.part_count = k < 4 ? 2 : 1;
            s.duration = 1000 * s.part_count;
            s.parts[0] = {1000, true};
            s.parts[1] = {1000, codec != CMAF_H264};
        }
    }
};

#endif
