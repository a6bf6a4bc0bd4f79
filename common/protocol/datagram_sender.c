// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/datagram_sender.h"

#include <assert.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/seq.h"
#include "common/protocol/packet_size.h"

// Ordered: a packet is open up to DATAGRAM_FRESH.
enum datagram_fate {
    DATAGRAM_SENT,    // no report has covered it yet
    DATAGRAM_MISSING, // reported missing, too early to call it lost
    DATAGRAM_FRESH,   // reported as arrived by the report being processed
    DATAGRAM_ARRIVED,
    DATAGRAM_LOST,
    DATAGRAM_UNREPORTED,
};

struct datagram_entry {
    usec_t sent_at;
    uint32_t bytes;
    uint8_t fate; // enum datagram_fate
};

static struct datagram_entry *scoreboard_entry(const struct datagram_sender *s, int64_t number)
{
    return &s->entries[(size_t)number & (s->ring - 1)];
}

static bool scoreboard_is_open(const struct datagram_entry *e)
{
    return e->fate <= DATAGRAM_FRESH;
}

static bool scoreboard_is_full(const struct datagram_sender *s)
{
    return s->next_number - s->oldest >= (int64_t)s->history;
}

// Returns the first number that has an entry.
static int64_t scoreboard_first(const struct datagram_sender *s)
{
    int64_t first = s->next_number - (int64_t)s->ring;
    return first > 0 ? first : 0;
}

// Moves the entries to a new ring of twice the size; older ones are forgotten. Returns false if
// there is no memory.
static bool grow(struct datagram_sender *s)
{
    size_t ring = 2 * s->ring;
    struct cc_packet *news = realloc(s->news, ring * sizeof(*news));
    if (!news)
        return false;
    s->news = news;
    struct datagram_entry *entries = malloc(ring * sizeof(*entries));
    if (!entries)
        return false;
    for (size_t i = 0; i < ring; i++)
        entries[i] = (struct datagram_entry){.fate = DATAGRAM_UNREPORTED};
    for (int64_t n = scoreboard_first(s); n < s->next_number; n++)
        entries[(size_t)n & (ring - 1)] = *scoreboard_entry(s, n);
    free(s->entries);
    s->entries = entries;
    s->ring = ring;
    return true;
}

// Makes room for one more packet before it is sent: the ring grows up to `history`, or to the
// available memory.
static void scoreboard_make_room(struct datagram_sender *s)
{
    size_t open = (size_t)(s->next_number - s->oldest);
    if (s->ring < s->history && 2 * open >= s->ring && !grow(s))
        s->history = s->ring;
}

// Returns true if flight_bytes counts the open packet `number`. What was sent before an RTO is
// gone, or will be reported before anything sent later (RFC 6298, 5.4): a window that still counted
// it would stay shut after the silence, as no later packet could tell of its loss.
static bool scoreboard_is_in_flight(const struct datagram_sender *s, int64_t number)
{
    return number > s->highest_arrived && number >= s->flight_from;
}

// Packet `newest` arrived: raises highest_arrived if it was lower.
static void scoreboard_raise(struct datagram_sender *s, int64_t newest)
{
    int64_t n = s->highest_arrived + 1;
    for (n = n > s->oldest ? n : s->oldest; n <= newest; n++) {
        if (scoreboard_is_open(scoreboard_entry(s, n)) && scoreboard_is_in_flight(s, n))
            s->flight_bytes -= scoreboard_entry(s, n)->bytes;
    }
    if (newest > s->highest_arrived)
        s->highest_arrived = newest;
}

// Returns the number below which packets have DATAGRAM_REORDER later arrivals (RFC 5348, 5.1);
// `oldest` if no open packet has.
static int64_t scoreboard_loss_horizon(const struct datagram_sender *s)
{
    int arrived = 0;
    for (int64_t n = s->highest_arrived; n > s->oldest; n--) {
        uint8_t fate = scoreboard_entry(s, n)->fate;
        arrived += fate == DATAGRAM_FRESH || fate == DATAGRAM_ARRIVED;
        if (arrived == DATAGRAM_REORDER)
            return n;
    }
    return s->oldest;
}

// Gives up an open packet, which then counts as unreported.
static void scoreboard_give_up(struct datagram_sender *s, int64_t number)
{
    struct datagram_entry *e = scoreboard_entry(s, number);
    if (scoreboard_is_in_flight(s, number))
        s->flight_bytes -= e->bytes;
    e->fate = DATAGRAM_UNREPORTED;
    s->counts.unreported++;
}

// Moves `oldest` past the packets that are no longer open.
static void scoreboard_close(struct datagram_sender *s)
{
    while (s->oldest < s->next_number && !scoreboard_is_open(scoreboard_entry(s, s->oldest)))
        s->oldest++;
}

enum { FIRST_RING = 512 };
enum {
    MAX_HISTORY = 32768
}; // half of the sequence numbers, so that an old number is not mistaken for a new one

static const usec_t MIN_RTO = USEC_PER_SEC; // RFC 6298, 2.4
static const usec_t FIRST_WISH = 20 * USEC_PER_MSEC;
static const usec_t MIN_WISH = 5 * USEC_PER_MSEC;
static const usec_t MAX_WISH = USEC_PER_SEC;
static const usec_t LEAST_OF = 30 * USEC_PER_SEC; // clocks drift by some ms in that
enum { MAX_HELD = 2 }; // requested intervals that the newest packet may have waited for its report
static const usec_t ROUNDING =
    USEC_PER_MSEC; // max rounding error of an arrival offset, including truncation
static const usec_t LEEWAY =
    100 * USEC_PER_MSEC; // tolerance between the two clocks, in addition to drift
enum { DRIFT = 1000 };   // clock drift: one part in DRIFT of the elapsed time

int datagram_sender_init(struct datagram_sender *s, struct controller *controller,
                         const struct datagram_sender_config *config, usec_t now)
{
    size_t history = config->history > 0 ? config->history : DATAGRAM_HISTORY;
    size_t ring = history < FIRST_RING ? history : FIRST_RING;
    assert(history <= MAX_HISTORY && (history & (history - 1)) == 0 && now >= 0);
    *s = (struct datagram_sender){
        .controller = controller,
        .entries = calloc(ring, sizeof(*s->entries)),
        .news = malloc(ring * sizeof(*s->news)),
        .ring = ring,
        .history = history,
        .highest_arrived = -1,
        .first_seq = config->first_seq,
        .goes_on = config->goes_on,
        .rto_at = USEC_NEVER,
        .ahead_max = USEC_NEVER,
    };
    rto_init(&s->rto, MIN_RTO, config->max_rto);
    windowed_min_init(&s->least_rtt, LEAST_OF);
    windowed_min_init(&s->least_one_way, LEAST_OF);
    if (s->entries && s->news)
        return 0;
    datagram_sender_destroy(s);
    return ERR_NO_MEMORY;
}

void datagram_sender_destroy(struct datagram_sender *s)
{
    free(s->news);
    free(s->entries);
    free(s->controller);
    *s = (struct datagram_sender){0};
}

usec_t datagram_sender_next_send(struct datagram_sender *s, usec_t now)
{
    if (scoreboard_is_full(s))
        return USEC_NEVER;
    if (s->silent > 0)
        return s->probe ? now : USEC_NEVER;
    return s->controller->ops->next_send(s->controller, now);
}

bool datagram_sender_room(struct datagram_sender *s, usec_t now)
{
    if (datagram_sender_next_send(s, now) <= now)
        return true;
    s->blocked = true;
    return false;
}

void datagram_sender_sent(struct datagram_sender *s, uint32_t bytes, usec_t now)
{
    assert(!scoreboard_is_full(s) && (s->silent == 0 || s->probe) && bytes <= UINT16_MAX);
    struct cc_sent sent = {s->next_number, bytes, s->blocked};
    scoreboard_make_room(s);
    *scoreboard_entry(s, s->next_number++) = (struct datagram_entry){now, bytes, DATAGRAM_SENT};
    s->blocked = false;
    s->counts.probes += s->probe;
    s->probe = false;
    s->counts.packets++;
    s->counts.bytes += bytes;
    s->flight_bytes += bytes;
    if (s->rto_at == USEC_NEVER) // RFC 6298, 5.1
        s->rto_at = now + rto_value(&s->rto);
    s->controller->ops->sent(s->controller, &sent, now);
}

// A report, and the results of checking it.
struct report_check {
    const struct ccfb *report;
    usec_t at;     // when the report was made, on the receiver's clock
    int64_t begin; // number of its first metric
    int64_t end;   // number after its last metric
    bool lie;
    bool known;           // true if it reports the arrival of a packet on the scoreboard
    bool news;            // true if it reports an arrival that was not known
    int64_t newest;       // highest number that arrived and was open; -1: none
    int64_t newest_timed; // highest such number with an arrival time; -1: none
};

static const struct ccfb_metric *metric_of(const struct report_check *t, int64_t number)
{
    return &t->report->metric[number - t->begin];
}

static usec_t clock_leeway(const struct datagram_sender *s, usec_t now)
{
    return LEEWAY + (now - s->ahead_at) / DRIFT;
}

// During a silence any clock is accepted: the receiver's may have jumped, and its feedback must not
// be refused forever.
static bool takes_any_clock(const struct datagram_sender *s)
{
    return s->ahead_max == USEC_NEVER || s->silent > 0;
}

// Returns true if the report can have been made by now. The receiver's clock is ahead of ours by at
// most the difference of a packet's arrival and departure.
static bool is_possible(const struct datagram_sender *s, const struct report_check *t, usec_t now)
{
    return takes_any_clock(s) || t->at - now <= s->ahead_max + clock_leeway(s, now);
}

// The receiver cannot have held a packet for longer than since it left, nor can the packet have
// arrived before it left, unless a clock runs slow or was set back.
static bool arrival_is_possible(const struct datagram_sender *s, const struct report_check *t,
                                const struct datagram_entry *e, uint16_t offset, usec_t now)
{
    if (offset == CCFB_NO_OFFSET)
        return true;
    usec_t held = ccfb_before((uint16_t)(offset == CCFB_LONG_AGO ? offset - 1 : offset));
    if (held > now - e->sent_at + ROUNDING)
        return false;
    return offset == CCFB_LONG_AGO || takes_any_clock(s) ||
           t->at - held - e->sent_at >= s->ahead_min - clock_leeway(s, now);
}

static void note_arrival(struct datagram_sender *s, struct report_check *t, int64_t number,
                         usec_t now)
{
    struct datagram_entry *e = scoreboard_entry(s, number);
    uint16_t offset = metric_of(t, number)->offset;
    if (scoreboard_is_open(e) || e->fate == DATAGRAM_LOST) {
        if (!arrival_is_possible(s, t, e, offset, now)) {
            t->lie = true;
            return;
        }
        t->news = true;
        if (e->fate == DATAGRAM_LOST) {
            e->fate = DATAGRAM_ARRIVED;
            s->counts.late++;
        } else {
            e->fate = DATAGRAM_FRESH;
            t->newest = number;
            if (offset < CCFB_LONG_AGO)
                t->newest_timed = number;
        }
    }
    t->known = true;
}

// Records the report's metrics in the entries of the packets that it covers.
static void note_metrics(struct datagram_sender *s, struct report_check *t, usec_t now)
{
    bool too_early = t->begin < 0 && !s->goes_on;
    t->lie = too_early || t->end > s->next_number; // packets that were never sent
    int64_t n = t->begin > scoreboard_first(s) ? t->begin : scoreboard_first(s);
    int64_t end = t->end < s->next_number ? t->end : s->next_number;
    for (; n < end; n++) {
        if (metric_of(t, n)->received)
            note_arrival(s, t, n, now);
        else if (scoreboard_entry(s, n)->fate == DATAGRAM_SENT)
            scoreboard_entry(s, n)->fate = DATAGRAM_MISSING;
    }
}

static struct cc_packet arrival(struct datagram_sender *s, const struct report_check *t,
                                int64_t number)
{
    struct datagram_entry *e = scoreboard_entry(s, number);
    const struct ccfb_metric *m = metric_of(t, number);
    // The nearest possible time if the report has CCFB_NO_OFFSET.
    usec_t at = t->at - s->clock_step;
    if (m->offset != CCFB_NO_OFFSET)
        at -= ccfb_before(m->offset < CCFB_LONG_AGO ? m->offset : CCFB_LONG_AGO - 1);
    e->fate = DATAGRAM_ARRIVED;
    s->counts.arrived++;
    s->counts.bytes_arrived += e->bytes;
    if (e->bytes > s->counts.largest_arrived)
        s->counts.largest_arrived = e->bytes;
    if (e->bytes > PACKET_SIZE_SAFE)
        s->counts.large_lost = 0;
    s->counts.ce += m->ecn == 3;
    return (struct cc_packet){.number = number,
                              .bytes = e->bytes,
                              .ce = m->ecn == 3,
                              .sent_at = e->sent_at,
                              .arrived_at = at};
}

// Resolves the packets that this and earlier reports decide. Returns how many became news.
static size_t resolve(struct datagram_sender *s, const struct report_check *t)
{
    size_t count = 0;
    int64_t lost_below = scoreboard_loss_horizon(s);
    int64_t end = t->end < s->next_number ? t->end : s->next_number;
    if (end < lost_below)
        end = lost_below;
    for (int64_t n = s->oldest; n < end; n++) {
        struct datagram_entry *e = scoreboard_entry(s, n);
        if (e->fate == DATAGRAM_FRESH) {
            s->news[count++] = arrival(s, t, n);
        } else if (e->fate == DATAGRAM_MISSING && n < lost_below) {
            e->fate = DATAGRAM_LOST;
            s->counts.lost++;
            s->counts.large_lost += e->bytes > PACKET_SIZE_SAFE;
            s->news[count++] = (struct cc_packet){
                .number = n, .bytes = e->bytes, .lost = true, .sent_at = e->sent_at};
        } else if (e->fate == DATAGRAM_SENT && n < t->begin) {
            scoreboard_give_up(s, n);
        }
    }
    scoreboard_close(s);
    return count;
}

// A packet arrived `ahead` after it left, by the two clocks, and its round trip took `rtt`: the
// difference of the clocks is between ahead - rtt and ahead. Each sample narrows that range.
static void set_clock(struct datagram_sender *s, usec_t ahead, usec_t rtt, usec_t now)
{
    usec_t leeway = clock_leeway(s, now);
    bool known = s->ahead_max != USEC_NEVER;
    if (known && ahead >= s->ahead_min - leeway && ahead - rtt <= s->ahead_max + leeway) {
        usec_t drift = (now - s->ahead_at) / DRIFT;
        s->ahead_min = usec_max(s->ahead_min - drift, ahead - rtt);
        s->ahead_max = usec_min(s->ahead_max + drift, ahead);
        s->ahead_at += drift * DRIFT;
        return;
    }
    if (known) // a clock jump: controllers continue in the old time
        s->clock_step += ahead - s->ahead_max;
    s->ahead_min = ahead - rtt;
    s->ahead_max = ahead;
    s->ahead_at = now;
}

// Returns the RTT sample of the newest packet that arrived, without the receiver's delay; 0: none.
static usec_t sample_rtt(struct datagram_sender *s, const struct report_check *t, usec_t now)
{
    if (t->newest_timed < 0)
        return 0;
    usec_t held = ccfb_before(metric_of(t, t->newest_timed)->offset);
    usec_t sent_at = scoreboard_entry(s, t->newest_timed)->sent_at;
    set_clock(s, t->at - held - sent_at, usec_max(1, now - sent_at - held), now);
    // A receiver that claims to hold packets for longer than requested would obtain a short round
    // trip, so the delay is capped.
    usec_t asked = usec_min(held, MAX_HELD * datagram_sender_wish(s).interval);
    usec_t rtt = usec_max(1, now - sent_at - asked);
    rto_sample(&s->rto, rtt);
    return rtt;
}

// Without an arrival time the report tells nothing.
static void measure_forward(struct datagram_sender *s, usec_t rtt, size_t count, usec_t now)
{
    if (rtt <= 0)
        return;
    windowed_min_add(&s->least_rtt, rtt, now);
    usec_t last = USEC_NEVER;
    for (size_t i = 0; i < count; i++) {
        if (s->news[i].lost)
            continue;
        last = s->news[i].arrived_at - s->news[i].sent_at;
        windowed_min_add(&s->least_one_way, last, now);
    }
    usec_t least = windowed_min_read(&s->least_rtt);
    if (last != USEC_NEVER)
        s->forward_rtt = least + last - windowed_min_read(&s->least_one_way);
}

usec_t datagram_sender_forward_rtt(const struct datagram_sender *s)
{
    return s->forward_rtt;
}

static void report_to_controller(struct datagram_sender *s, const struct report_check *t,
                                 usec_t now)
{
    usec_t rtt = sample_rtt(s, t, now);
    scoreboard_raise(s, t->newest);
    size_t count = resolve(s, t);
    measure_forward(s, rtt, count, now);
    s->silent = 0;
    s->probe = false;
    // RFC 6298, 5.2 and 5.3
    s->rto_at = s->oldest < s->next_number ? now + rto_value(&s->rto) : USEC_NEVER;
    struct cc_feedback f = {
        .packets = s->news,
        .count = count,
        .rtt = rtt,
        .srtt = s->rto.srtt,
        .highest_sent = s->next_number - 1,
        .highest_arrived = s->highest_arrived,
        .flight_bytes = s->flight_bytes,
    };
    s->controller->ops->feedback(s->controller, &f, now);
}

void datagram_sender_feedback(struct datagram_sender *s, const struct ccfb *report, usec_t now)
{
    static const usec_t ANYWHEN = 65536 * USEC_PER_SEC; // keeps the first instants far above zero
    assert(report->count <= CCFB_MAX_PACKETS);
    uint16_t index = (uint16_t)(report->begin_seq - s->first_seq);
    struct report_check t = {
        .report = report,
        .at = ccfb_instant(report->timestamp, s->reported_at > 0 ? s->reported_at : ANYWHEN),
        .begin = seq16_extend(s->next_number - 1, index),
        .newest = -1,
        .newest_timed = -1,
    };
    t.end = t.begin + report->count;
    s->counts.reports++;
    if (is_possible(s, &t, now))
        note_metrics(s, &t, now);
    else
        t.lie = true;
    s->counts.lies += t.lie;
    bool newer = t.at > s->reported_at;
    if (t.known && newer)
        s->reported_at = t.at;
    if (t.news || (t.known && newer))
        report_to_controller(s, &t, now);
}

bool datagram_sender_fate(struct datagram_sender *s, bool *lost)
{
    int64_t first = scoreboard_first(s);
    s->told = s->told > first ? s->told : first;
    while (s->told < s->oldest) {
        uint8_t fate = scoreboard_entry(s, s->told++)->fate;
        *lost = fate == DATAGRAM_LOST;
        if (fate != DATAGRAM_UNREPORTED)
            return true;
    }
    return false;
}

usec_t datagram_sender_next_timeout(const struct datagram_sender *s)
{
    const struct controller_ops *ops = s->controller->ops;
    return ops->next_timeout ? usec_min(s->rto_at, ops->next_timeout(s->controller)) : s->rto_at;
}

// One RTO without feedback.
static void expire(struct datagram_sender *s, usec_t now)
{
    rto_expired(&s->rto);
    s->rto_at = now + rto_value(&s->rto);
    s->silent++;
    s->probe = true;
    s->flight_from = s->next_number;
    s->flight_bytes = 0;
    s->counts.rtos++;
    if (scoreboard_is_full(s)) { // makes room for the probe
        scoreboard_give_up(s, s->oldest);
        scoreboard_close(s);
    }
    s->controller->ops->rto(s->controller, s->silent, now);
}

void datagram_sender_timeout(struct datagram_sender *s, usec_t now)
{
    const struct controller_ops *ops = s->controller->ops;
    if (now >= s->rto_at)
        expire(s, now);
    if (ops->next_timeout && ops->next_timeout(s->controller) <= now)
        ops->timeout(s->controller, now);
}

struct feedback_wish datagram_sender_wish(const struct datagram_sender *s)
{
    struct feedback_wish wish = s->controller->wish;
    if (wish.interval == 0)
        wish.interval = s->rto.srtt > 0 ? s->rto.srtt : FIRST_WISH;
    wish.interval = usec_min(MAX_WISH, usec_max(MIN_WISH, wish.interval));
    return wish;
}
