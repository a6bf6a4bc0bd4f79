// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/reference_tracker.h"

#include <stdlib.h>

// The state of one frame number of one size.
enum {
    SEEN = 1,   // it arrived whole
    INTACT = 2, // the frame and all frames it depends on arrived whole: it is sound (implies SEEN)
    FAILED = 4, // decoding it failed
    CLEAN = 8,  // it was decoded cleanly, or is being decoded
    KEY = 16,
    BASE = 32,  // temporal layer 0
    LOWER = 64, // depends on the next smaller size, too
};

// Cumulative: a size of which none of so many numbers arrived is not sent any more.
enum { LAYER_GONE = 8 };

struct entry {
    uint8_t flags;
    int32_t distance; // number - depends_on; 0 = depends on nothing
};

struct size_track {
    int64_t newest;      // highest number that arrived or was decoded; -1 none
    int64_t decoded;     // highest slot handed to the decoder; -1 none
    int reach;           // max distance from a frame's number to a later one it depends on
    int64_t intact_key;  // highest sound key frame; -1 none
    bool broken;         // a base-layer break is open
    int64_t broken_from; // the newest base-layer frame that is not sound
    struct entry window[REFERENCE_TRACKER_WINDOW];
};

struct reference_tracker {
    const struct ladder *ladder; // borrowed
    int decoding_size;           // of the last frame handed to the decoder; -1 none
    int arriving_size;           // the size that the stream is in; -1 none
    int64_t newest_slot;         // highest slot that arrived, in any size; -1 none
    bool waiting;                // for the open break's end, since
    usec_t waiting_since;
    bool asked; // a PLI went out for it
    usec_t asked_at;
    bool nacked; // ever, last at
    usec_t nacked_at;
    struct size_track sizes[LADDER_MAX_SIZES];
};

struct reference_tracker *reference_tracker_new(const struct ladder *ladder)
{
    struct reference_tracker *t = malloc(sizeof(*t));
    if (!t)
        return NULL;
    *t = (struct reference_tracker){
        .ladder = ladder, .decoding_size = -1, .arriving_size = -1, .newest_slot = -1};
    for (int i = 0; i < LADDER_MAX_SIZES; i++) {
        t->sizes[i].newest = -1;
        t->sizes[i].decoded = -1;
        t->sizes[i].intact_key = -1;
    }
    return t;
}

void reference_tracker_free(struct reference_tracker *t)
{
    free(t);
}

static struct entry *entry_of(struct size_track *s, int64_t number)
{
    if (number < 0 || number > s->newest || s->newest - number >= REFERENCE_TRACKER_WINDOW)
        return NULL;
    return &s->window[number % REFERENCE_TRACKER_WINDOW];
}

// The flags of a number; 0 for all that is not remembered.
static unsigned flags_of(const struct size_track *s, int64_t number)
{
    if (number < 0 || number > s->newest || s->newest - number >= REFERENCE_TRACKER_WINDOW)
        return 0;
    return s->window[number % REFERENCE_TRACKER_WINDOW].flags;
}

// The entry of `f`, after moving the window up to it; NULL when it is older than the window. A key
// frame that old means that the window had followed a number that was wrong: it goes back.
static struct entry *entry_make(struct size_track *s, const struct received_frame *f)
{
    int64_t number = f->number;
    if (f->key && s->newest - number >= REFERENCE_TRACKER_WINDOW) {
        s->newest = -1;
        s->intact_key = -1;
        s->broken = false;
    }
    if (number > s->newest) {
        int64_t from = s->newest + 1;
        if (number - from >= REFERENCE_TRACKER_WINDOW)
            from = number - REFERENCE_TRACKER_WINDOW + 1;
        for (int64_t n = from; n <= number; n++)
            s->window[n % REFERENCE_TRACKER_WINDOW] = (struct entry){0};
        s->newest = number;
    }
    struct entry *e = entry_of(s, number);
    if (e && !(e->flags & (SEEN | CLEAN))) {
        int64_t distance = f->depends_on < 0 ? 0 : number - f->depends_on;
        // One that far back is not remembered.
        e->distance =
            (int32_t)(distance < REFERENCE_TRACKER_WINDOW ? distance : REFERENCE_TRACKER_WINDOW);
        if (-distance > s->reach)
            s->reach = (int)-distance;
        e->flags = (uint8_t)((f->key ? KEY : 0) | (f->temporal_id == 0 ? BASE : 0) |
                             (f->on_lower ? LOWER : 0));
    }
    return e;
}

// The same in the stream's size; a number that goes back does so in all sizes of a picture.
static struct entry *make_entry(struct reference_tracker *t, const struct received_frame *f)
{
    struct size_track *s = &t->sizes[f->size_id];
    int64_t before = s->newest;
    struct entry *e = entry_make(s, f);
    for (int i = 1; t->ladder->cumulative && s->newest < before && i < LADDER_MAX_SIZES; i++)
        t->sizes[i].newest = t->sizes[i].intact_key = t->sizes[i].decoded = -1;
    return e;
}

bool reference_tracker_can_be(const struct ladder *ladder, const struct received_frame *f)
{
    int sizes = ladder->level_count > 0 ? ladder->size_count : LADDER_MAX_SIZES;
    return received_frame_is_possible(f) && f->size_id < sizes &&
           f->on_lower == (ladder->cumulative && f->size_id > 0);
}

static bool rests_on(const struct size_track *s, const struct entry *e, int64_t number,
                     unsigned flag)
{
    if (e->flags & KEY)
        return true;
    if ((e->flags & LOWER) && !(flags_of(s - 1, number) & flag))
        return false;
    if ((e->flags & LOWER) && e->distance == 0)
        return true;
    int64_t reference = number - e->distance;
    if (s->newest - reference >= REFERENCE_TRACKER_WINDOW)
        return e->flags & flag; // the reference was forgotten since: the earlier verdict is kept
    return e->distance != 0 && (flags_of(s, reference) & flag);
}

// In ascending order, so that what references point back to is judged before. False: nothing
// changed.
static bool judge_once(struct size_track *s, int64_t first)
{
    bool changed = false;
    for (int64_t n = first; n <= s->newest; n++) {
        struct entry *e = entry_of(s, n);
        if (!e)
            continue;
        bool audio = (e->flags & SEEN) && !(e->flags & FAILED) && rests_on(s, e, n, INTACT);
        bool clean = (e->flags & CLEAN) && !(e->flags & FAILED) && rests_on(s, e, n, CLEAN);
        uint8_t flags =
            (uint8_t)((e->flags & ~(INTACT | CLEAN)) | (audio ? INTACT : 0) | (clean ? CLEAN : 0));
        changed |= flags != e->flags;
        e->flags = flags;
    }
    return changed;
}

// Judges every frame from `number` on again, and those before it that may depend on it: a frame
// that fills a hole, or fails, changes the frames that depend on it. A reference that points
// forward needs a pass for each such step; there is at most one per layer.
static void judge_size(struct size_track *s, int64_t number)
{
    int64_t first = number - s->reach * LEVEL_MAX_LAYERS;
    int64_t oldest = s->newest - REFERENCE_TRACKER_WINDOW + 1;
    bool changed = true;
    for (int pass = 0; changed && pass <= LEVEL_MAX_LAYERS; pass++)
        changed = judge_once(s, first > oldest ? first : oldest) && s->reach;
}

// The same in all larger sizes, whose frames depend on those of this one.
static void judge(struct reference_tracker *t, struct size_track *s, int64_t number)
{
    judge_size(s, number);
    const struct size_track *end = t->sizes + t->ladder->size_count;
    for (s++; t->ladder->cumulative && s < end; s++)
        judge_size(s, number);
}

static int temporal_id_of(const struct reference_tracker *t, int size_id, int64_t number)
{
    if (size_id >= t->ladder->size_count)
        return -1;
    const struct size_spec *size = &t->ladder->sizes[size_id];
    int64_t m = size_index_of_frame(size->fps, t->ladder->source_fps, number);
    return m < 0 ? -1 : layer_temporal_id(m, size->layers);
}

// Returns true if `f`, which is not sound, shows that the base layer is broken. A frame of a higher
// layer does so only if it depends on a frame of layer 0: then the next frames are broken, too.
static bool shows_base_break(const struct reference_tracker *t, const struct received_frame *f)
{
    if (f->on_lower && f->depends_on < 0)
        return false;
    if (f->temporal_id == 0)
        return true;
    return f->depends_on >= 0 && temporal_id_of(t, f->size_id, f->depends_on) == 0;
}

// Brings the open break of a size up to date with the flags of its frames: it is over when a newer
// frame of layer 0 is sound.
static bool is_broken(const struct reference_tracker *t);

static void update_break(struct reference_tracker *t, struct size_track *s)
{
    int64_t stop = s->broken_from;
    if (s->newest - stop > REFERENCE_TRACKER_WINDOW)
        stop = s->newest - REFERENCE_TRACKER_WINDOW;
    for (int64_t n = s->newest; s->broken && n > stop; n--) {
        unsigned flags = flags_of(s, n);
        if ((flags & INTACT) && (flags & BASE))
            s->broken = false;
    }
    if (s->broken && (flags_of(s, s->broken_from) & INTACT))
        s->broken = false; // the missing frame it depends on arrived after all
    if (!s->broken && !is_broken(t))
        t->waiting = t->asked = false;
}

// The frames of larger sizes may depend on those of this one.
static void update_breaks(struct reference_tracker *t, struct size_track *s)
{
    update_break(t, s);
    const struct size_track *end = t->sizes + t->ladder->size_count;
    for (s++; t->ladder->cumulative && s < end; s++)
        update_break(t, s);
}

static void open_break(struct size_track *s, int64_t number)
{
    if (!s->broken || number > s->broken_from)
        s->broken_from = number;
    s->broken = true;
}

// Notes the size that the stream is in: that of a key frame that begins a size, and of a frame
// behind all others in decoding order. The second rule finds a size whose first key frame is lost;
// a frame of the previous size that arrives late does not bring that size back.
static void follow_stream(struct reference_tracker *t, const struct received_frame *f)
{
    int64_t slot = received_frame_slot(f);
    bool restarted = f->key && t->newest_slot - slot >= REFERENCE_TRACKER_WINDOW;
    if (f->on_lower)
        return;
    bool leads = slot > t->newest_slot || t->arriving_size < 0;
    if (leads || restarted)
        t->newest_slot = slot;
    if (t->arriving_size == f->size_id || !(leads || f->key))
        return;
    t->arriving_size = f->size_id;
    t->waiting = t->asked = false;
}

void reference_tracker_arrived(struct reference_tracker *t, const struct received_frame *f)
{
    struct size_track *s = &t->sizes[f->size_id];
    struct entry *e = make_entry(t, f);
    if (!e || (e->flags & SEEN))
        return;
    e->flags |= SEEN;
    judge(t, s, f->number);

    follow_stream(t, f);
    if (e->flags & INTACT) {
        if (f->key && f->number > s->intact_key)
            s->intact_key = f->number;
    } else if (shows_base_break(t, f)) {
        open_break(s, f->number);
    }
    update_breaks(t, s);
}

enum frame_verdict reference_tracker_verdict(const struct reference_tracker *t,
                                             const struct received_frame *f)
{
    const struct size_track *s = &t->sizes[f->size_id];
    bool follows = t->ladder->cumulative || f->size_id == t->decoding_size;
    int64_t back = s->decoded - received_frame_slot(f);
    if (follows && back >= 0 && (back < REFERENCE_TRACKER_WINDOW || !f->key))
        return FRAME_BROKEN; // H.264 decoding order never goes back, but after a restart of the
                             // numbers
    if (f->key)
        return FRAME_DECODABLE;
    bool lower = !f->on_lower || (flags_of(s - 1, f->number) & CLEAN);
    bool earlier = (f->on_lower && f->depends_on < 0) || (flags_of(s, f->depends_on) & CLEAN);
    return follows && lower && earlier ? FRAME_DECODABLE : FRAME_BROKEN;
}

// The decoder cannot use a frame although it and all frames it depends on arrived, because playout
// dropped one of these. From here on the arrivals' view is wrong: corrects it, and requests a key
// frame unless one is already waiting for the decoder.
static void found_broken(struct reference_tracker *t, int size_id, int64_t number)
{
    struct size_track *s = &t->sizes[size_id];
    struct entry *e = entry_of(s, number);
    if (!e)
        return;
    bool base = (e->flags & BASE) && !((e->flags & LOWER) && e->distance == 0);
    e->flags = (uint8_t)((e->flags | FAILED) & ~(INTACT | CLEAN));
    judge(t, s, number);
    if (!base || s->intact_key > number)
        return;
    open_break(s, number);
    // Frames of layer 0 behind it that rested on it are broken with it.
    for (int64_t n = s->newest; n > s->broken_from; n--) {
        unsigned flags = flags_of(s, n);
        if ((flags & BASE) && (flags & SEEN) && !(flags & INTACT))
            s->broken_from = n;
    }
    update_break(t, s);
}

enum frame_verdict reference_tracker_decoding(struct reference_tracker *t,
                                              const struct received_frame *f)
{
    enum frame_verdict verdict = reference_tracker_verdict(t, f);
    if (verdict == FRAME_BROKEN) {
        unsigned flags = flags_of(&t->sizes[f->size_id], f->number);
        if ((flags & INTACT) && !(flags & CLEAN))
            found_broken(t, f->size_id, f->number);
        return verdict;
    }
    struct size_track *s = &t->sizes[f->size_id];
    if (f->size_id != t->decoding_size && !t->ladder->cumulative) {
        for (int i = 0; i < LADDER_MAX_SIZES; i++) {
            if (t->sizes[i].newest < 0)
                continue;
            for (int k = 0; k < REFERENCE_TRACKER_WINDOW; k++)
                t->sizes[i].window[k].flags &= (uint8_t)~CLEAN;
            t->sizes[i].decoded = -1;
        }
        t->decoding_size = f->size_id;
    }
    struct entry *e = make_entry(t, f);
    if (e)
        e->flags |= CLEAN;
    s->decoded = received_frame_slot(f);
    return verdict;
}

void reference_tracker_failed(struct reference_tracker *t, int size_id, int64_t number)
{
    if (size_id >= 0 && size_id < LADDER_MAX_SIZES)
        found_broken(t, size_id, number);
}

static bool is_broken(const struct reference_tracker *t)
{
    if (!t->ladder->cumulative)
        return t->arriving_size >= 0 && t->sizes[t->arriving_size].broken;
    for (int i = 0; i < t->ladder->size_count; i++)
        if (t->sizes[i].broken && t->sizes[0].newest - t->sizes[i].newest < LAYER_GONE)
            return true;
    return false;
}

void reference_tracker_nacked(struct reference_tracker *t, usec_t now)
{
    t->nacked = true;
    t->nacked_at = now;
}

// When a PLI for the open break is due.
static usec_t pli_due(const struct reference_tracker *t, usec_t rtt)
{
    if (t->asked)
        return t->asked_at + usec_max(rtt, REFERENCE_TRACKER_MIN_PLI);
    usec_t repair = rtt + REFERENCE_TRACKER_REPAIR;
    bool repairing = t->nacked && t->nacked_at + repair > t->waiting_since;
    return t->waiting_since + (repairing ? repair : 0);
}

bool reference_tracker_pli(struct reference_tracker *t, usec_t rtt, usec_t now)
{
    if (!is_broken(t))
        return false;
    if (!t->waiting)
        t->waiting_since = now;
    t->waiting = true;
    if (now < pli_due(t, rtt))
        return false;
    t->asked = true;
    t->asked_at = now;
    return true;
}

usec_t reference_tracker_next_timeout(const struct reference_tracker *t, usec_t rtt)
{
    if (!is_broken(t))
        return USEC_NEVER;
    return t->waiting ? pli_due(t, rtt) : 0;
}
