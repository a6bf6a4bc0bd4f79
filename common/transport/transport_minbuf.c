// SPDX-License-Identifier: GPL-2.0-or-later
// `minbuf[:A,B][,pace]`, `minbuf:auto,MS[,pace]`: kernel TCP whose send buffer holds no more than
// the window needs (Goel et al. 2002, section 2), on an unpatched kernel. TCP_INFO is read before
// each write and handed to the admission rule. What the rule admits at once leaves in one write:
// none of it would have been refused one by one, and one pass through the kernel costs little more
// than that of a single packet.
//
// Waking up. The kernel signals room when the unsent bytes fall below half of TCP_NOTSENT_LOWAT, so
// twice the rule's own mark is set. That covers every refusal because of unsent data. A refusal
// because the window is full of unacknowledged packets while nothing is unsent (MIN_BUF(1,0), or a
// window that has just shrunk) has no such signal: the socket is writable all the time. Over
// MIN_BUF(1,0), where each refusal is one, the kernel stamps the acknowledgement of each write
// (SOF_TIMESTAMPING_TX_ACK) while media waits for them, and the stamp wakes the loop. It stamps
// whole writes and no SACKs, so a write is a sixteenth of the window, and a timer asks again a
// little later. Else, and on kernels without stamps, a timer asks after half of the mean spacing of
// acknowledgements. Rejected: stamps all the time, a wake-up each that most media, which seldom
// fills the window, does not need (half as much CPU again at a third of the link's rate); an
// SO_SNDBUF just below what the socket holds, which three more system calls a packet would have to
// move, and which would hold up RTSP responses.
#include <stdlib.h>

#include "common/base/err.h"
#include "common/net/tcp_conn.h"
#include "common/net/tcp_info.h"
#include "common/net/timer.h"
#include "common/protocol/minbuf.h"
#include "common/transport/interleaved.h"

struct minbuf_transport {
    struct interleaved stream;
    struct minbuf rule;
    struct timer *timer; // owned
    uint32_t lowat;      // set in the kernel; 0: not set
    uint32_t admitted;   // packets of the current batch, as of its first one (is_granted)
    uint32_t used;       // of these; parameter sets and audio, which share segments, by their bytes
    size_t shared;       // bytes of those that have not counted yet
    bool corked;
    struct minbuf_acks acks;
    bool waits;     // media was refused
    usec_t spacing; // after the packet that is granted (minbuf_spacing)
    usec_t next;    // no packet before this time
    bool gone;      // the connection failed, or refused a packet of a batch
    transport_room_fn *on_room;
    void *ctx; // borrowed
};

// Returns how many packets may be written now.
static uint32_t admits(struct minbuf_transport *m, struct tcp_snapshot *s)
{
    *s = (struct tcp_snapshot){0};
    if (tcp_info_read(tcp_conn_fd(m->stream.conn), s) != 0)
        return 1; // the write itself reports the error
    interleaved_follow_mss(&m->stream, s->mss);
    return minbuf_packets(&m->rule, s);
}

static void set_mark(struct minbuf_transport *m, uint32_t lowat)
{
    if (lowat != m->lowat)
        tcp_set_notsent_lowat(tcp_conn_fd(m->stream.conn), lowat);
    m->lowat = lowat;
}

static uint32_t mark_of(const struct minbuf_transport *m, const struct tcp_snapshot *s)
{
    return 2 * minbuf_wake_below(&m->rule, s);
}

// Makes the kernel wake the loop when its unsent data falls below the rule's mark.
static void wait_for_kernel(struct minbuf_transport *m, const struct tcp_snapshot *s)
{
    set_mark(m, mark_of(m, s));
    tcp_conn_want_room(m->stream.conn, true);
}

static void set_cork(struct minbuf_transport *m, bool on)
{
    if (on != m->corked)
        tcp_conn_cork(m->stream.conn, on);
    m->corked = on;
}

// Packets that leave one by one do not end in short segments within a frame: parameter sets fill up
// those of the key frame that follows.
static void minbuf_flush(struct media_transport *t, usec_t now)
{
    struct minbuf_transport *m = (struct minbuf_transport *)t;
    int queued = m->stream.queued;
    bool more = queued && m->spacing && !m->stream.queue[queued - 1].last;
    if (more)
        set_cork(m, true);
    m->gone |= interleaved_flush(&m->stream, now) != 0;
    if (queued && !more)
        set_cork(m, false);
    m->admitted = m->used = 0;
}

// An RTSP response or RTCP may have left bytes in the connection since `admitted` was computed.
// Then nothing is granted any more.
static bool is_granted(const struct minbuf_transport *m)
{
    return m->used < m->admitted && m->stream.queued < INTERLEAVED_BATCH &&
           !tcp_conn_has_backlog(m->stream.conn);
}

// A grant is valid for one batch. While the batch is empty each call reads TCP_INFO again, so an
// unused grant does not last until the session's next frame.
static bool minbuf_room(struct media_transport *t, usec_t now)
{
    struct minbuf_transport *m = (struct minbuf_transport *)t;
    if (m->stream.queued > 0 && is_granted(m))
        return true;
    minbuf_flush(t, now);
    struct tcp_snapshot s;
    uint32_t admitted = admits(m, &s);
    m->waits = !admitted || tcp_conn_has_backlog(m->stream.conn);
    if (m->waits) {
        set_cork(m, false);
        wait_for_kernel(m, &s);
        return false;
    }
    m->spacing = minbuf_spacing(&s);
    if (m->spacing && now < m->next) {
        m->waits = true;
        tcp_conn_want_room(m->stream.conn, false);
        timer_set(m->timer, m->next);
        return false;
    }
    if (m->spacing)
        admitted = 1;
    // The mark also limits the write: the mark may be older than the current window.
    if (m->lowat && m->lowat < mark_of(m, &s))
        set_mark(m, mark_of(m, &s));
    uint32_t most = m->acks.wanted ? minbuf_write_limit(&s, INTERLEAVED_BATCH) : INTERLEAVED_BATCH;
    m->admitted = admitted < most ? admitted : most;
    return true;
}

static void recheck(struct minbuf_transport *m, usec_t now)
{
    struct tcp_snapshot s;
    if (admits(m, &s)) {
        timer_set(m->timer, USEC_NEVER);
        tcp_conn_want_room(m->stream.conn, false);
        m->waits = false;
        m->on_room(m->ctx, now);
        return;
    }
    if (s.notsent_bytes >= minbuf_wake_below(&m->rule, &s)) {
        wait_for_kernel(m, &s);
        return;
    }
    tcp_conn_want_room(m->stream.conn, false);
    bool has_reports =
        minbuf_waits_for_acks(&m->rule) && tcp_conn_want_acks(m->stream.conn, true) == 0;
    timer_set(m->timer, now + minbuf_acks_refused(&m->acks, &s, has_reports));
}

static void minbuf_on_writable(struct transport *t, usec_t now)
{
    struct minbuf_transport *m = (struct minbuf_transport *)t;
    if (!tcp_conn_wants_room(m->stream.conn)) {
        minbuf_acks_arrived(&m->acks, m->waits);
        if (!m->acks.wanted)
            (void)tcp_conn_want_acks(m->stream.conn, false);
        if (!m->waits)
            return;
    }
    recheck(m, now);
}

static void on_timer(void *ctx, usec_t now)
{
    recheck(ctx, now);
}

static int minbuf_send(struct media_transport *t, enum media_track track,
                       const struct media_packet *p, usec_t now)
{
    struct minbuf_transport *m = (struct minbuf_transport *)t;
    if (m->gone)
        return ERR_CLOSED;
    if (!is_granted(m) && !minbuf_room(t, now))
        return ERR_AGAIN;
    interleaved_queue(&m->stream, track, p);
    bool ends = m->stream.queue[m->stream.queued - 1].ends;
    m->shared += ends ? 0 : p->head_len + p->body_len;
    if (ends || m->shared >= t->max_packet) {
        m->shared -= ends ? 0 : t->max_packet;
        m->used++;
        m->next = now + m->spacing;
    }
    return 0;
}

// A report counts the packets that were sent before it, so it follows them.
static int minbuf_send_rtcp(struct transport *t, enum media_track track, const uint8_t *data,
                            size_t len, usec_t now)
{
    minbuf_flush(&t->media, now);
    return interleaved_send_rtcp(t, track, data, len, now);
}

static void minbuf_on_reconnected(struct transport *t, usec_t now)
{
    struct minbuf_transport *m = (struct minbuf_transport *)t;
    (void)now;
    m->lowat = 0;
    m->acks = (struct minbuf_acks){0};
    m->corked = m->gone = false;
    m->stream.queued = 0;
    m->admitted = m->used = 0;
    timer_set(m->timer, USEC_NEVER);
    tcp_conn_want_room(m->stream.conn, false);
    if (m->rule.pace)
        tcp_set_pacing(tcp_conn_fd(m->stream.conn));
}

static void minbuf_free(struct transport *t)
{
    struct minbuf_transport *m = (struct minbuf_transport *)t;
    timer_free(m->timer);
    (void)tcp_conn_want_acks(m->stream.conn, false);
    set_cork(m, false);
    interleaved_destroy(&m->stream);
    tcp_set_notsent_lowat(tcp_conn_fd(m->stream.conn), 0); // the system's default
    free(m);
}

static const struct transport_ops minbuf_ops = {
    .media.room = minbuf_room,
    .media.send = minbuf_send,
    .media.flush = minbuf_flush,
    .send_rtcp = minbuf_send_rtcp,
    .media.info = interleaved_info,
    .on_writable = minbuf_on_writable,
    .on_reconnected = minbuf_on_reconnected,
    .free = minbuf_free,
};

static int minbuf_check(const struct transport_kind *kind, const char *params)
{
    (void)kind;
    struct minbuf rule;
    return minbuf_parse(params, &rule);
}

static struct transport *minbuf_create(const struct transport_kind *kind, const char *params,
                                       const struct transport_path *path, usec_t now)
{
    (void)kind;
    (void)now;
    struct minbuf_transport *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    minbuf_parse(params, &m->rule); // checked before
    m->stream.base.ops = &minbuf_ops;
    m->on_room = path->on_room;
    m->ctx = path->ctx;
    m->timer = timer_new(path->loop, on_timer, m);
    if (!m->timer) {
        free(m);
        return NULL;
    }
    interleaved_init(&m->stream, path);
    if (m->rule.pace)
        tcp_set_pacing(tcp_conn_fd(path->control));
    return &m->stream.base;
}

const struct transport_kind transport_minbuf = {
    .name = "minbuf",
    .help = "TCP with a short send buffer: minbuf:A,B (1,3) or minbuf:auto,MS; ,pace spreads each "
            "window over the round trip",
    .plain_rtp = true,
    .reliable = true,
    .holds_back = true,
    .measures = true,
    .check = minbuf_check,
    .create = minbuf_create,
};
