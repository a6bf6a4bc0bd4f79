// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/manifest/dash_manifest.h"

#include <inttypes.h>

#include "common/base/put.h"

enum { HEAD_BYTES = 2048, RENDITION_BYTES = 1024, SEGMENT_BYTES = 64, DELAY_SEGMENTS = 3 };

static int complete_segments(const struct manifest_rendition *r)
{
    int count = r->segment_count;
    return count > 0 && !r->segments[count - 1].complete ? count - 1 : count;
}

// Returns the run with the lowest number above `above` of which there is a segment; NULL: none.
static const struct manifest_run *next_run(const struct manifest *m, int64_t above)
{
    const struct manifest_run *next = NULL;
    for (int i = 0; i < m->rendition_count; i++) {
        const struct manifest_rendition *r = &m->renditions[i];
        for (int s = 0; s < complete_segments(r); s++) {
            const struct manifest_run *run = manifest_run_of(m, &r->segments[s]);
            if (run->number > above && (!next || run->number < next->number))
                next = run;
        }
    }
    return next;
}

static const struct manifest_run *first_run(const struct manifest *m)
{
    const struct manifest_run *first = next_run(m, -1);
    return first ? first : &m->run;
}

size_t dash_manifest_room(const struct manifest *m, int segments)
{
    size_t runs = 0, renditions = (size_t)m->rendition_count;
    for (const struct manifest_run *r = first_run(m); r; r = next_run(m, r->number))
        runs++;
    return HEAD_BYTES + runs * (renditions + 1) * RENDITION_BYTES +
           renditions * SEGMENT_BYTES * (size_t)segments;
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
        int count = manifest_leaves_out(m, r) ? 0 : complete_segments(r);
        const struct manifest_segment *last = count > 0 ? &r->segments[count - 1] : NULL;
        const struct manifest_run *run = last ? manifest_run_of(m, last) : NULL;
        double end = last ? (double)(last->time + last->duration) / r->timescale +
                                usec_to_sec(run->start - run->media)
                          : 0;
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
    put_format(p, " minBufferTime=\"PT%.3fS\">\n", m->segment_seconds);
}

// The complete segments of a run that a rendition has, from `first` up to `end`.
struct window {
    int first, end;
};

static struct window window_of(const struct manifest *m, const struct manifest_rendition *r,
                               const struct manifest_run *run)
{
    struct window w = {0, complete_segments(r)};
    while (w.first < w.end && manifest_run_of(m, &r->segments[w.first])->number != run->number)
        w.first++;
    while (w.end > w.first && manifest_run_of(m, &r->segments[w.end - 1])->number != run->number)
        w.end--;
    return w;
}

static void put_timeline(struct put *p, const struct manifest_rendition *r, struct window w)
{
    int64_t expected = -1;
    put_format(p, "<SegmentTimeline>");
    for (int i = w.first, next; i < w.end; i = next) {
        const struct manifest_segment *s = &r->segments[i];
        int64_t end = s->time + s->duration;
        for (next = i + 1; next < w.end && r->segments[next].time == end &&
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

static void put_representation(struct put *p, const struct manifest_run *run,
                               const struct manifest_rendition *r, struct window w)
{
    put_format(p, "<Representation id=\"%s\" codecs=\"%s\" bandwidth=\"%d\"", r->name,
               r->codec_name, r->bandwidth_bps);
    if (manifest_is_video(r))
        put_format(p, " width=\"%d\" height=\"%d\" frameRate=\"%d/1000\" sar=\"1:1\">", r->width,
                   r->height, (int)(r->frame_rate * 1000 + 0.5));
    else
        put_format(p, " audioSamplingRate=\"%d\">", AUDIO_RATE);
    put_format(p, "\n<SegmentTemplate timescale=\"%u\" startNumber=\"%" PRId64 "\"", r->timescale,
               w.first < w.end ? r->segments[w.first].number : 0);
    if (run->media)
        put_format(p, " presentationTimeOffset=\"%" PRId64 "\"",
                   run->media * r->timescale / USEC_PER_SEC);
    put_format(p, " initialization=\"%s/%s.mp4\" media=\"%s/%s-$Number$.m4s\">", run->token,
               r->name, run->token, r->name);
    put_timeline(p, r, w);
    put_format(p, "</SegmentTemplate>\n</Representation>\n");
}

static void begin_set(struct put *p, const struct manifest *m, bool video)
{
    const char *type = video ? "video" : "audio";
    put_format(p,
               "<AdaptationSet contentType=\"%s\" mimeType=\"%s/mp4\" segmentAlignment=\"%s\"%s>\n",
               type, type, m->begins_anywhere ? "false" : "true",
               m->begins_anywhere && video ? "" : " startWithSAP=\"1\"");
}

static void end_set(struct put *p)
{
    put_format(p, "</AdaptationSet>\n");
}

// A run is a period. It has no set of audio that has no segment in it.
static void put_period(struct put *p, const struct manifest *m, const struct manifest_run *run)
{
    put_format(p, "<Period id=\"%s\" start=\"PT", run->token);
    put_format(p, run->start ? "%.3fS\">\n" : "0S\">\n", usec_to_sec(run->start));
    begin_set(p, m, true);
    for (int i = 0; i < m->rendition_count; i++)
        if (manifest_is_video(&m->renditions[i]))
            put_representation(p, run, &m->renditions[i], window_of(m, &m->renditions[i], run));
    end_set(p);
    for (int i = 0; i < m->rendition_count; i++) {
        const struct manifest_rendition *r = &m->renditions[i];
        struct window w = window_of(m, r, run);
        if (manifest_is_video(r) || manifest_leaves_out(m, r) || w.first == w.end)
            continue;
        begin_set(p, m, false);
        put_representation(p, run, r, w);
        end_set(p);
    }
    put_format(p, "</Period>\n");
}

int dash_manifest(const struct manifest *m, usec_t published, char *out, size_t cap)
{
    struct put p = put_into(out, cap);
    put_head(&p, m, published);
    for (const struct manifest_run *run = first_run(m); run; run = next_run(m, run->number))
        put_period(&p, m, run);
    put_format(&p, "</MPD>\n");
    return put_result(&p);
}
