// SPDX-License-Identifier: GPL-2.0-or-later
// A proxy's store of films: what passes is kept, group by group (stored_plan.h), and can be served
// without the origin.
//
//   Film.    The stream of a URL whose description has a validator (sdp.h, x-weir-origin). Another
//            validator is another film: the older one is removed.
//   Track.   The frames of one size, or the audio (stored_group.h). An object of the cache is a
//            film in one size: that track, and the audio.
//   Group.   PART lacks frames. WHOLE has every frame of the plan, but is not compared with the
//            origin yet. VERIFIED is the origin's, byte for byte: its SHA-256 is the one that the
//            origin names. Only verified groups are served.
//   Bound.   The files never have more than max_bytes. Room is made by removing the least recently
//            used objects, from their ends; the first `prefix` of each film leaves last, and what
//            is held never (eviction.h).
//   Crash.   A file is written under another name, synchronised and renamed. So it is there as a
//            whole or not at all, and its own SHA-256 is checked whenever it is read.
//   Errors.  If the disk is full or fails, storing stops (logged) for a minute. Two proxies on one
//            folder: the second does not store. A folder of another version, or one that is no
//            cache, is not touched.
//
// A thread reads and writes the files. Loop thread only, except store_source's `read`.
#ifndef WEIR_PROXY_STORE_STORE_H
#define WEIR_PROXY_STORE_STORE_H

#include <stdio.h>
#include <uv.h>

#include "common/base/decls.h"
#include "media/stored/stored_track.h"
#include "server/stored/group_source.h"

DECLS_BEGIN

struct store;
struct store_film;

enum group_state { GROUP_NONE, GROUP_PART, GROUP_WHOLE, GROUP_VERIFIED };

struct store_config {
    uv_loop_t *loop;    // borrowed
    const char *folder; // copied; made if it does not exist
    int64_t max_bytes;  // > 0
    double prefix;      // seconds of each film that leave last; 0: none
};

// Opens the folder and reads its list of files; blocks for a moment. Returns NULL if the folder
// cannot be used (logged): then nothing is stored.
struct store *store_new(const struct store_config *config);
// Waits until what was put is written. What still reads films holds them: the last release frees
// the store. The loop must run until its handles are closed. NULL is fine.
void store_free(struct store *s);

// ---- Films

// Returns the film of this URL and description, made if there is none, with one hold. NULL: it is
// not of a kind that can be stored (no validator, not H.264 of a prepared file), it contradicts the
// description of the same validator that came before, there are too many films, or no memory. Of
// too many, the least recently used one that is idle leaves: the next call may succeed. `url`: as
// requested of the origin, without a query.
struct store_film *store_open(struct store *s, const char *url, const struct sdp *sdp);
// Returns the film of this URL whose description was read or validated last, with one hold. NULL:
// none.
struct store_film *store_find(struct store *s, const char *url);
struct store_film *store_film_hold(struct store_film *f); // one more. NULL: no memory
void store_film_release(struct store_film *f);            // NULL is fine

// Iterates over the films: NULL: the first one. Returns NULL after the last. Not across a call that
// may add or remove films.
struct store_film *store_next(struct store *s, const struct store_film *after);

const char *store_film_url(const struct store_film *f);
const struct stored_info *store_film_info(const struct store_film *f); // while it is held
int store_film_sizes(const struct store_film *f);                      // number of sizes
int64_t store_film_groups(const struct store_film *f); // number of groups of the film
enum group_state store_film_group(const struct store_film *f, int track, int64_t group);
int64_t store_film_stored(const struct store_film *f, int track); // groups that are not GROUP_NONE
// Returns true if all groups of the size, and of the audio if the film has any, are verified.
bool store_film_is_complete(const struct store_film *f, int size_id);
// The origin has named this validator at `now`.
void store_film_validated(struct store_film *f, usec_t now);
usec_t store_film_validated_at(const struct store_film *f); // 0: not since the proxy started
// The origin's table of the film. Returns 0; ERR_NOT_FOUND: the origin has none; ERR_AGAIN: it was
// not asked yet. *out is valid while the film is held.
int store_film_table(const struct store_film *f, const struct film_table **out);
// Takes over the table, which is written later. NULL: the origin has none.
void store_film_set_table(struct store_film *f, struct film_table *table);
// For film_fetcher and film_filler.
struct store_fetch {
    usec_t after;     // not before this time
    int tries;        // in a row that brought nothing
    bool can_verify;  // the origin has named digests, the last time that it was asked
    bool is_wanted;   // all of its largest size, though no viewer has asked for it
    usec_t failed_at; // a viewer waited in vain for what was missing; 0: never
};
struct store_fetch *store_film_fetch(struct store_film *f);
// For origin_catalog: when a viewer asked for the film last; 0: never.
usec_t *store_film_asked(struct store_film *f);
// Returns how many groups of the film's start are its prefix (`store_config.prefix`).
int64_t store_film_prefix(const struct store_film *f);
// Returns true if all groups of the prefix are verified, in this size and with the audio; false if
// there is no prefix.
bool store_film_has_prefix(const struct store_film *f, int size_id);
// Returns the bytes of the bound that are left for films which are held now, if all others leave;
// 0 while nothing can be stored.
int64_t store_room(const struct store *s, usec_t now);
// Returns true if what comes of the film cannot be stored now: a put found no room and there is
// none yet, or the disk has failed.
bool store_film_is_full(const struct store_film *f, usec_t now);
// Someone views the size: it is the most recently used one now.
void store_film_use(struct store_film *f, int size_id);

// ---- Groups

// Adds what `g` has of a track to the stored group. `whole`: the origin has no more of it than
// this. It is written later; what cannot be stored is forgotten. Groups that are whole already are
// left alone.
void store_film_put(struct store_film *f, const struct stored_group *g, int track, bool whole);
// A group was written, verified, removed, or could not be written. One function per film and owner.
struct store_watch { // embedded; zero but for these two
    void (*on_change)(void *ctx, int track, int64_t group);
    void *ctx; // borrowed
    struct store_watch *next;
};
void store_film_watch(struct store_film *f, struct store_watch *w);
void store_film_unwatch(struct store_film *f, struct store_watch *w);
// A session that brings the film now, in order: those who need a group may wait for it.
struct store_flow { // embedded by its owner, which writes all but `next`
    int64_t group;  // that comes now
    int64_t end;    // the first group that it does not bring
    unsigned sizes; // that it brings; 0: none yet
    bool has_audio;
    double speed; // multiple of the film's own pace
    usec_t at;    // when something came last
    struct store_flow *next;
};
void store_film_join(struct store_film *f, struct store_flow *flow);
void store_film_leave(struct store_film *f, struct store_flow *flow);
const struct store_flow *store_film_flows(const struct store_film *f); // the first one
// Returns how many puts of the film are not written yet.
int store_film_pending(const struct store_film *f);
// The group's own digest, valid until the group changes; NULL: it is not WHOLE.
const struct stored_digest *store_film_digest(const struct store_film *f, int track, int64_t group);
// Gets the digest of a verified group. Returns false if it is not.
bool store_film_verified(const struct store_film *f, int track, int64_t group,
                         struct stored_digest *out);
// The origin's digest of a WHOLE group: if it is the group's own, that is verified; else removed.
void store_film_verify(struct store_film *f, int track, int64_t group,
                       const struct stored_digest *origin);
// Reads what is missing in a group that is not whole on the store's thread, then calls `done` on
// the loop with the film's frames that are missing, ascending; only while a store_watch with this
// ctx watches the film. Returns false if it cannot be asked now.
typedef void store_missing_fn(void *ctx, const int64_t *frames, int count);
bool store_film_missing(struct store_film *f, int track, int64_t group, store_missing_fn *done,
                        void *ctx);

// A source of the verified groups, in the sizes with a bit in `sizes` (bit 0: size 0); a size that
// is left out is not in its ladder, the levels are numbered from 0, and its validator names the
// sizes: for another proxy it is another film. It holds the film. Its `read` fails if the group is
// not verified, or the file was damaged: then the file is removed. NULL: no memory.
struct group_source *store_source_new(struct store_film *f, unsigned sizes);
// Its table is the part of the film's for its levels.
// A source of the whole film, in all sizes, while what is missing is fetched. It needs the filler
// until its cache is freed (stored_cache_free).
struct store_filler {
    // A reader needs the group now, or soon, in these sizes (never 0). Returns false if what is
    // missing of it will not come.
    bool (*need)(void *ctx, int64_t group, unsigned sizes);
    void *ctx; // borrowed
};
struct group_source *store_source_new_filled(struct store_film *f, struct store_filler *filler);

// Any thread; the caller holds the film. Reads a verified group's bytes, never others; returns what
// store_folder_read does. After ERR_MALFORMED or ERR_NOT_FOUND the caller calls
// store_film_damaged.
int store_film_read(struct store_film *f, int track, int64_t group, struct stored_bytes *out);
void store_film_damaged(struct store_film *f, int track, int64_t group);

// ---- What is stored

struct store_stats {
    int64_t bytes, max_bytes; // of all files
    int films;
    int objects;  // complete ones
    bool stopped; // the disk is full or failed
};
void store_read_stats(const struct store *s, struct store_stats *out);
// Prints a table of the folder's films to `out`; the folder may be in use. Returns 0, or an error
// that is logged.
int store_list(const char *folder, FILE *out);

DECLS_END
#endif
