// SPDX-License-Identifier: GPL-2.0-or-later
// Many HTTP viewers in one process, on one loop: each follows HLS playlists over a connection of
// its own as a player does, and decodes nothing. For edge.py.
//   bench_edge_client CACHE[,CACHE...] PATH VIEWERS SECONDS parts|segments PER_SECOND
// CACHE is ADDR:PORT; PATH is the multivariant playlist's. PER_SECOND viewers start each second.
// Prints "playing" when all of them play. SIGUSR1 begins the measurement; SECONDS later it prints
// "end", and after a second the results, a JSON object on one line.
//
// A viewer takes the variant of the lowest bandwidth, starts HOLD-BACK (PART-HOLD-BACK) before the
// end of the playlist, and from then on reloads the playlist (blocking if the server can) and
// fetches what is new. Its clock plays from when it has what was listed at its start. A stall is
// when the clock comes to the end of what the viewer has. The viewers begin with different caches;
// when one fails, they turn to the next after a short pause.
//
// Each media object's bytes are compared with those that another viewer got under that URL.
#include <arpa/inet.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <uv.h>

#include "common/base/err.h"
#include "common/base/hist.h"
#include "common/base/rng.h"
#include "common/net/clock.h"
#include "edge/playlist.h"

enum {
    MAX_CACHES = 8,
    READ_BYTES = 256 * 1024,
    MAX_HEAD = 8 * 1024,
    MAX_TEXT = 512 * 1024, // of a playlist
    OBJECTS = 256,         // media objects that are remembered
    LISTS = 64,            // decoded playlists that are remembered
    MAX_START_TRIES = 10,
    TICK_MS = 10,
};
static const usec_t CONNECT_WITHIN = 5 * USEC_PER_SEC;
static const usec_t RESPOND_WITHIN = 15 * USEC_PER_SEC; // more than a blocking reload takes
static const usec_t RETRY_MIN = USEC_PER_SEC / 20;
static const usec_t RETRY_SPREAD = USEC_PER_SEC / 10;
static const usec_t PAUSE_AT_END = USEC_PER_SEC;
static const usec_t GAP_MIN = USEC_PER_SEC / 20; // dates and durations are rounded

enum kind { MULTIVARIANT, MEDIA_PLAYLIST, MAP, MEDIA };

// The bytes of one URL, as far as any viewer has received them.
struct object {
    uint64_t hash; // of the URL
    int users;
    usec_t used;
    uint8_t *bytes;
    size_t have, size;
};

// A decoded playlist; viewers that receive the same text share it.
struct list {
    int users;
    usec_t used;
    char *text;
    size_t len;
    char url[PLAYLIST_URL_BYTES];
    struct playlist p;
};

struct viewer {
    uv_tcp_t tcp;
    uv_connect_t connect;
    bool open; // `tcp` is an open handle
    bool connected;
    int cache;
    usec_t deadline; // of the connection or the response; USEC_NEVER: none
    usec_t wake;     // when to go on; USEC_NEVER: on an event

    enum kind kind; // what is requested
    usec_t requested;
    bool in_body;
    bool close_after;
    int status;
    size_t body_left, body_at;
    struct object *object;
    uint8_t *held; // a head or playlist that is not complete yet
    size_t held_len;

    char playlist_url[PLAYLIST_URL_BYTES];
    struct list *list;
    usec_t list_changed; // when a reload last brought something new
    usec_t list_loaded;
    usec_t list_end;
    int start_tries;
    bool has_map;
    bool started; // it has chosen where to begin
    int64_t msn;  // the next item
    int part;
    struct playlist_item item; // the item that is requested

    usec_t began;
    bool plays;
    usec_t start_at;            // what it plays first
    usec_t start_end;           // when it has this, it plays
    usec_t buffered_end;        // dates: all before this is buffered
    usec_t play_from, play_now; // at the time `play_now` (monotonic) it played the date `play_from`
    bool stalled;               // while it was measured
    usec_t lost;                // media that it did not get while it was measured
};

static struct {
    uv_loop_t loop;
    struct sockaddr_storage caches[MAX_CACHES];
    char names[MAX_CACHES][64];
    int cache_count;
    const char *path;
    int wanted, count, playing;
    double per_second;
    bool parts;
    usec_t seconds;
    struct viewer *viewers;
    uv_timer_t tick;
    uv_signal_t go;
    usec_t first;      // when the first viewer began
    usec_t begin, end; // 0: not measured yet
    bool told, over;
    struct object objects[OBJECTS];
    struct list lists[LISTS];
    struct rng rng;
    uint8_t buffer[READ_BYTES];

    uint64_t requests, bytes, items, reconnects, refused, corrupt, stalls, gaps;
    usec_t stalled, longest_stall, lost;
    struct hist behind, edge, start, margin;
} bench;

static void fail(const char *what)
{
    fprintf(stderr, "edge: %s\n", what);
    exit(1);
}

static bool measured(usec_t now)
{
    return bench.begin && now >= bench.begin && now < bench.end;
}

static usec_t wall_of(usec_t now)
{
    return clock_wall() - (clock_now() - now);
}

// ---- What the viewers share

static uint64_t hash_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
    return hash;
}

static struct object *object_take(const char *url, usec_t now)
{
    uint64_t hash = hash_text(url);
    struct object *oldest = NULL;
    for (int i = 0; i < OBJECTS; i++) {
        struct object *o = &bench.objects[i];
        if (o->hash == hash) {
            o->users++;
            o->used = now;
            return o;
        }
        if (!o->users && (!oldest || o->used < oldest->used))
            oldest = o;
    }
    if (!oldest)
        fail("the viewers are too far apart");
    free(oldest->bytes);
    *oldest = (struct object){.hash = hash, .users = 1, .used = now};
    return oldest;
}

static void object_size(struct object *o, size_t size)
{
    if (!o->bytes) {
        o->bytes = malloc(size ? size : 1);
        o->size = size;
        if (!o->bytes)
            fail("no memory");
    }
    bench.corrupt += o->size != size;
}

// Compares bytes with those that are there, and keeps the ones that follow.
static void object_bytes(struct object *o, size_t at, const uint8_t *data, size_t len)
{
    if (at + len > o->size)
        return; // object_size has counted it
    size_t known = at < o->have ? o->have - at : 0;
    if (known > len)
        known = len;
    bench.corrupt += memcmp(o->bytes + at, data, known) != 0;
    if (known < len && at + known == o->have) {
        memcpy(o->bytes + o->have, data + known, len - known);
        o->have += len - known;
    }
}

static struct list *list_take(const char *url, const uint8_t *text, size_t len, usec_t now)
{
    struct list *oldest = NULL;
    for (int i = 0; i < LISTS; i++) {
        struct list *l = &bench.lists[i];
        if (l->text && l->len == len && memcmp(l->text, text, len) == 0 &&
            strcmp(l->url, url) == 0) {
            l->users++;
            l->used = now;
            return l;
        }
        if (!l->users && (!oldest || l->used < oldest->used))
            oldest = l;
    }
    if (!oldest)
        fail("the viewers' playlists are too far apart");
    free(oldest->text);
    oldest->users = 1;
    oldest->used = now;
    oldest->len = len;
    oldest->text = malloc(len);
    if (!oldest->text)
        fail("no memory");
    memcpy(oldest->text, text, len);
    snprintf(oldest->url, sizeof(oldest->url), "%s", url);
    if (playlist_decode(&oldest->p, (const char *)text, len, url, bench.parts) != 0)
        fail("a playlist cannot be read");
    return oldest;
}

// ---- The viewer's clock

static usec_t play_position(const struct viewer *v, usec_t now)
{
    return v->play_from + (now - v->play_now);
}

static void note_stall(struct viewer *v, usec_t length)
{
    v->stalled = true;
    bench.stalls++;
    bench.stalled += length;
    bench.longest_stall = usec_max(bench.longest_stall, length);
}

static void note_item(struct viewer *v, usec_t now)
{
    const struct playlist_item *item = &v->item;
    usec_t gap = item->at - v->buffered_end;
    if (v->buffered_end && gap > GAP_MIN && measured(now)) {
        v->lost += gap;
        bench.gaps++;
        bench.lost += gap;
    }
    if (v->plays) {
        usec_t margin = v->buffered_end - play_position(v, now);
        if (margin < 0) { // it has stood since then
            if (measured(now))
                note_stall(v, -margin);
            v->play_from = v->buffered_end;
            v->play_now = now;
        }
        if (measured(now))
            hist_add(&bench.margin, margin);
    }
    v->buffered_end = item->at + item->duration;
    if (!v->plays && v->buffered_end >= v->start_end) {
        v->plays = true;
        bench.playing++;
        v->play_from = v->start_at;
        v->play_now = now;
        hist_add(&bench.start, now - v->began);
    }
    if (!measured(now))
        return;
    bench.items++;
    hist_add(&bench.edge, wall_of(now) - v->buffered_end);
    if (v->plays)
        hist_add(&bench.behind, wall_of(now) - play_position(v, now));
}

// ---- Requests

static void go_on(struct viewer *v, usec_t now);

static void on_closed(uv_handle_t *handle)
{
    struct viewer *v = handle->data;
    v->open = false;
}

// Turns to the next cache after a pause.
static void lose_connection(struct viewer *v, usec_t now)
{
    bench.reconnects += bench.begin > 0; // also after a busy driver's late kill
    if (v->object)
        v->object->users--;
    v->object = NULL;
    free(v->held);
    v->held = NULL;
    v->held_len = 0;
    v->in_body = false;
    v->connected = false;
    v->deadline = USEC_NEVER;
    v->cache = (v->cache + 1) % bench.cache_count;
    v->wake = now + RETRY_MIN + (usec_t)(rng_unit(&bench.rng) * (double)RETRY_SPREAD);
    uv_close((uv_handle_t *)&v->tcp, on_closed);
}

static void request(struct viewer *v, enum kind kind, const char *url, const char *query,
                    usec_t now)
{
    char text[PLAYLIST_URL_BYTES + 256];
    int len = snprintf(text, sizeof(text), "GET %s%s HTTP/1.1\r\nHost: %s\r\n\r\n", url, query,
                       bench.names[0]);
    v->kind = kind;
    v->requested = now;
    v->wake = USEC_NEVER;
    v->deadline = now + RESPOND_WITHIN;
    if (kind == MAP || kind == MEDIA)
        v->object = object_take(url, now);
    bench.requests += measured(now);
    uv_buf_t buf = uv_buf_init(text, (unsigned)len);
    if (uv_try_write((uv_stream_t *)&v->tcp, &buf, 1) != len)
        lose_connection(v, now);
}

static void request_playlist(struct viewer *v, usec_t now)
{
    const struct playlist *p = v->list ? &v->list->p : NULL;
    char query[80] = "";
    if (p && p->can_block_reload && bench.parts && p->part_target)
        snprintf(query, sizeof(query), "?_HLS_msn=%" PRId64 "&_HLS_part=%d", p->next_msn,
                 p->next_part);
    else if (p && p->can_block_reload)
        snprintf(query, sizeof(query), "?_HLS_msn=%" PRId64, p->next_msn);
    request(v, MEDIA_PLAYLIST, v->playlist_url, query, now);
}

// Chooses where to begin: at the last key frame that is not after the hold-back. A cache may have
// an older playlist than the origin, so a viewer of parts first reloads until it sees the edge.
// Returns false if the playlist is not the one to begin with: too old, or shorter than the
// hold-back.
static bool choose_start(struct viewer *v, usec_t now)
{
    const struct playlist *p = &v->list->p;
    bool parts = bench.parts && p->part_target;
    usec_t end = playlist_end(p);
    usec_t want = end - (parts ? p->part_hold_back : p->hold_back);
    if (!p->count || (p->items[0].at > want && !p->ended))
        return false;
    if (parts && p->can_block_reload && wall_of(now) - end > p->part_target / 2 &&
        v->start_tries++ < MAX_START_TRIES)
        return false;
    const struct playlist_item *chosen = &p->items[0];
    for (int i = 0; i < p->count; i++)
        if (p->items[i].independent && p->items[i].at <= want)
            chosen = &p->items[i];
    v->msn = chosen->msn;
    v->part = chosen->part;
    v->start_at = usec_max(chosen->at, want);
    v->start_end = end;
    return true;
}

// Reloads: at once if the server blocks, else as RFC 8216, 6.3.4 says.
static void reload(struct viewer *v, usec_t now)
{
    const struct playlist *p = &v->list->p;
    usec_t pause = v->list_changed == v->list_loaded ? p->target : p->target / 2;
    if (p->ended)
        v->wake = USEC_NEVER;
    else if (p->can_block_reload || now - v->list_loaded >= pause)
        request_playlist(v, now);
    else
        v->wake = v->list_loaded + pause;
}

// Sends the viewer's next request.
static void go_on(struct viewer *v, usec_t now)
{
    if (!v->playlist_url[0]) {
        request(v, MULTIVARIANT, bench.path, "", now);
        return;
    }
    if (!v->list) {
        request_playlist(v, now);
        return;
    }
    const struct playlist *p = &v->list->p;
    if (!v->started)
        v->started = choose_start(v, now);
    const struct playlist_item *item = v->started ? playlist_find(p, v->msn, v->part) : NULL;
    if (!item) {
        reload(v, now);
    } else if (p->map[0] && !v->has_map) {
        request(v, MAP, p->map, "", now);
    } else {
        v->item = *item;
        request(v, MEDIA, item->url, "", now);
    }
}

// ---- Responses

static void on_playlist(struct viewer *v, const uint8_t *text, size_t len, usec_t now)
{
    const char *url = v->kind == MULTIVARIANT ? bench.path : v->playlist_url;
    struct list *list = list_take(url, text, len, now);
    if (list->p.variant[0]) {
        snprintf(v->playlist_url, sizeof(v->playlist_url), "%s", list->p.variant);
        list->users--;
        return;
    }
    if (v->kind == MULTIVARIANT) // it was a media playlist
        snprintf(v->playlist_url, sizeof(v->playlist_url), "%s", url);
    if (v->list)
        v->list->users--;
    v->list = list;
    v->list_loaded = now;
    if (playlist_end(&list->p) != v->list_end)
        v->list_changed = now;
    v->list_end = playlist_end(&list->p);
}

static void on_refused(struct viewer *v, usec_t now)
{
    bench.refused += measured(now);
    if (v->status >= 500) {
        lose_connection(v, now);
        return;
    }
    bool gone = v->kind == MEDIA && v->status == 404;
    if (gone && v->list) { // it has left the server: the playlist says what there is
        v->list->users--;
        v->list = NULL;
    }
    v->wake = now + RETRY_MIN + (usec_t)(rng_unit(&bench.rng) * (double)RETRY_SPREAD);
}

static void on_response(struct viewer *v, const uint8_t *text, size_t len, usec_t now)
{
    v->deadline = USEC_NEVER;
    if (v->object)
        v->object->users--;
    v->object = NULL;
    if (v->status != 200)
        on_refused(v, now);
    else if (v->kind == MULTIVARIANT || v->kind == MEDIA_PLAYLIST)
        on_playlist(v, text, len, now);
    else if (v->kind == MAP)
        v->has_map = true;
    else {
        note_item(v, now);
        v->msn = v->item.msn;
        v->part = v->item.part + 1;
    }
    if (!v->connected)
        return;
    if (v->close_after) { // an orderly end is no reason to turn to the next cache
        int cache = v->cache;
        lose_connection(v, now);
        v->cache = cache;
    } else if (v->wake == USEC_NEVER) {
        go_on(v, now);
    }
}

// Reads a response's head. Returns its length, 0 if it is not complete, or ERR_MALFORMED.
static int read_head(struct viewer *v, const uint8_t *data, size_t len)
{
    const uint8_t *end = memmem(data, len < MAX_HEAD ? len : MAX_HEAD, "\r\n\r\n", 4);
    char head[MAX_HEAD + 1];
    if (!end)
        return len < MAX_HEAD ? 0 : ERR_MALFORMED;
    size_t head_len = (size_t)(end - data) + 4;
    memcpy(head, data, head_len);
    head[head_len] = 0;
    const char *length = strcasestr(head, "\r\nContent-Length:");
    if (sscanf(head, "HTTP/1.%*d %d", &v->status) != 1 || !length)
        return ERR_MALFORMED;
    v->close_after = strcasestr(head, "\r\nConnection: close") || strncmp(head, "HTTP/1.0", 8) == 0;
    v->body_left = strtoull(length + 17, NULL, 10);
    v->body_at = 0;
    v->in_body = true;
    if (v->object && v->status == 200)
        object_size(v->object, v->body_left);
    return (int)head_len;
}

// Takes what it can of the input. Returns how much, or ERR_MALFORMED.
static int64_t take_input(struct viewer *v, const uint8_t *data, size_t len, usec_t now)
{
    size_t used = 0;
    if (!v->in_body) {
        int head = read_head(v, data, len);
        if (head <= 0)
            return head;
        used = (size_t)head;
    }
    if (v->object && v->status == 200) {
        size_t part = len - used < v->body_left ? len - used : v->body_left;
        object_bytes(v->object, v->body_at, data + used, part);
        v->body_at += part;
        v->body_left -= part;
        used += part;
        if (v->body_left)
            return (int64_t)used;
        v->in_body = false;
        on_response(v, NULL, 0, now);
        return (int64_t)used;
    }
    if (v->body_left > MAX_TEXT)
        return ERR_MALFORMED;
    if (len - used < v->body_left)
        return (int64_t)used;
    v->in_body = false;
    on_response(v, data + used, v->body_left, now);
    return (int64_t)(used + v->body_left);
}

// The shared buffer is free again when a callback returns; a viewer keeps only what it cannot use
// yet.
static void on_data(struct viewer *v, const uint8_t *data, size_t len, usec_t now)
{
    uint8_t *joined = NULL;
    if (v->held) {
        joined = malloc(v->held_len + len);
        if (!joined)
            fail("no memory");
        memcpy(joined, v->held, v->held_len);
        memcpy(joined + v->held_len, data, len);
        data = joined;
        len += v->held_len;
        free(v->held);
        v->held = NULL;
        v->held_len = 0;
    }
    size_t used = 0;
    while (used < len && v->connected) {
        if (v->deadline == USEC_NEVER) { // nobody asked for this
            lose_connection(v, now);
            break;
        }
        int64_t took = take_input(v, data + used, len - used, now);
        if (took < 0 && v->connected)
            lose_connection(v, now);
        if (took <= 0)
            break;
        used += (size_t)took;
    }
    if (used < len && v->connected) {
        v->held_len = len - used;
        v->held = malloc(v->held_len);
        if (!v->held)
            fail("no memory");
        memcpy(v->held, data + used, v->held_len);
    }
    free(joined);
}

// ---- Connections

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
    (void)handle;
    (void)size;
    *buf = uv_buf_init((char *)bench.buffer, sizeof(bench.buffer));
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *buf)
{
    struct viewer *v = stream->data;
    usec_t now = clock_now();
    if (!v->connected)
        return;
    if (len < 0) {
        lose_connection(v, now);
        return;
    }
    bench.bytes += measured(now) ? (uint64_t)len : 0;
    on_data(v, (const uint8_t *)buf->base, (size_t)len, now);
}

static void on_connect(uv_connect_t *connect, int status)
{
    struct viewer *v = connect->data;
    usec_t now = clock_now();
    if (status == UV_ECANCELED) // lose_connection has closed it
        return;
    if (status < 0 || uv_read_start((uv_stream_t *)&v->tcp, on_alloc, on_read) != 0) {
        lose_connection(v, now);
        return;
    }
    v->connected = true;
    v->deadline = USEC_NEVER;
    go_on(v, now);
}

static void connect_viewer(struct viewer *v, usec_t now)
{
    v->wake = USEC_NEVER;
    v->deadline = now + CONNECT_WITHIN;
    if (uv_tcp_init(&bench.loop, &v->tcp) != 0)
        fail("no sockets");
    v->open = true;
    v->tcp.data = v->connect.data = v;
    uv_tcp_nodelay(&v->tcp, 1);
    if (uv_tcp_connect(&v->connect, &v->tcp, (struct sockaddr *)&bench.caches[v->cache],
                       on_connect) != 0)
        lose_connection(v, now);
}

// ---- The run

static void add_viewer(usec_t now)
{
    struct viewer *v = &bench.viewers[bench.count];
    v->cache = bench.count++ % bench.cache_count;
    v->began = now;
    connect_viewer(v, now);
}

static void print_hist(const char *name, const struct hist *h)
{
    bool has = h->count > 0;
    printf(", \"%s\": {\"count\": %" PRIu64, name, h->count);
    if (has)
        printf(", \"min\": %.1f, \"p5\": %.1f, \"p50\": %.1f, \"p95\": %.1f, \"p99\": %.1f, "
               "\"max\": %.1f",
               (double)h->min / 1e3, hist_quantile_us(h, 0.05) / 1e3,
               hist_quantile_us(h, 0.5) / 1e3, hist_quantile_us(h, 0.95) / 1e3,
               hist_quantile_us(h, 0.99) / 1e3, hist_max_us(h) / 1e3);
    printf("}");
}

// Counts the viewers that stand at the end.
static void take_stalled(usec_t now)
{
    for (int i = 0; i < bench.count; i++) {
        struct viewer *v = &bench.viewers[i];
        usec_t margin = v->buffered_end - play_position(v, now);
        if (v->plays && margin < 0) {
            bench.stalls++;
            bench.stalled -= margin;
            bench.longest_stall = usec_max(bench.longest_stall, -margin);
            v->stalled = true;
        }
    }
}

static void print_results(void)
{
    int stalled_viewers = 0, lossy = 0;
    usec_t most_lost = 0;
    for (int i = 0; i < bench.count; i++) {
        const struct viewer *v = &bench.viewers[i];
        stalled_viewers += v->stalled;
        lossy += v->lost > 0;
        most_lost = usec_max(most_lost, v->lost);
    }
    printf("{\"viewers\": %d, \"requests\": %" PRIu64 ", \"bytes\": %" PRIu64
           ", \"items\": %" PRIu64,
           bench.count, bench.requests, bench.bytes, bench.items);
    printf(", \"reconnects\": %" PRIu64 ", \"refused\": %" PRIu64 ", \"corrupt\": %" PRIu64,
           bench.reconnects, bench.refused, bench.corrupt);
    printf(", \"stalls\": %" PRIu64 ", \"stalled_ms\": %.1f, \"longest_stall_ms\": %.1f, "
           "\"stalled_viewers\": %d",
           bench.stalls, (double)bench.stalled / 1e3, (double)bench.longest_stall / 1e3,
           stalled_viewers);
    printf(", \"gaps\": %" PRIu64
           ", \"lost_ms\": %.1f, \"lossy_viewers\": %d, \"most_lost_ms\": %.1f",
           bench.gaps, (double)bench.lost / 1e3, lossy, (double)most_lost / 1e3);
    print_hist("behind_ms", &bench.behind);
    print_hist("edge_ms", &bench.edge);
    print_hist("start_ms", &bench.start);
    print_hist("margin_ms", &bench.margin);
    puts("}");
    fflush(stdout);
}

static void say(const char *word)
{
    puts(word);
    fflush(stdout);
}

static void on_go(uv_signal_t *signal, int number)
{
    (void)signal;
    (void)number;
    if (bench.begin)
        return;
    bench.begin = clock_now();
    bench.end = bench.begin + bench.seconds;
}

static void on_tick(uv_timer_t *timer)
{
    (void)timer;
    usec_t now = clock_now();
    bench.first = bench.first ? bench.first : now;
    int due = 1 + (int)((double)(now - bench.first) / 1e6 * bench.per_second);
    while (bench.count < bench.wanted && bench.count < due)
        add_viewer(now);
    for (int i = 0; i < bench.count; i++) {
        struct viewer *v = &bench.viewers[i];
        if (now >= v->deadline) {
            lose_connection(v, now);
        } else if (now >= v->wake && !v->open) {
            connect_viewer(v, now);
        } else if (now >= v->wake && v->connected) {
            go_on(v, now);
        }
    }
    if (!bench.told && bench.playing == bench.wanted) {
        bench.told = true;
        say("playing");
    }
    if (bench.end && now >= bench.end && !bench.over) {
        bench.over = true;
        say("end");
        take_stalled(now);
    } else if (bench.over && now >= bench.end + PAUSE_AT_END) {
        print_results();
        exit(0);
    }
}

static bool read_caches(char *text)
{
    char *rest = NULL;
    for (char *one = strtok_r(text, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        char *colon = strrchr(one, ':');
        if (!colon || bench.cache_count == MAX_CACHES)
            return false;
        int n = bench.cache_count++;
        snprintf(bench.names[n], sizeof(bench.names[n]), "%s", one);
        *colon = 0;
        if (uv_ip4_addr(one, atoi(colon + 1), (struct sockaddr_in *)&bench.caches[n]) != 0)
            return false;
    }
    return bench.cache_count > 0;
}

int main(int argc, char **argv)
{
    if (argc != 7 || !read_caches(argv[1]) || argv[2][0] != '/' || atoi(argv[3]) < 1 ||
        atof(argv[4]) <= 0 || (strcmp(argv[5], "parts") != 0 && strcmp(argv[5], "segments") != 0) ||
        atof(argv[6]) <= 0) {
        fprintf(stderr, "usage: bench_edge_client ADDR:PORT[,ADDR:PORT...] PATH VIEWERS SECONDS "
                        "parts|segments PER_SECOND\n");
        return 2;
    }
    bench.path = argv[2];
    bench.wanted = atoi(argv[3]);
    bench.seconds = (usec_t)(atof(argv[4]) * 1e6);
    bench.parts = strcmp(argv[5], "parts") == 0;
    bench.per_second = atof(argv[6]);
    bench.viewers = calloc((size_t)bench.wanted, sizeof(*bench.viewers));
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (!bench.viewers || files.rlim_max < (rlim_t)bench.wanted + 64)
        fail("the limit of open files is too low for so many viewers in a process");
    signal(SIGPIPE, SIG_IGN);
    bench.rng = rng_seeded((uint64_t)clock_wall());
    hist_init(&bench.behind);
    hist_init(&bench.edge);
    hist_init(&bench.start);
    hist_init(&bench.margin);
    uv_loop_init(&bench.loop);
    uv_signal_init(&bench.loop, &bench.go);
    uv_signal_start(&bench.go, on_go, SIGUSR1);
    uv_timer_init(&bench.loop, &bench.tick);
    uv_timer_start(&bench.tick, on_tick, 0, TICK_MS);
    uv_run(&bench.loop, UV_RUN_DEFAULT);
    return 1;
}
