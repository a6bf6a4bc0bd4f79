// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/http/rendition_rates.h"

#include <math.h>

#include "media/cmaf/cmaf_chunk.h"

#define MARGIN  1.1
#define MAX_BPS (INT32_MAX / 2) // audio is added to it

enum { PART_BOXES = 200, PARTS_PER_SEC = 2 };

static void bounds(struct manifest_rendition *r, int bitrate_bps, double samples_per_sec)
{
    double boxes = 8 * (CMAF_CHUNK_SAMPLE_BOXES * samples_per_sec + PART_BOXES * PARTS_PER_SEC);
    r->average_bps = (int)(bitrate_bps + boxes);
    r->bandwidth_bps = (int)(MARGIN * bitrate_bps + boxes);
}

void rendition_rates_video(struct manifest_rendition *r, int bitrate_bps)
{
    bounds(r, bitrate_bps, r->frame_rate);
}

void rendition_rates_audio(struct manifest_rendition *r, int bitrate_bps, int samples_of_packet)
{
    bounds(r, bitrate_bps, (double)AUDIO_RATE / samples_of_packet);
}

static double segment_bits(const struct manifest_rendition *r, int64_t media_bytes, double seconds)
{
    double samples = ceil(r->frame_rate * seconds);
    return 8 * ((double)media_bytes + CMAF_CHUNK_BOXES + CMAF_CHUNK_SAMPLE_BOXES * samples);
}

void rendition_rates_film(struct manifest_rendition *r, const struct film_table *t, int level)
{
    double usual = usec_to_sec(film_table_length(t, 0));
    double peak = 0, sum = 0, before = 0;
    int64_t groups = film_table_shape(t)->groups;
    for (int64_t g = 0; g < groups; g++) {
        double seconds = usec_to_sec(film_table_length(t, g));
        double most = segment_bits(r, film_table_max_bytes(t, g, level), seconds);
        if (seconds < usual / 2)
            peak = fmax(peak, fmax((before + most) / (usual + seconds), most / usual));
        else
            peak = fmax(peak, most / seconds);
        sum += segment_bits(r, film_table_bytes(t, g, level), seconds);
        before = most;
    }
    r->bandwidth_bps = (int)ceil(fmin(peak, MAX_BPS));
    r->average_bps = (int)fmin(sum / usec_to_sec(film_table_start(t, groups)), r->bandwidth_bps);
}
