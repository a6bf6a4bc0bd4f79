// SPDX-License-Identifier: GPL-2.0-or-later
// Fetches what the store lacks of a part of a film, in one session with its origin: of one size,
// with the audio.
//
//   1. The frames and the audio that are missing in the groups `from` .. `to` - 1 are listed, as
//      far as a request can have them; those only are requested (`only`, frame_ranges.h).
//   2. What comes is stored, and verified group by group (upstream.h).
//   3. After the origin's BYE, or when the store has no more room: until nothing of it is left to
//   be
//      written or verified.
//
// An origin that sends more than it announced is left (run_limit.h). Loop thread only.
#ifndef WEIR_PROXY_FEED_FILM_RUN_H
#define WEIR_PROXY_FEED_FILM_RUN_H

#include "common/base/decls.h"
#include "common/protocol/transport_names.h"
#include "proxy/policy/origin_url.h"
#include "proxy/store/store.h"

DECLS_BEGIN

struct film_run; // opaque

// What all sessions that fetch have in common. The pointers are borrowed.
struct film_origin {
    uv_loop_t *loop;
    const struct transport_list *transports;
    const struct origin_rules *rules; // only films of these origins are fetched
    const char *via;                  // value of the Via header for the origin
};

struct film_run_config {
    const struct film_origin *origin; // borrowed
    struct store_film *film;          // held by the run
    int size;
    int64_t from, to; // groups; from < to
    double speed;     // multiple of the film's pace; limited to what PLAY can have
};

// Returns true if a viewer could request the film of its origin now, and its URL with the origin's
// credentials.
bool film_run_url(const struct origin_rules *rules, const struct store_film *film, struct url *out);

struct film_run *film_run_new(const struct film_run_config *config, usec_t now); // NULL: no memory
void film_run_free(struct film_run *r, usec_t now);                              // NULL is fine
const struct film_run_config *film_run_of(const struct film_run *r);
// Returns true if the run has ended. *why: NULL if the origin has sent all that it sends, else a
// clause for people.
bool film_run_is_over(const struct film_run *r, const char **why);

struct film_run_stats {
    int64_t group;          // that comes now
    uint64_t frames, bytes; // of video
    uint64_t brought;       // frames and audio packets that came, and groups that were verified
    bool verified;          // a group was
};
void film_run_read(const struct film_run *r, struct film_run_stats *out);

DECLS_END
#endif
