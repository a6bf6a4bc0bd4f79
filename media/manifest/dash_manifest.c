// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/manifest/dash_manifest.h"

#include <inttypes.h>

#include "common/base/put.h"

enum { HEAD_BYTES = 2048, RENDITION_BYTES = 1024, SEGMENT_BYTES = 64, DELAY_SEGMENTS = 3 };

size_t dash_manifest_room(const struct manifest *m, int segments)
{
    return HEAD_BYTES +
           (size_t)m->rendition_count * (RENDITION_BYTES + SEGMENT_BYTES * (size_t)segments);
}

static int complete_segments(const struct manifest_rendition *r)
{
    int count = r->segment_count;
    return count > 0 && !r->segments[count - 1].complete ? count - 1 : count;
}

// Returns the longest window of a rendition, in seconds.
static double longest(const struct manifest *m)
{
    double most = 0;
    for (int i = 0; i < m->rendition_count; i++) {
        const struct manifest_rendition *r = &m->renditions[i];
        double sum = 0;
        for (int s = 0; s < complete_segments(r); s++)
            sum += (double)r->segments[s].duration / r->timescale;
        most = sum > most ? sum : most;
    }
    return most;
}

// Returns the end of the last segment on the timeline, in seconds.
static double end_of(const struct manifest *m)
{
    double most = 0;
    for (int i = 0; i < m->rendition_count; i++) {
        const struct manifest_rendition *r = &m->renditions[i];
        int count = complete_segments(r);
        const struct manifest_segment *last = count > 0 ? &r->segments[count - 1] : NULL;
        double end = last ? (double)(last->time + last->duration) / r->timescale : 0;
        most = end > most ? end : most;
    }
    return most;
}

static void put_head(struct put *p, const struct manifest *m, usec_t published)
{
    put_format(p, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" "
                  "profiles=\"urn:mpeg:dash:profile:isoff-live:2011\"");
    if (m->ended) {
        put_format(p, " type=\"static\" mediaPresentationDuration=\"PT%.3fS\"", end_of(m));
    } else {
        char begun[MANIFEST_TIME], now[MANIFEST_TIME];
        manifest_time(m->origin, begun);
        manifest_time(published, now);
        put_format(p, " type=\"dynamic\" availabilityStartTime=\"%s\" publishTime=\"%s\"", begun,
                   now);
        put_format(p,
                   " minimumUpdatePeriod=\"PT%.3fS\" timeShiftBufferDepth=\"PT%.3fS\""
                   " suggestedPresentationDelay=\"PT%.3fS\"",
                   m->segment_seconds, longest(m), DELAY_SEGMENTS * m->segment_seconds);
    }
    put_format(p, " minBufferTime=\"PT%.3fS\">\n<Period id=\"%s\" start=\"PT0S\">\n",
               m->segment_seconds, m->token);
}

static void put_timeline(struct put *p, const struct manifest_rendition *r)
{
    int64_t expected = -1;
    put_format(p, "<SegmentTimeline>");
    for (int i = 0, next; i < complete_segments(r); i = next) {
        const struct manifest_segment *s = &r->segments[i];
        int64_t end = s->time + s->duration;
        for (next = i + 1; next < complete_segments(r) && r->segments[next].time == end &&
                           r->segments[next].duration == s->duration;
             next++)
            end += s->duration;
        put_format(p, "<S");
        if (s->time != expected)
            put_format(p, " t=\"%" PRId64 "\"", s->time);
        put_format(p, " d=\"%" PRId64 "\"", s->duration);
        if (next - i > 1)
            put_format(p, " r=\"%d\"", next - i - 1);
        put_format(p, "/>");
        expected = end;
    }
    put_format(p, "</SegmentTimeline>");
}

static void put_representation(struct put *p, const struct manifest *m,
                               const struct manifest_rendition *r)
{
    put_format(p, "<Representation id=\"%s\" codecs=\"%s\" bandwidth=\"%d\"", r->name,
               r->codec_name, r->bandwidth_bps);
    if (manifest_is_video(r))
        put_format(p, " width=\"%d\" height=\"%d\" frameRate=\"%d/1000\" sar=\"1:1\">", r->width,
                   r->height, (int)(r->frame_rate * 1000 + 0.5));
    else
        put_format(p, " audioSamplingRate=\"%d\">", AUDIO_RATE);
    put_format(p,
               "\n<SegmentTemplate timescale=\"%u\" startNumber=\"%" PRId64
               "\" initialization=\"%s/%s.mp4\" media=\"%s/%s-$Number$.m4s\">",
               r->timescale, r->segment_count > 0 ? r->segments[0].number : 0, m->token, r->name,
               m->token, r->name);
    put_timeline(p, r);
    put_format(p, "</SegmentTemplate>\n</Representation>\n");
}

static void put_set(struct put *p, bool video)
{
    const char *type = video ? "video" : "audio";
    put_format(p,
               "<AdaptationSet contentType=\"%s\" mimeType=\"%s/mp4\" segmentAlignment=\"true\" "
               "startWithSAP=\"1\">\n",
               type, type);
}

int dash_manifest(const struct manifest *m, usec_t published, char *out, size_t cap)
{
    struct put p = put_into(out, cap);
    put_head(&p, m, published);
    put_set(&p, true);
    for (int i = 0; i < m->rendition_count; i++)
        if (manifest_is_video(&m->renditions[i]))
            put_representation(&p, m, &m->renditions[i]);
    put_format(&p, "</AdaptationSet>\n");
    for (int i = 0; i < m->rendition_count; i++) {
        if (manifest_is_video(&m->renditions[i]))
            continue;
        put_set(&p, false);
        put_representation(&p, m, &m->renditions[i]);
        put_format(&p, "</AdaptationSet>\n");
    }
    put_format(&p, "</Period>\n</MPD>\n");
    return put_result(&p);
}
