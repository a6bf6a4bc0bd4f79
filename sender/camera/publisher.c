// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/camera/publisher.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/net/mailbox.h"
#include "common/net/random.h"
#include "sender/camera/camera_receiver.h"

// Of the packets that wait: 1 s of 64 Mbit/s. Each counts with at least ITEM_BYTES, so that those
// that fill the mailbox leave room for the other items.
enum { WAITING_BYTES = 8 << 20, ITEM_BYTES = 512, OTHERS = 8 };
enum { RTCP_WAITING_BYTES = 64 << 10 };
#define RTT (100 * USEC_PER_MSEC) // a publisher's is not measured

// A message from one loop to the other.
struct item {
    enum {
        PACKET, // to both
        ENDED,  // to the link: `why`, or "": it did not break off
        BEGUN,  // to the owner
        OVER,   // to the owner: `why`
        START,  // to the link: it is described and tells the owner
    } kind;
    enum media_track track;
    bool rtcp;
    usec_t arrived;
    char why[160];
    size_t len;
    uint8_t data[];
};

struct publisher {
    struct publisher_config config;
    char name[128];
    struct sdp sdp;
    bool datagram;
    pthread_mutex_t lock; // guards the next ones
    int refs;
    struct mailbox *to_owner; // owned; NULL: the owner has ended
    struct mailbox *to_link;  // the link's; NULL: there is none
    bool has_ended;           // the owner has
    bool is_given_up;         // the link takes no more
    struct publisher *next;   // one reference; continues the media; NULL: none
    char why[160];            // why it ended
};

// ---- Items

static struct item *item_new(int kind, const uint8_t *data, size_t len)
{
    struct item *item = calloc(1, sizeof(*item) + len);
    if (!item)
        return NULL;
    item->kind = kind;
    item->len = len;
    if (len)
        memcpy(item->data, data, len);
    return item;
}

// Takes over the item. Caller holds the lock. One that finds no room is dropped.
static void post(struct mailbox *to, struct item *item, size_t max)
{
    size_t bytes = item ? sizeof(*item) + item->len : 0;
    if (bytes < ITEM_BYTES)
        bytes = ITEM_BYTES;
    bool is_posted =
        item && to &&
        (item->kind == PACKET ? mailbox_post_bytes(to, item, bytes, max) : mailbox_post(to, item));
    if (!is_posted)
        free(item);
}

static struct item *packet_of(enum media_track track, bool rtcp, const uint8_t *data, size_t len)
{
    struct item *item = item_new(PACKET, data, len);
    if (item) {
        item->track = track;
        item->rtcp = rtcp;
    }
    return item;
}

static void post_why(struct mailbox *to, int kind, const char *why)
{
    struct item *item = item_new(kind, NULL, 0);
    if (item)
        snprintf(item->why, sizeof(item->why), "%s", why);
    post(to, item, 0);
}

// ---- The owner's end

static void on_owner_item(void *ctx, void *arg, usec_t now)
{
    struct publisher *p = ctx;
    struct item *item = arg;
    if (item->kind == BEGUN)
        p->config.on_begun(p->config.ctx, now);
    else if (item->kind == OVER)
        p->config.on_over(p->config.ctx, item->why, now);
    else
        p->config.send_rtcp(p->config.ctx, item->track, item->data, item->len);
    free(item);
}

struct publisher *publisher_new(const struct publisher_config *config)
{
    struct publisher *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->config = *config;
    p->sdp = *config->sdp;
    snprintf(p->name, sizeof(p->name), "%s", config->name);
    p->refs = 1;
    p->to_owner =
        mailbox_new(config->loop, RTCP_WAITING_BYTES / ITEM_BYTES + OTHERS, on_owner_item, free, p);
    if (!p->to_owner) {
        free(p);
        return NULL;
    }
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

void publisher_set_datagram(struct publisher *p, bool datagram)
{
    p->datagram = datagram;
}

void publisher_packet(struct publisher *p, enum media_track track, bool rtcp, const uint8_t *data,
                      size_t len, usec_t arrived)
{
    struct item *item = packet_of(track, rtcp, data, len);
    if (!item)
        return;
    item->arrived = arrived;
    pthread_mutex_lock(&p->lock);
    post(p->to_link, item, WAITING_BYTES);
    pthread_mutex_unlock(&p->lock);
}

bool publisher_succeed(struct publisher *p, struct publisher *next)
{
    bool is_alike = p->sdp.codec == next->sdp.codec &&
                    p->sdp.audio.present == next->sdp.audio.present &&
                    p->sdp.audio.codec == next->sdp.audio.codec;
    pthread_mutex_lock(&p->lock);
    bool good = is_alike && !p->is_given_up && !p->has_ended;
    if (good) {
        p->has_ended = true;
        p->next = publisher_ref(next);
        post(p->to_link, item_new(ENDED, NULL, 0), 0);
    }
    pthread_mutex_unlock(&p->lock);
    return good;
}

void publisher_end(struct publisher *p, const char *why)
{
    pthread_mutex_lock(&p->lock);
    struct mailbox *own = p->to_owner;
    p->to_owner = NULL;
    if (!p->has_ended) {
        p->has_ended = true;
        snprintf(p->why, sizeof(p->why), "%s", why ? why : "");
        post(p->to_link, item_new(ENDED, NULL, 0), 0);
    }
    pthread_mutex_unlock(&p->lock);
    mailbox_free(own);
    publisher_unref(p);
}

struct publisher *publisher_ref(struct publisher *p)
{
    pthread_mutex_lock(&p->lock);
    p->refs++;
    pthread_mutex_unlock(&p->lock);
    return p;
}

void publisher_unref(struct publisher *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    bool is_last = --p->refs == 0;
    pthread_mutex_unlock(&p->lock);
    if (!is_last)
        return;
    pthread_mutex_destroy(&p->lock);
    publisher_unref(p->next);
    free(p);
}

struct publisher *publisher_successor(struct publisher *p)
{
    pthread_mutex_lock(&p->lock);
    struct publisher *next = p->next ? publisher_ref(p->next) : NULL;
    pthread_mutex_unlock(&p->lock);
    return next;
}

const char *publisher_name(const struct publisher *p)
{
    return p->name;
}

// ---- The link

struct publisher_link {
    struct camera_link base; // first
    struct publisher_link_config config;
    struct mailbox *mailbox;          // owned
    struct camera_receiver *receiver; // owned; NULL before START
    struct stream_receiver *media;    // owned; NULL before START
    bool is_over;
};

static void send_rtcp(void *ctx, enum media_track track, const uint8_t *data, size_t len)
{
    const struct publisher_link *l = ctx;
    struct publisher *p = l->config.publisher;
    pthread_mutex_lock(&p->lock);
    post(p->to_owner, packet_of(track, true, data, len), RTCP_WAITING_BYTES);
    pthread_mutex_unlock(&p->lock);
}

static void give_up(void *ctx, const char *why, usec_t now)
{
    struct publisher_link *l = ctx;
    struct publisher *p = l->config.publisher;
    if (l->is_over)
        return;
    l->is_over = true;
    pthread_mutex_lock(&p->lock);
    p->is_given_up = true;
    post_why(p->to_owner, OVER, why);
    pthread_mutex_unlock(&p->lock);
    l->config.ops->on_end(l->config.ctx, 0, why, now);
}

static void give_link_up(struct camera_link *base, const char *why, usec_t now)
{
    give_up(base, why, now);
}

// Ends the link if the owner has ended.
static void look_for_end(struct publisher_link *l, usec_t now)
{
    struct publisher *p = l->config.publisher;
    pthread_mutex_lock(&p->lock);
    bool has_ended = p->has_ended;
    pthread_mutex_unlock(&p->lock);
    if (!has_ended || l->is_over)
        return;
    l->is_over = true;
    l->config.ops->on_end(l->config.ctx, 0, *p->why ? p->why : NULL, now);
}

// Returns false if there is no memory.
static bool open_media(struct publisher_link *l, usec_t now)
{
    struct publisher *p = l->config.publisher;
    struct camera_receiver_config config = {
        .sdp = &p->sdp, .ops = l->config.ops, .ctx = l->config.ctx, .give_up = give_up, .link = l};
    struct video_repair repair = {.datagram = p->datagram, .wanted = REPAIR_MODE_AUTO};
    uint64_t random;
    l->receiver = random_fill(&random, sizeof(random)) ? camera_receiver_new(&config) : NULL;
    if (!l->receiver)
        return false;
    struct stream_receiver_config media = camera_receiver_media(l->receiver);
    media.video.loop = l->config.loop;
    media.video.random = random;
    media.video.back = (struct stream_return){.send_rtcp = send_rtcp, .ctx = l};
    l->media = stream_receiver_new(&media);
    if (!camera_receiver_begin(l->receiver, l->media, now))
        return false;
    if (stream_receiver_set_repair(l->media, &repair, false) != 0)
        log_warn("lost packets of %s are not repaired: out of memory", p->name);
    video_receiver_set_keep(stream_receiver_video(l->media), CAMERA_RECEIVER_KEEP);
    stream_receiver_set_path(l->media, RTT, CAMERA_RECEIVER_KEEP, now);
    if (l->config.has_audio && p->sdp.audio.present)
        (void)stream_receiver_add_audio(l->media);
    return true;
}

static void start(struct publisher_link *l, usec_t now)
{
    struct publisher *p = l->config.publisher;
    if (!open_media(l, now)) {
        give_up(l, "out of memory", now);
        return;
    }
    pthread_mutex_lock(&p->lock);
    post(p->to_owner, item_new(BEGUN, NULL, 0), 0);
    pthread_mutex_unlock(&p->lock);
}

static void on_link_item(void *ctx, void *arg, usec_t now)
{
    struct publisher_link *l = ctx;
    struct item *item = arg;
    if (item->kind == ENDED)
        look_for_end(l, now);
    else if (item->kind == START && !l->is_over)
        start(l, now);
    else if (item->kind == PACKET && !l->is_over && l->media)
        stream_receiver_packet(l->media, item->track, item->rtcp, item->data, item->len,
                               item->arrived, now);
    free(item);
}

static void second(struct camera_link *base, usec_t now)
{
    struct publisher_link *l = (struct publisher_link *)base;
    struct video_receiver_stats unused;
    look_for_end(l, now);
    if (!l->is_over && l->media)
        stream_receiver_second(l->media, &unused, now);
}

static void request_key(struct camera_link *base, usec_t now)
{
    const struct publisher_link *l = (const struct publisher_link *)base;
    if (l->media)
        video_receiver_send_pli(stream_receiver_video(l->media), now);
}

static void relate(struct camera_link *base, uint32_t rtp_timestamp, usec_t media, usec_t arrived)
{
    stream_receiver_relate(((struct publisher_link *)base)->media, rtp_timestamp, media, arrived);
}

static void free_all(struct camera_link *base, usec_t now)
{
    (void)now;
    struct publisher_link *l = (struct publisher_link *)base;
    struct publisher *p = l->config.publisher;
    pthread_mutex_lock(&p->lock);
    p->to_link = NULL;
    pthread_mutex_unlock(&p->lock);
    mailbox_free(l->mailbox);
    stream_receiver_free(l->media);
    camera_receiver_free(l->receiver);
    publisher_unref(p);
    free(l);
}

struct camera_link *publisher_link_new(const struct publisher_link_config *config)
{
    static const struct camera_link_kind kind = {.free = free_all,
                                                 .second = second,
                                                 .request_key = request_key,
                                                 .give_up = give_link_up,
                                                 .picture = relate};
    struct publisher_link *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    l->base.kind = &kind;
    l->config = *config;
    l->mailbox =
        mailbox_new(config->loop, WAITING_BYTES / ITEM_BYTES + OTHERS, on_link_item, free, l);
    if (!l->mailbox) {
        free(l);
        return NULL;
    }
    struct publisher *p = publisher_ref(config->publisher);
    pthread_mutex_lock(&p->lock);
    p->to_link = l->mailbox;
    post(p->to_link, item_new(START, NULL, 0), 0); // on_described is no call inside this one
    if (p->has_ended)
        post(p->to_link, item_new(ENDED, NULL, 0), 0);
    pthread_mutex_unlock(&p->lock);
    return &l->base;
}
