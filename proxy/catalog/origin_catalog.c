// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/catalog/origin_catalog.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/rtsp/rtsp_link.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "common/wire/request_path.h"
#include "media/stored/stored_audio.h"
#include "proxy/catalog/origin_still.h"
#include "proxy/feed/film_fetcher.h"
#include "proxy/feed/film_filler.h"
#include "proxy/feed/upstream.h"
#include "server/stored/stored_media.h"

#define DESCRIBE_LIMIT (7 * USEC_PER_SEC) // viewers wait 8 s for a response, if none tells them to
// Third parties stop a stream's pipeline with the connection that has described it, unless another
// one has joined. So it stays open until the viewer's own session with the origin stands.
#define KEEP_LINK (2 * USEC_PER_SEC)
// A film that no viewer holds stays while its media has a session with the origin (relay_media.h).
#define LINGER_CHECK (250 * USEC_PER_MSEC)

// A viewer that has just asked brings the film's start: nothing else is fetched for so long.
#define LEAD        (1500 * USEC_PER_MSEC)
#define ROOM_FACTOR 1.2 // of the bytes that a film is expected to take

enum film_state { FILM_DESCRIBING, FILM_OPEN, FILM_LISTED, FILM_REFUSED };

struct film {
    struct film *next;
    struct origin_catalog *catalog;  // borrowed
    char path[REQUEST_URL_PATH_MAX]; // of the first request, with its query
    char via[VIA_MAX];               // towards the origin
    struct url url;
    enum film_state state;
    struct rtsp_link *link; // owned; while it is described, and shortly after
    struct timer *timer;    // owned; the limit, the end of the description, the end of the link
    bool is_over;           // the link has ended
    bool is_described;      // `sdp` is valid
    bool has_answered;      // the origin has refused
    struct sdp sdp;
    struct media_refusal refusal;
    char *list; // owned; FILM_LISTED: the path is of a folder of the origin
    struct catalog_hold *holds;
    struct store_film *stored;  // one hold; NULL: none
    bool is_cached;             // the stream is the stored film
    struct film_filler *filler; // owned; while what it lacks is fetched; NULL: it is complete
    unsigned sizes;             // complete: that were complete then, and that it has
    struct stream stream;       // FILM_OPEN
};

struct origin_catalog {
    struct catalog base; // first
    struct origin_catalog_config config;
    int film_count;
    struct film *films;           // owned
    struct film_fetcher *fetcher; // owned; NULL: nothing is stored
    struct origin_stills *stills; // owned
    char via[VIA_MAX];            // of requests of the proxy itself
    uint64_t hits;                // viewers that were served a stored film
    uint64_t saved;               // bytes that films which are closed have sent from the store
    uint64_t filled;              // bytes that their fillers have fetched
    struct film_origin origin;    // of what is fetched
};

// ---- Holds

static void hold_film(struct catalog_hold *h, struct film *f)
{
    h->film = f;
    h->next = f->holds;
    f->holds = h;
}

static void close_film(struct film *f)
{
    struct origin_catalog *s = f->catalog;
    struct film **at = &s->films;
    assert(!f->holds);
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    s->film_count--;
    rtsp_link_free(f->link);
    timer_free(f->timer);
    if (f->state == FILM_OPEN) {
        if (f->is_cached)
            s->saved += f->stream.ended_octets;
        stream_close_stats(&f->stream);
        stream_destroy(&f->stream);
    }
    if (f->filler)
        s->filled += film_filler_bytes(f->filler);
    film_filler_free(f->filler, clock_now()); // after the stream, which reads with it
    store_film_release(f->stored);
    if (s->fetcher)
        film_fetcher_wake(s->fetcher, clock_now());
    free(f->list);
    free(f);
}

// Returns true if a session with the origin goes on without viewers.
static bool is_running(const struct film *f)
{
    return f->state == FILM_OPEN && !f->is_cached && relay_media_is_open(f->stream.media);
}

static void origin_leave(struct catalog *c, struct catalog_hold *h)
{
    (void)c;
    struct film *f = h->film;
    if (!f)
        return;
    struct catalog_hold **at = &f->holds;
    while (*at != h)
        at = &(*at)->next;
    *at = h->next;
    h->film = NULL;
    if (f->holds)
        return;
    if (is_running(f))
        timer_set(f->timer, clock_now() + LINGER_CHECK);
    else
        close_film(f);
}

// Makes room for another film: closes one that has no viewers.
static void close_idle(struct origin_catalog *s)
{
    struct film *f = s->films;
    while (f && f->holds)
        f = f->next;
    if (f)
        close_film(f);
}

// ---- The description

static void refuse_film(struct film *f, int status, const char *text)
{
    f->state = FILM_REFUSED;
    f->refusal.status = status;
    snprintf(f->refusal.text, sizeof(f->refusal.text), "%s", text);
}

static int init_stream(struct film *f, struct stream_media *media)
{
    const struct origin_catalog_config *config = &f->catalog->config;
    stream_init(&f->stream, media, NULL);
    f->stream.viewer_timeout = config->viewer_timeout;
    f->stream.max_viewers = config->max_viewers;
    f->stream.transports = config->transports;
    f->stream.only_these = config->only_these;
    f->stream.queue = config->queue;
    f->stream.queue_bytes = config->queue_bytes;
    f->stream.book = &f->catalog->base.book;
    int err = stream_start(&f->stream, config->loop);
    if (err)
        stream_destroy(&f->stream);
    else
        f->state = FILM_OPEN;
    return err;
}

// ---- Stored films

static unsigned complete_sizes(const struct store_film *stored)
{
    unsigned sizes = 0;
    for (int i = 0; i < store_film_sizes(stored); i++)
        sizes |= (unsigned)store_film_is_complete(stored, i) << i;
    return sizes;
}

// Returns "?level=N" of the path, or "".
static const char *level_query(const char *path)
{
    const char *query = strstr(path, "?level=");
    return query ? query : "";
}

// The level that a viewer begins with: that of ?level=N, or the highest.
static int first_level(const char *path, const struct ladder *l)
{
    const char *query = level_query(path);
    long level = *query ? strtol(query + strlen("?level="), NULL, 10) : l->level_count;
    return level >= 0 && level < l->level_count ? (int)level : l->level_count - 1;
}

static int first_size(const struct store_film *stored, const char *path)
{
    const struct ladder *l = &store_film_info(stored)->sdp.ladder;
    return l->levels[first_level(path, l)].size_id;
}

// Returns true if a request of this path can be served from the store. A level that the path names
// must keep its number: then all levels below it must be there too.
static bool is_stored(const struct store_film *stored, const char *path)
{
    if (!stored)
        return false;
    const struct ladder *l = &store_film_info(stored)->sdp.ladder;
    int first = first_level(path, l);
    bool is_there = store_film_is_complete(stored, l->levels[first].size_id);
    for (int level = 0; *level_query(path) && level < first; level++)
        is_there &= store_film_is_complete(stored, l->levels[level].size_id);
    return is_there;
}

// The same while the origin is away: then a viewer that names no level gets what there is.
static bool is_stored_at_all(const struct store_film *stored, const char *path)
{
    return *level_query(path) ? is_stored(stored, path) : stored && complete_sizes(stored);
}

static void note_use(const struct film *f)
{
    if (f->filler)
        store_film_use(f->stored, first_size(f->stored, f->path));
    for (int i = 0; f->is_cached && !f->filler && i < store_film_sizes(f->stored); i++)
        if (store_film_is_complete(f->stored, i))
            store_film_use(f->stored, i);
}

// Serves f->stored in the sizes that are complete. Returns 0 or an error.
static int open_stored(struct film *f)
{
    f->sizes = complete_sizes(f->stored);
    struct group_source *source = store_source_new(f->stored, f->sizes);
    struct stored_cache *cache = source ? stored_cache_new_of(source) : NULL;
    struct stream_media *media = cache ? stored_media_new(cache, false, true) : NULL;
    int err = media ? init_stream(f, media) : ERR_NO_MEMORY;
    if (err)
        return err;
    f->is_cached = true;
    note_use(f);
    log_info("%s is served from the cache", f->path);
    return 0;
}

// ---- Films that are filled while they are viewed

// Returns the bytes that a film lacks of a size, about.
static double bytes_missing(const struct store_film *stored, int size)
{
    const struct ladder *l = &store_film_info(stored)->sdp.ladder;
    double bps = 0;
    int64_t groups = 0;
    for (int i = 0; i < l->level_count; i++)
        if (l->levels[i].size_id == size && l->levels[i].bitrate_bps > bps)
            bps = l->levels[i].bitrate_bps;
    for (int64_t group = 0; group < store_film_groups(stored); group++)
        groups += store_film_group(stored, size, group) == GROUP_NONE;
    return (bps + STORED_AUDIO_BPS) / 8 * stored_plan_seconds(l) * (double)groups * ROOM_FACTOR;
}

// Returns true if what is fetched of the film can be stored, next to those that are being filled.
static bool has_room(const struct origin_catalog *s, const struct store_film *stored, int size,
                     usec_t now)
{
    double bytes = bytes_missing(stored, size);
    for (const struct film *f = s->films; f; f = f->next)
        if (f->filler && f->stored != stored)
            bytes += bytes_missing(f->stored, first_size(f->stored, f->path));
    return bytes <= (double)store_room(s->config.store, now);
}

// Returns true if the film is the one that viewers get relayed, or filled, and some do.
static bool is_viewed(const struct origin_catalog *s, const struct store_film *stored, bool filled)
{
    for (const struct film *f = s->films; f; f = f->next)
        if (f->stored == stored && f->state == FILM_OPEN && f->holds &&
            (filled ? f->filler != NULL : !f->is_cached))
            return true;
    return false;
}

// Returns true if a request of this path is served from the store while the rest is fetched: its
// prefix is stored, or another viewer has requested it shortly before and is being served.
static bool is_fillable(const struct film *f, const char *path, usec_t now)
{
    const struct origin_catalog *s = f->catalog;
    struct store_film *stored = f->stored;
    if (!stored || (!s->config.share && !s->config.has_prefix))
        return false;
    int size = first_size(stored, path);
    usec_t failed = store_film_fetch(stored)->failed_at, asked = *store_film_asked(stored);
    // A proxy that does not store the film names no digests, so nothing of it can be verified.
    bool can_verify = store_film_fetch(stored)->can_verify || !*store_film_info(stored)->sdp.via;
    bool several = f->state == FILM_DESCRIBING && f->holds && f->holds->next; // at once
    bool joins = s->config.share > 0 && can_verify &&
                 (several || is_viewed(s, stored, true) ||
                  (is_viewed(s, stored, false) && asked && now - asked <= s->config.share));
    return (joins || store_film_has_prefix(stored, size)) &&
           (!failed || now - failed > FILM_FILLER_PAUSE) && !store_film_is_full(stored, now) &&
           has_room(s, stored, size, now);
}

// Serves f->stored, and fetches what viewers need of it. Returns 0 or an error.
static int open_filled(struct film *f, usec_t now)
{
    struct origin_catalog *s = f->catalog;
    bool leads = is_viewed(s, f->stored, false) && now - *store_film_asked(f->stored) < LEAD;
    struct film_filler_config config = {.origin = &s->origin,
                                        .film = f->stored,
                                        .speed = s->config.fill_speed,
                                        .outage = s->config.choices->outage,
                                        .after = leads ? now + LEAD : now};
    f->filler = film_filler_new(&config);
    struct group_source *source =
        f->filler ? store_source_new_filled(f->stored, film_filler_base(f->filler)) : NULL;
    struct stored_cache *cache = source ? stored_cache_new_of(source) : NULL;
    struct stream_media *media = cache ? stored_media_new(cache, false, true) : NULL;
    int err = media ? init_stream(f, media) : ERR_NO_MEMORY;
    if (err) {
        film_filler_free(f->filler, now);
        f->filler = NULL;
        return err;
    }
    f->is_cached = true;
    note_use(f);
    log_info("%s is served from the cache while it is filled", f->path);
    return 0;
}

// Opens what is stored of the film for a request. Returns false if it must be relayed.
static bool open_from_store(struct film *f, usec_t now)
{
    if (is_stored(f->stored, f->path))
        return open_stored(f) == 0;
    return is_fillable(f, f->path, now) && open_filled(f, now) == 0;
}

static void note_request(struct film *f, usec_t now)
{
    if (f->stored)
        *store_film_asked(f->stored) = now;
}

// The description came: the film that it describes is recorded, or served.
static void find_stored(struct film *f, usec_t now)
{
    struct origin_catalog *s = f->catalog;
    if (!s->config.store)
        return;
    store_film_release(f->stored);
    f->stored = store_open(s->config.store, f->url.text, &f->sdp);
    if (f->stored)
        store_film_validated(f->stored, now);
}

static bool is_busy(void *ctx, struct store_film *stored)
{
    const struct origin_catalog *s = ctx;
    bool is_wanted = store_film_fetch(stored)->is_wanted; // in idle time
    for (const struct film *f = s->films; f; f = f->next)
        if ((f->stored == stored || is_wanted) && f->state == FILM_OPEN &&
            (!f->is_cached || f->filler))
            return true;
    return false;
}

static void open_film(struct film *f, usec_t now)
{
    const struct origin_catalog_config *config = &f->catalog->config;
    struct stream_media *media;
    if (open_from_store(f, now))
        return;
    struct relay_media_config of = {.choices = config->choices,
                                    .url = &f->url,
                                    .sdp = &f->sdp,
                                    .via = f->via,
                                    .film = f->stored};
    int err = relay_media_new(&of, &media);
    if (err == ERR_MALFORMED)
        refuse_film(f, 502, "origin: its description has no levels");
    else if (err == ERR_UNSUPPORTED)
        refuse_film(f, 415, "the stream has no frames, which is all that a proxy passes on");
    else if (err)
        refuse_film(f, 503, err_text(err));
    if (err || init_stream(f, media) != 0)
        return;
    log_info("%s is described: %s", f->path, f->url.text);
}

// The film is open: its description's link ends, and then, without viewers, the film.
static void on_open_timer(struct film *f, usec_t now)
{
    rtsp_link_free(f->link);
    f->link = NULL;
    if (f->holds)
        return;
    if (is_running(f))
        timer_set(f->timer, now + LINGER_CHECK);
    else
        close_film(f);
}

// Returns false if there is nothing that a viewer could begin with.
static bool open_without_origin(struct film *f, usec_t now)
{
    if (is_stored_at_all(f->stored, f->path))
        return open_stored(f) == 0;
    return f->stored && store_film_has_prefix(f->stored, first_size(f->stored, f->path)) &&
           open_from_store(f, now);
}

// The description came, or will not: notifies the viewers that wait.
static void on_timer(void *ctx, usec_t now)
{
    struct film *f = ctx;
    if (f->state == FILM_OPEN) {
        on_open_timer(f, now);
        return;
    }
    if (f->state == FILM_LISTED) {
        rtsp_link_free(f->link);
        f->link = NULL;
    } else if (f->is_described) {
        find_stored(f, now);
        open_film(f, now);
    } else if (!f->has_answered && open_without_origin(f, now)) {
        log_warn("%s: the origin cannot be reached: %s", f->path,
                 f->is_over ? f->refusal.text : "no answer in time");
        store_film_validated(f->stored, now); // it is asked again as late as if it had answered
    } else if (!f->is_over && rtsp_client_is_told_to_wait(rtsp_link_client(f->link))) {
        return; // its own limit ends the link
    } else if (!f->is_over) {
        refuse_film(f, 504, "origin: no answer in time");
    } else {
        f->state = FILM_REFUSED;
    }
    if (f->state == FILM_OPEN)
        timer_set(f->timer, now + KEEP_LINK);
    if (f->state == FILM_REFUSED)
        log_info("%s is refused: %d %s", f->path, f->refusal.status, f->refusal.text);
    note_request(f, now);
    for (struct catalog_hold *h = f->holds; h; h = h->next) {
        f->catalog->hits += f->is_cached;
        h->on_ready(h->ctx, now);
    }
}

static void settle(struct film *f, usec_t now)
{
    f->is_over = true;
    timer_set(f->timer, now); // the link cannot be freed in its own call
}

// The description is all that is requested: no SETUP follows.
static bool on_described(void *ctx, const struct sdp *sdp, const char **why, usec_t now)
{
    struct film *f = ctx;
    f->sdp = *sdp;
    f->is_described = true;
    *why = "";
    settle(f, now);
    return false;
}

static void on_list(void *ctx, struct text list, usec_t now)
{
    (void)now;
    struct film *f = ctx;
    f->list = malloc(list.len + 1);
    if (!f->list) {
        refuse_film(f, 503, err_text(ERR_NO_MEMORY));
        return;
    }
    if (list.len)
        memcpy(f->list, list.at, list.len);
    f->list[list.len] = '\0';
    f->state = FILM_LISTED;
}

static void on_end(void *ctx, enum rtsp_client_end end, const char *text, usec_t now)
{
    struct film *f = ctx;
    f->has_answered = rtsp_client_status(rtsp_link_client(f->link)) != 0;
    if (!f->is_described && f->state == FILM_DESCRIBING)
        upstream_refusal(end, rtsp_client_status(rtsp_link_client(f->link)), text, &f->refusal);
    settle(f, now);
}

// No SETUP is sent, so these are not called.
static const struct rtsp_link_ops link_ops = {
    .rtsp = {.on_described = on_described, .on_list = on_list, .on_end = on_end}};

// ---- Requests

static int refuse(struct catalog_hold *h, int status, const char *text)
{
    h->refusal.status = status;
    snprintf(h->refusal.text, sizeof(h->refusal.text), "%s", text);
    return CATALOG_REFUSED;
}

static int refuse_path(struct catalog_hold *h, const struct origin_rules *rules, int err)
{
    if (err == ERR_UNSUPPORTED)
        return refuse(h, 403,
                      "the proxy does not relay that host (--allow names those that it does)");
    return refuse(h, 404,
                  rules->has_origin ? "no such stream"
                                    : "no such stream: expected rtsp://PROXY/HOST[:PORT]/PATH");
}

static void add_film(struct origin_catalog *s, struct film *f)
{
    f->next = s->films;
    s->films = f;
    s->film_count++;
}

// Returns true if there is a stored film, and its origin need not be asked.
static bool is_fresh(const struct origin_catalog *s, const struct film *f, usec_t now)
{
    usec_t validated = f->stored ? store_film_validated_at(f->stored) : 0;
    return validated && now < validated + s->config.validate;
}

static int refuse_loop(struct catalog_hold *h, int err)
{
    return refuse(h, 502,
                  err == ERR_AGAIN ? "loop: the request has passed this proxy already"
                                   : "loop: the request has passed too many proxies");
}

static int describe_film(struct origin_catalog *s, const char *path, struct catalog_hold *h)
{
    usec_t now = clock_now();
    struct film *f = calloc(1, sizeof(*f));
    if (!f)
        return ERR_NO_MEMORY;
    f->catalog = s;
    int err = origin_url_of(s->config.rules, path, &f->url);
    if (err || strlen(path) >= sizeof(f->path)) {
        free(f);
        return refuse_path(h, s->config.rules, err);
    }
    (void)via_append(h->via, s->config.name, f->via); // origin_take has checked it
    // Each connection holds one film at most, so no viewer can take those of others.
    if (s->film_count >= s->config.max_viewers)
        close_idle(s);
    if (s->film_count >= s->config.max_viewers) {
        free(f);
        return ERR_FULL;
    }
    snprintf(f->path, sizeof(f->path), "%s", path);
    f->stored = s->config.store ? store_find(s->config.store, f->url.text) : NULL;
    f->timer = timer_new(s->config.loop, on_timer, f);
    if (f->timer && is_fresh(s, f, now) && open_from_store(f, now)) {
        note_request(f, now);
        add_film(s, f);
        hold_film(h, f);
        s->hits++;
        return 0;
    }
    struct rtsp_client_config rtsp = {.url = f->url,
                                      .transports = s->config.choices->backbone,
                                      .may_follow = origin_url_may_follow,
                                      .follow_ctx = s->config.rules,
                                      .via = f->via};
    struct rtsp_link_config link = {
        .loop = s->config.loop, .rtsp = &rtsp, .cc = "", .ops = &link_ops, .ctx = f};
    f->link = f->timer ? rtsp_link_new(&link, now) : NULL;
    if (!f->link) {
        timer_free(f->timer);
        store_film_release(f->stored);
        free(f);
        return ERR_NO_MEMORY;
    }
    timer_set(f->timer, now + DESCRIBE_LIMIT);
    add_film(s, f);
    hold_film(h, f);
    return CATALOG_WAITS;
}

// Returns true if a viewer who asks for `path`, which is `url` at the origin, may have the film.
static bool is_shared(const struct film *f, const char *path, const struct url *url)
{
    if (f->state == FILM_REFUSED || f->state == FILM_LISTED || strcmp(f->url.text, url->text) != 0)
        return false;
    // A stored film has only its complete sizes; of one that is relayed or filled, the next viewer
    // may be served what was completed meanwhile.
    usec_t now = clock_now();
    bool stored = f->state == FILM_OPEN && is_stored(f->stored, path);
    bool filled = f->state == FILM_OPEN && !stored && is_fillable(f, path, now);
    if (f->state == FILM_OPEN &&
        ((stored || filled) != f->is_cached || filled != (f->filler != NULL)))
        return false;
    if (f->is_cached &&
        ((stored && f->sizes != complete_sizes(f->stored)) || !is_fresh(f->catalog, f, now)))
        return false;
    // It may be served in some sizes, which are numbered from 0 unless the path names a level.
    if (f->state == FILM_DESCRIBING && f->stored &&
        strcmp(level_query(f->path), level_query(path)) != 0)
        return false;
    return !(f->state == FILM_OPEN && !f->is_cached && relay_media_is_stale(f->stream.media));
}

static int origin_take(struct catalog *c, const char *url_path, struct catalog_hold *h, bool only,
                       struct stream **out)
{
    struct origin_catalog *s = (struct origin_catalog *)c;
    struct film *f = h->film;
    int err;
    struct url url;
    bool is_url = origin_url_of(s->config.rules, url_path, &url) == 0;
    bool is_same = f && ((is_url && strcmp(f->url.text, url.text) == 0) ||
                         origin_url_is_same(f->path, url_path));
    if (f && !is_same) {
        if (only)
            return refuse(h, 404, "the session is of another stream");
        origin_leave(c, h);
    }
    // Before a film is shared: one that waits for a request of this proxy would wait for itself.
    char via[VIA_MAX];
    if (!h->film && is_url && (err = via_append(h->via, s->config.name, via)) != 0)
        return refuse_loop(h, err);
    for (f = s->films; f && !h->film && is_url; f = f->next)
        if (is_shared(f, url_path, &url)) {
            hold_film(h, f);
            s->hits += f->is_cached;
            note_use(f);
            note_request(f, clock_now());
        }
    if (!h->film && (err = describe_film(s, url_path, h)) != 0)
        return err;
    f = h->film;
    if (f->state == FILM_DESCRIBING)
        return CATALOG_WAITS;
    if (f->state == FILM_LISTED)
        return ERR_END; // origin_list follows
    if (f->state == FILM_OPEN) {
        *out = &f->stream;
        return 0;
    }
    int result = refuse(h, f->refusal.status, f->refusal.text);
    origin_leave(c, h);
    return result;
}

// Gives the lines that fit of the list that `take` got of the origin.
static int origin_list(struct catalog *c, struct catalog_hold *h, char *out, size_t cap, int *count)
{
    const struct film *f = h->film;
    if (!f || f->state != FILM_LISTED)
        return ERR_NOT_FOUND;
    size_t len = 0;
    *count = 0;
    for (const char *at = f->list, *next; *at; at = next, ++*count) {
        next = at + strcspn(at, "\n");
        next += *next == '\n';
        if ((size_t)(next - f->list) < cap)
            len = (size_t)(next - f->list);
    }
    memcpy(out, f->list, len);
    out[len] = '\0';
    origin_leave(c, h);
    return 0;
}

static struct stream_media *origin_still(struct catalog *c, struct still_wish *w, int *err)
{
    struct origin_catalog *s = (struct origin_catalog *)c;
    char path[REQUEST_URL_PATH_MAX], via[VIA_MAX];
    struct url url;
    struct catalog_hold why = {0};
    *err = via_append(w->via, s->config.name, via);
    if (*err)
        (void)refuse_loop(&why, *err);
    int len = *err ? 0 : request_path_encode(w->path, path, sizeof(path));
    if (len > 0)
        len += w->at < 0 ? snprintf(path + len, sizeof(path) - (size_t)len, "?small")
                         : snprintf(path + len, sizeof(path) - (size_t)len, "?small&t=%" PRId64,
                                    w->at / USEC_PER_SEC);
    if (!*err) {
        *err = len <= 0 || len >= (int)sizeof(path) ? ERR_NOT_FOUND
                                                    : origin_url_of(s->config.rules, path, &url);
        if (*err)
            (void)refuse_path(&why, s->config.rules, *err);
    }
    w->refusal = why.refusal;
    if (*err) {
        *err = CATALOG_REFUSED;
        return NULL;
    }
    *err = ERR_NO_MEMORY;
    return origin_still_new(s->stills, &url, via);
}

// ---- Stats and life

static void origin_stats(struct catalog *c, struct stats *out, session_stats_fn *each, void *ctx,
                         usec_t now)
{
    struct origin_catalog *s = (struct origin_catalog *)c;
    const struct origin_rules *rules = s->config.rules;
    utf8_copy(rules->has_origin ? rules->origin.text : "origins", out->source, sizeof(out->source));
    catalog_begin_stats(c, out);
    struct store_stats store = {0};
    if (s->config.store)
        store_read_stats(s->config.store, &store);
    out->cache = (struct cache_stats){.is_used = s->config.store,
                                      .hits = s->hits,
                                      .saved_bytes = s->saved,
                                      .bytes = (double)store.bytes,
                                      .max_bytes = (double)store.max_bytes,
                                      .films = store.films,
                                      .objects = store.objects,
                                      .stopped = store.stopped};
    if (s->fetcher) {
        struct film_fetcher_stats fetched;
        film_fetcher_read(s->fetcher, &fetched);
        out->cache.fetched_bytes = fetched.bytes + s->filled;
    }
    for (struct film *f = s->films; f; f = f->next) {
        int before = out->session_count;
        if (f->state != FILM_OPEN)
            continue;
        if (f->filler)
            out->cache.fetched_bytes += film_filler_bytes(f->filler);
        stream_collect_stats(&f->stream, f->path, out, each, ctx, now);
        if (f->is_cached)
            out->cache.saved_bytes += f->stream.ended_octets;
        for (int i = before; f->is_cached && i < out->session_count; i++)
            out->cache.saved_bytes += out->sessions[i].octets + out->sessions[i].audio_octets;
    }
}

static void origin_free(struct catalog *c)
{
    struct origin_catalog *s = (struct origin_catalog *)c;
    film_fetcher_free(s->fetcher, clock_now());
    s->fetcher = NULL;
    while (s->films)
        close_film(s->films);
    origin_stills_free(s->stills);
    free(s);
}

struct catalog *origin_catalog_new(const struct origin_catalog_config *config)
{
    static const struct catalog_ops ops = {.take = origin_take,
                                           .leave = origin_leave,
                                           .list = origin_list,
                                           .still = origin_still,
                                           .stats = origin_stats,
                                           .free = origin_free};
    struct origin_catalog *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->base.ops = &ops;
    s->base.items = "stream";
    s->config = *config;
    s->stills = origin_stills_new(config->loop, config->rules, &config->choices->backbone);
    if (!s->stills) {
        free(s);
        return NULL;
    }
    if (!config->store)
        return &s->base;
    (void)via_append("", config->name, s->via);
    s->origin = (struct film_origin){.loop = config->loop,
                                     .transports = config->fetch_transports,
                                     .rules = config->rules,
                                     .via = s->via};
    struct film_fetcher_config fetcher = {.origin = s->origin,
                                          .store = config->store,
                                          .bps = config->fetch_bps,
                                          .is_busy = is_busy,
                                          .ctx = s};
    s->fetcher = film_fetcher_new(&fetcher);
    if (!s->fetcher) {
        origin_stills_free(s->stills);
        free(s);
        return NULL;
    }
    film_fetcher_wake(s->fetcher, clock_now());
    return &s->base;
}
