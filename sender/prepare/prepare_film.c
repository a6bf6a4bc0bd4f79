// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/prepare/prepare_film.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "common/net/clock.h"
#include "media/capture/audio_open.h"
#include "media/coded/audio.h"
#include "media/source/source.h"
#include "media/stored/stored_audio.h"
#include "media/stored/stored_file.h"
#include "media/stored/stored_maker.h"
#include "media/stored/stored_mux.h"
#include "media/stored/stored_parts.h"
#include "sender/catalog/stream_open.h"
#include "sender/policy/prepare_progress.h"
#include "sender/prepare/prepare_levels.h"
#include "sender/prepare/prepare_stop.h"
#include "sender/prepare/prepare_table.h"

static const int64_t MAX_PICTURE_BYTES = (int64_t)1 << 30; // max. memory of the groups in work
#define REPORT_EVERY (10 * USEC_PER_SEC) // interval of progress lines if stderr is not a terminal

enum { PLAN_BYTES = SDP_MAX_BYTES + STORED_TAG_MAX + 64 };

struct prepare {
    const struct options *options;
    const char *name;      // borrowed; of the film
    const char *label;     // borrowed; precedes the progress
    struct source *source; // owned
    struct sdp sdp;        // with the ladder
    struct stored_plan plan;
    bool by_content;                 // the levels follow from the film's pictures
    double finest[LADDER_MAX_SIZES]; // quantiser of each size; valid if by_content
    struct stored_origin origin;
    struct stored_shifts shifts; // of the pictures that were read
    char path[PATH_MAX];
    char folder[PATH_MAX];
    bool may_pass; // its own video may be the top level
    struct prepare_own own;
    int lock; // owned; descriptor that locks the folder; -1: not locked
    struct prepare_progress progress;
    bool terminal;
    usec_t reported;                          // time of the last progress line
    struct picture *pictures[STORED_MAX_GOP]; // of the group being read; one reference each
};

// Sets what the message of an interruption says.
static void describe(const struct prepare *p, int64_t done)
{
    char text[512];
    const char *slash = strrchr(p->name, '/');
    int len = snprintf(text, sizeof(text), "%s%.200s", p->label, slash ? slash + 1 : p->name);
    if (p->progress.total > 0)
        snprintf(text + len, sizeof(text) - (size_t)len, ", %d %%",
                 (int)(done < p->progress.total ? done * 100 / p->progress.total : 100));
    prepare_stop_describe(text);
}

static void report_progress(struct prepare *p, int64_t done, usec_t now)
{
    char text[128];
    describe(p, done);
    if (p->options->log.filter.level < LOG_INFO ||
        (!p->terminal && now - p->reported < REPORT_EVERY))
        return;
    p->reported = now;
    prepare_progress_text(&p->progress, done, p->terminal, text, sizeof(text), now);
    if (p->terminal)
        fprintf(stderr, "\r%s%s\x1b[K", p->label, text);
    else
        log_info("%s%s", p->label, text);
}

// Opens the film at its beginning.
static struct source *open_film(const struct prepare *p, int *err)
{
    return p->own.coded.passes ? source_file_open(p->name, false, &p->own.coded, NULL, err)
                               : source_open(p->name, false, err);
}

static int open_source(struct prepare *p)
{
    struct stat st = {0};
    int err;
    if (stat(p->name, &st) != 0 && strchr(p->name, ':')) { // "test:" and the like
        log_error("%s: only a file can be prepared", p->name);
        return ERR_UNSUPPORTED;
    }
    if (stored_file_is(p->name)) {
        log_error("%s: the file is prepared already", p->name);
        return ERR_UNSUPPORTED;
    }
    err = prepare_levels_probe(p->options, p->name, p->may_pass, &p->own);
    if (err || !(p->source = open_film(p, &err)))
        return err;
    if (p->source->is_still) {
        log_error("%s: a single picture needs no preparation: weir-send serves it as it is",
                  p->name);
        return ERR_UNSUPPORTED;
    }
    if (*p->source->left_out)
        log_info("%s: left out: %s", p->name, p->source->left_out);
    p->origin = (struct stored_origin){.bytes = st.st_size, .mtime = st.st_mtim.tv_sec};
    p->sdp = (struct sdp){.source = SDP_SOURCE_FILE,
                          .payload_type = sdp_payload_type(p->options->codec),
                          .codec = p->options->codec,
                          .ext = {.adu = RTP_EXT_ADU_ID}, // SDP has levels only with this extension
                          .duration = p->source->duration};
    utf8_copy(p->source->name, p->sdp.title, sizeof(p->sdp.title)); // SDP requires UTF-8
    return prepare_levels_choose(p->options, p->name, p->source, &p->own, &p->sdp.ladder, &p->plan,
                                 p->finest, &p->by_content);
}

static int open_parts(struct prepare *p)
{
    const char *name = p->name;
    if (snprintf(p->path, sizeof(p->path), "%s" STORED_SUFFIX, name) >= (int)sizeof(p->path) ||
        snprintf(p->folder, sizeof(p->folder), "%s.weir.part", name) >= (int)sizeof(p->folder)) {
        log_error("%s: the name is too long", name);
        return ERR_IO;
    }
    char *plan = malloc(PLAN_BYTES);
    int len = plan ? stored_origin_encode(&p->origin, plan, STORED_TAG_MAX) : ERR_NO_MEMORY;
    if (len > 0) {
        plan[len] = '\n';
        len = sdp_encode(&p->sdp, false, plan + len + 1, SDP_MAX_BYTES);
    }
    if (len >= 0 && p->sdp.ladder.passes) { // the same levels may be encoded
        size_t used = strlen(plan);
        snprintf(plan + used, PLAN_BYTES - used, "passes\n");
    }
    const char *track = audio_source_track(p->options->audio);
    if (len >= 0 && track) { // of another track the audio is another one
        size_t used = strlen(plan);
        snprintf(plan + used, PLAN_BYTES - used, "audio track %s\n", track);
    }
    p->lock = len < 0 ? len : stored_parts_open(p->folder, plan);
    free(plan);
    return p->lock < 0 ? p->lock : 0;
}

static int threads(const struct prepare *p)
{
    const struct ladder *l = &p->sdp.ladder;
    // A thread holds the pictures of a group and their scaled copies of one size.
    int64_t group = (int64_t)l->source_width * l->source_height * 3 / 2 * p->plan.gop * 2;
    int64_t count = sysconf(_SC_NPROCESSORS_ONLN);
    if (count > MAX_PICTURE_BYTES / group)
        count = MAX_PICTURE_BYTES / group;
    count = count > STORED_MAKER_MAX_THREADS ? STORED_MAKER_MAX_THREADS : count;
    return count < 1 ? 1 : (int)count;
}

// Returns a copy of the last picture. Copies pad the media to a whole period of the plan.
static struct picture *copy_of(const struct picture *last)
{
    struct picture *p = picture_new(last->width, last->height);
    struct scaler *s = p ? scaler_new() : NULL;
    if (s)
        (void)scaler_run(s, last, p); // the sizes are equal: a copy
    scaler_free(s);
    if (!s)
        picture_unref(p);
    return s ? p : NULL;
}

// Returns true if each picture of a group brings its own coded frame along, the first one an IDR.
static bool have_own(const struct prepare *p, int count)
{
    for (int i = 0; i < count; i++) {
        const struct coded_frame *f = p->pictures[i]->coded;
        if (!f || f->number != p->pictures[i]->number || (i == 0 && !f->key))
            return false;
    }
    return true;
}

// Notes where the film's clock jumps.
static int note_shift(struct prepare *p, const struct picture *picture, int64_t number)
{
    struct fps fps = p->source->fps;
    int64_t at = audio_samples(usec_of_frames(number, fps.num, fps.den));
    int64_t shift = audio_samples(picture->pts + picture->shift) - at;
    return stored_shifts_add(&p->shifts, at + AUDIO_AHEAD, shift);
}

// Reads the pictures of a group. Returns their number, 0 at the end of the file, or an error.
static int read_group(struct prepare *p, int64_t group)
{
    int count = 0, err = 0;
    while (count < p->plan.gop && !err &&
           (err = p->source->ops->next(p->source, &p->pictures[count])) == 0) {
        err = note_shift(p, p->pictures[count], group * p->plan.gop + count);
        count++;
    }
    // Frames that pass cannot be copied: the end of an incomplete period is left out.
    while (p->sdp.ladder.passes && err == ERR_END && count % p->plan.period)
        picture_unref(p->pictures[--count]);
    while (count % p->plan.period && err == ERR_END) {
        if ((p->pictures[count] = copy_of(p->pictures[count - 1])))
            count++;
        else
            err = ERR_NO_MEMORY;
    }
    if (p->sdp.ladder.passes && (!err || err == ERR_END) && !have_own(p, count))
        err = ERR_MALFORMED;
    for (int i = 0; i < count; i++)
        p->pictures[i]->number = group * p->plan.gop + i; // this is their only reference
    if (!err || err == ERR_END)
        return count;
    for (int i = 0; i < count; i++)
        picture_unref(p->pictures[i]);
    return err;
}

// Returns the number of source frames in an existing part, or ERR_IO.
static int frames_of(struct prepare *p, int64_t group)
{
    struct stored_record r;
    uint8_t *data;
    int64_t last = -1;
    int err;
    FILE *f = stored_part_read(p->folder, group);
    if (!f)
        return ERR_IO;
    while ((err = stored_part_next(f, &r, &data)) == 0) {
        last = r.at > last ? r.at : last;
        free(data);
    }
    fclose(f);
    // Any size with the full frame rate has the last frame of each period.
    return err == ERR_END && last >= 0 ? (int)(last - group * p->plan.gop) + 1 : ERR_IO;
}

// Seeks to a frame. If that fails, reopens the source at its beginning and returns false; *err: the
// result of source_open.
static bool seek_to(struct prepare *p, int64_t number, int *err)
{
    struct fps fps = p->source->fps;
    if (p->source->ops->seek &&
        p->source->ops->seek(p->source, usec_of_frames(number, fps.num, fps.den)) == 0)
        return true;
    source_free(p->source); // the attempt may have changed its position
    p->source = open_film(p, err);
    return false;
}

// Skips the groups of an earlier run. Returns the first missing group. *ended: no group is missing.
// *err: an error of source_open.
static int64_t find_begin(struct prepare *p, bool *ended, int *err)
{
    int64_t group = 0;
    while (stored_parts_has(p->folder, group))
        group++;
    if (!group)
        return 0;
    int last = frames_of(p, group - 1);
    if (last < 0)
        return 0;
    *ended = last < p->plan.gop;
    int64_t frames = (group - 1) * p->plan.gop + last;
    // Where a clock jumps is known only to those who read up to there.
    if (!*ended && p->source->clock_jumps)
        return 0;
    if (!*ended && !seek_to(p, frames, err))
        return 0;
    p->origin.frames = frames;
    log_info("continuing at %.0f s", (double)p->origin.frames / fps_value(p->source->fps));
    return group;
}

static int encode_all(struct prepare *p, int64_t *groups)
{
    bool ended = false;
    int err = 0;
    *groups = find_begin(p, &ended, &err);
    if (err)
        return err;
    p->progress = (struct prepare_progress){.before = p->origin.frames, .began = clock_now()};
    if (p->source->duration > 0)
        p->progress.total = llround(p->source->duration * fps_value(p->source->fps));
    struct stored_maker *maker =
        stored_maker_new(&p->sdp.ladder, &p->plan, p->sdp.codec, p->by_content ? p->finest : NULL,
                         p->folder, threads(p));
    err = maker ? 0 : ERR_IO;
    while (!err && !ended) {
        int count = read_group(p, *groups);
        if (count <= 0) {
            err = count;
            break;
        }
        ended = count < p->plan.gop;
        p->origin.frames = *groups * p->plan.gop + count;
        // Several threads encode, so an interrupted run may have finished a later group before an
        // earlier one.
        if (!stored_parts_has(p->folder, *groups))
            err = stored_maker_add(maker, *groups, p->pictures, count);
        else
            for (int i = 0; i < count; i++)
                picture_unref(p->pictures[i]);
        ++*groups;
        report_progress(p, p->origin.frames, clock_now());
    }
    if (maker && !err)
        err = stored_maker_wait(maker);
    stored_maker_free(maker);
    return err;
}

// Makes the parts of the audio tracks. Audio that does not decode is omitted. `tracks` has the
// names.
static int make_audio(struct prepare *p, struct stored_audio_tracks *tracks, struct stored_mux *mux)
{
    const char *option = p->options->audio;
    *tracks = (struct stored_audio_tracks){0};
    if (!option || strcmp(option, "none") != 0)
        stored_audio_list(p->name, audio_source_track(option), tracks);
    struct fps fps = p->source->fps;
    struct stored_audio_job job = {
        .path = p->name,
        .mix = p->options->mix,
        .origin = p->source->origin,
        .shifts = &p->shifts,
        .samples = audio_samples(usec_of_frames(p->origin.frames, fps.num, fps.den)),
        .folder = p->folder};
    for (int i = 0; i < tracks->count; i++) {
        int64_t part = job.part = STORED_AUDIO - i;
        job.number = tracks->of[i].number;
        int err = stored_parts_has(p->folder, part) ? 0 : stored_audio_make(&job);
        if (err < 0 && err != ERR_UNSUPPORTED)
            return err;
        if (err)
            continue;
        mux->audio[mux->audio_count].part = part;
        mux->audio[mux->audio_count++].name = tracks->of[i].name;
    }
    if (tracks->film_count > mux->audio_count)
        log_info("%s: left out: %d of %d audio tracks", p->name,
                 tracks->film_count - mux->audio_count, tracks->film_count);
    return 0;
}

// Makes the film's table for the file. A film that cannot have one is prepared without.
static int make_table(struct prepare *p, struct stored_mux *mux, uint8_t **table)
{
    struct film_table *t;
    int err = prepare_table(&p->sdp.ladder, &p->plan, p->folder, p->origin.frames, &t);
    if (err == ERR_RANGE)
        log_info("%s: left out: the table of its groups' sizes, as it is too long", p->name);
    if (err)
        return err == ERR_RANGE ? 0 : err;
    mux->table_bytes = film_table_encoded_bytes(t);
    *table = malloc(mux->table_bytes);
    if (*table)
        film_table_encode(t, *table);
    mux->table = *table;
    film_table_free(t);
    return *table ? 0 : ERR_NO_MEMORY;
}

static int make(struct prepare *p)
{
    int64_t groups;
    int err = encode_all(p, &groups);
    if (p->terminal)
        fputc('\n', stderr);
    if (err)
        return err;
    struct stored_audio_tracks tracks;
    struct stored_mux mux = {0};
    err = make_audio(p, &tracks, &mux);
    if (err)
        return err;
    p->sdp.duration = (double)p->origin.frames / fps_value(p->source->fps);
    stored_plan_end(&p->plan, &p->sdp.ladder, p->origin.frames);
    mux.sdp = &p->sdp;
    mux.plan = &p->plan;
    mux.origin = p->origin;
    mux.folder = p->folder;
    mux.groups = groups;
    mux.path = p->path;
    uint8_t *table = NULL;
    err = groups ? make_table(p, &mux, &table) : ERR_UNSUPPORTED;
    err = err ? err : stored_mux_run(&mux);
    free(table);
    if (!err)
        stored_parts_remove(p->folder);
    return err;
}

// Returns true if the film has audio that can be opened.
static bool has_audio(const char *name)
{
    int err;
    struct source *source = source_open(name, false, &err);
    struct audio_source *audio =
        source ? audio_source_open(NULL, source, name, audio_mix_default(), NULL, &err) : NULL;
    bool found = audio != NULL;
    audio_source_free(audio);
    source_free(source);
    return found;
}

bool prepare_film_is_done(const struct options *o, const char *name)
{
    char path[PATH_MAX];
    struct stat original, stored;
    int err;
    if (audio_source_track(o->audio)) // a prepared file does not tell which track it has
        return false;
    if (snprintf(path, sizeof(path), "%s" STORED_SUFFIX, name) >= (int)sizeof(path) ||
        stat(name, &original) != 0 || stat(path, &stored) != 0)
        return false;
    struct stored_file *f = stored_file_open(path, NULL, &err);
    if (!f)
        return false;
    struct options wanted = *o;
    bool silent = o->audio && strcmp(o->audio, "none") == 0;
    wanted.audio = NULL;
    const struct stored_info *info = stored_file_info(f);
    bool fits =
        !stream_open_unfit(info, &original, &wanted) &&
        (!o->fixed_ladder || info->has_own || prepare_levels_are_fixed(o, &info->sdp.ladder));
    bool audio = info->audio;
    stored_file_free(f);
    return fits && (silent ? !audio : audio || !has_audio(name));
}

static int run(const struct options *o, const char *name, const char *label, bool may_pass)
{
    struct prepare *p = calloc(1, sizeof(*p));
    if (!p)
        return ERR_NO_MEMORY;
    p->options = o;
    p->name = name;
    p->label = label;
    p->may_pass = may_pass;
    p->lock = -1;
    p->terminal = o->log.filter.level >= LOG_INFO && isatty(STDERR_FILENO);
    p->reported = clock_now();
    describe(p, 0);
    int err = open_source(p);
    err = err ? err : open_parts(p);
    if (!err)
        log_info("%s%s: %d levels of %d sizes into %s", label, name, p->sdp.ladder.level_count,
                 p->sdp.ladder.size_count, p->path);
    err = err ? err : make(p);
    if (!err)
        log_info("%s: %.1f s in %.1f s", p->path, p->sdp.duration,
                 usec_to_sec(clock_now() - p->progress.began));
    else if (!p->sdp.ladder.passes || err != ERR_MALFORMED)
        log_error("%s: not prepared (%s)", name, err_text(err));
    bool has_broken = p->sdp.ladder.passes && err == ERR_MALFORMED;
    source_free(p->source);
    pass_keys_free(&p->own.keys);
    stored_shifts_free(&p->shifts);
    if (p->lock >= 0)
        close(p->lock);
    free(p);
    return has_broken ? ERR_AGAIN : err;
}

int prepare_film(const struct options *o, const char *name, const char *label)
{
    int err = run(o, name, label, true);
    if (err != ERR_AGAIN)
        return err;
    log_warn("%s: its own video cannot be passed on as it is: a picture of it does not decode, "
             "stands, or has another shape; it is encoded again, from the beginning",
             name);
    return run(o, name, label, false);
}
