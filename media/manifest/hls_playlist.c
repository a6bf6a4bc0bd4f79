// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/manifest/hls_playlist.h"

#include <inttypes.h>
#include <math.h>

#include "common/base/put.h"

enum {
    VERSION = 9,
    HEAD_BYTES = 1024,
    REPORT_BYTES = 96,
    SEGMENT_BYTES = 288,
    PART_BYTES = 128,
    PARTS_OF = 3, // target durations
};

int hls_target_duration(const struct manifest *m)
{
    int target = (int)lround(m->segment_seconds);
    return target > 1 ? target : 1;
}

static int bandwidth(const struct manifest_rendition *video, const struct manifest_rendition *audio)
{
    return video->bandwidth_bps + (audio ? audio->bandwidth_bps : 0);
}

static void put_variant(struct put *p, const struct manifest_rendition *video,
                        const struct manifest_rendition *audio)
{
    int peak = bandwidth(video, audio);
    int mean = video->average_bps + (audio ? audio->average_bps : 0);
    put_format(p, "#EXT-X-STREAM-INF:BANDWIDTH=%d,AVERAGE-BANDWIDTH=%d,CODECS=\"%s%s%s\"", peak,
               mean, video->codec_name, audio ? "," : "", audio ? audio->codec_name : "");
    put_format(p, ",RESOLUTION=%dx%d,FRAME-RATE=%.3f", video->width, video->height,
               video->frame_rate);
    if (audio)
        put_format(p, ",AUDIO=\"%s\"", audio->name);
    put_format(p, "\n%s.m3u8\n", video->name);
}

// Returns the video rendition that players start with: the best one within HLS_START_BPS, or the
// one that needs the least.
static int start_rendition(const struct manifest *m, const struct manifest_rendition *audio)
{
    int start = -1;
    for (int v = 0; v < m->rendition_count; v++) {
        if (!manifest_is_video(&m->renditions[v]))
            continue;
        int bps = bandwidth(&m->renditions[v], audio);
        int best = start < 0 ? 0 : bandwidth(&m->renditions[start], audio);
        if (start < 0 || (best > HLS_START_BPS ? bps < best : bps > best && bps <= HLS_START_BPS))
            start = v;
    }
    return start;
}

static void put_variants(struct put *p, const struct manifest *m,
                         const struct manifest_rendition *audio)
{
    int start = start_rendition(m, audio);
    if (start >= 0)
        put_variant(p, &m->renditions[start], audio);
    for (int v = 0; v < m->rendition_count; v++)
        if (v != start && manifest_is_video(&m->renditions[v]))
            put_variant(p, &m->renditions[v], audio);
}

int hls_multivariant_playlist(const struct manifest *m, char *out, size_t cap)
{
    struct put p = put_into(out, cap);
    put_format(&p, "#EXTM3U\n#EXT-X-VERSION:%d\n%s", VERSION,
               m->begins_anywhere ? "" : "#EXT-X-INDEPENDENT-SEGMENTS\n");
    int audio_count = 0;
    for (int a = 0; a < m->rendition_count; a++) {
        const struct manifest_rendition *audio = &m->renditions[a];
        if (manifest_is_video(audio) || manifest_leaves_out(m, audio))
            continue;
        put_format(&p,
                   "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"%s\",NAME=\"%s\",DEFAULT=YES,AUTOSELECT=YES,"
                   "CHANNELS=\"%d\",URI=\"%s.m3u8\"\n",
                   audio->name, audio->name, AUDIO_CHANNELS, audio->name);
        audio_count++;
    }
    for (int a = 0; a < m->rendition_count; a++)
        if (!manifest_is_video(&m->renditions[a]) && !manifest_leaves_out(m, &m->renditions[a]))
            put_variants(&p, m, &m->renditions[a]);
    if (audio_count == 0)
        put_variants(&p, m, NULL);
    return put_result(&p);
}

size_t hls_media_playlist_room(const struct manifest *m, int segments)
{
    int with_parts = segments < PARTS_OF + 2 ? segments : PARTS_OF + 2;
    return HEAD_BYTES + REPORT_BYTES * (size_t)m->rendition_count +
           SEGMENT_BYTES * (size_t)segments + PART_BYTES * MANIFEST_MAX_PARTS * (size_t)with_parts;
}

static double seconds(const struct manifest_rendition *r, int64_t duration)
{
    return (double)duration / r->timescale;
}

static void put_map(struct put *p, const struct manifest_run *run,
                    const struct manifest_rendition *r)
{
    put_format(p, "#EXT-X-MAP:URI=\"%s/%s.mp4\"\n", run->token, r->name);
}

// Begins the run of a segment after that of the segment before. A run of which this rendition has
// no segment counts, as it does in the others.
static void put_run(struct put *p, const struct manifest_run *before,
                    const struct manifest_run *run, const struct manifest_rendition *r)
{
    for (int64_t i = before->number; i < run->number; i++)
        put_format(p, "#EXT-X-DISCONTINUITY\n");
    if (run != before)
        put_map(p, run, r);
}

static void put_segment(struct put *p, const struct manifest_run *run,
                        const struct manifest_rendition *r, const struct manifest_segment *s,
                        bool with_parts)
{
    if (s->wall > 0) {
        char time[MANIFEST_TIME];
        manifest_time(s->wall, time);
        put_format(p, "#EXT-X-PROGRAM-DATE-TIME:%s\n", time);
    }
    for (int i = 0; i < s->part_count && with_parts; i++)
        put_format(p, "#EXT-X-PART:DURATION=%.5f,URI=\"%s/%s-%" PRId64 ".%d.m4s\"%s\n",
                   seconds(r, s->parts[i].duration), run->token, r->name, s->number, i,
                   s->parts[i].independent ? ",INDEPENDENT=YES" : "");
    if (s->complete)
        put_format(p, "#EXTINF:%.5f,\n%s/%s-%" PRId64 ".m4s\n", seconds(r, s->duration), run->token,
                   r->name, s->number);
}

// What a player reads ahead, and how far the other renditions are.
static void put_tail(struct put *p, const struct manifest *m, const struct manifest_rendition *r)
{
    if (m->ended) {
        put_format(p, "#EXT-X-ENDLIST\n");
        return;
    }
    struct manifest_next next = manifest_next_part(m, r);
    put_format(p, "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"%s/%s-%" PRId64 ".%d.m4s\"\n", m->run.token,
               r->name, next.number, next.part);
    for (int i = 0; i < m->rendition_count; i++) {
        const struct manifest_rendition *other = &m->renditions[i];
        if (other == r || manifest_leaves_out(m, other) || other->segment_count == 0)
            continue;
        const struct manifest_segment *last = &other->segments[other->segment_count - 1];
        put_format(p, "#EXT-X-RENDITION-REPORT:URI=\"%s.m3u8\",LAST-MSN=%" PRId64, other->name,
                   last->number);
        put_format(p, ",LAST-PART=%d\n", last->part_count > 0 ? last->part_count - 1 : 0);
    }
}

int hls_media_playlist(const struct manifest *m, int rendition, char *out, size_t cap)
{
    const struct manifest_rendition *r = &m->renditions[rendition];
    bool has_parts = m->segment_parts > 0;
    int target = hls_target_duration(m);
    struct put p = put_into(out, cap);
    put_format(&p, "#EXTM3U\n#EXT-X-VERSION:%d\n#EXT-X-TARGETDURATION:%d\n", VERSION, target);
    if (has_parts)
        put_format(&p,
                   "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=%.5f\n"
                   "#EXT-X-PART-INF:PART-TARGET=%.5f\n",
                   HLS_PART_HOLD_BACK * r->part_target, r->part_target);
    if (m->stored)
        put_format(&p, "#EXT-X-PLAYLIST-TYPE:VOD\n");
    put_format(&p, "#EXT-X-MEDIA-SEQUENCE:%" PRId64 "\n",
               r->segment_count > 0 ? r->segments[0].number : 0);
    const struct manifest_run *run =
        r->segment_count > 0 ? manifest_run_of(m, &r->segments[0]) : &m->run;
    if (run->number > 0)
        put_format(&p, "#EXT-X-DISCONTINUITY-SEQUENCE:%" PRId64 "\n", run->number);
    if (!m->begins_anywhere)
        put_format(&p, "#EXT-X-INDEPENDENT-SEGMENTS\n");
    put_map(&p, run, r);
    double age = 0; // of each segment's end, counted from the playlist's end
    int first_with_parts = r->segment_count;
    while (has_parts && first_with_parts > 0 && age < PARTS_OF * target)
        age += seconds(r, r->segments[--first_with_parts].duration);
    for (int i = 0; i < r->segment_count; i++) {
        const struct manifest_run *next = manifest_run_of(m, &r->segments[i]);
        put_run(&p, run, next, r);
        put_segment(&p, next, r, &r->segments[i], i >= first_with_parts);
        run = next;
    }
    if (has_parts || m->ended)
        put_tail(&p, m, r);
    return put_result(&p);
}
