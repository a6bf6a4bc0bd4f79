// SPDX-License-Identifier: GPL-2.0-or-later
// SCReAMv2 (draft-ietf-ccwg-rfc8298bis-screamv2) for live media: fills a path without a standing
// queue, does not mistake random loss for congestion, and shares a queue that TCP fills. Numbers in
// parentheses are sections of the draft.
//
//   The law. rate = ref_wnd / (max(base RTT, VIRTUAL_RTT) + standing queue delay). Packets leave at
//   PACKET_PACING_HEADROOM times the rate within a frame, and at the rate on average (4.3.3).
//   ref_wnd grows per acknowledged byte as the draft says (4.2.2.2): a packet per RTT, less near
//   the inflection point and where a queue begins, more long after a congestion. It grows only
//   while the rate is below 2.4 times what arrives (RFC 7661's idea). Before the first congestion
//   it doubles each RTT.
//   It shrinks
//     - at an L4S mark: by l4s_alpha / 2, the share of marked packets (4.2.1.3, 4.2.2.1);
//     - at a congestive loss: to BETA_LOSS = 0.7; at a classic mark: to BETA_ECN = 0.8; once per
//     RTT;
//     - when a queue stands.
//
// Nine laws differ from the draft.
//
// Loss. The draft takes every loss for congestion. Here a loss is congestive only where a queue is:
// a standing one of 10 ms, or one that the lost packet's neighbours found near the recent peak, if
// most losses of late were such (the spike detector of Cen, Cosman, Voelker: End-to-end
// differentiation of congestion and wireless losses, 2003). Other losses count only above 10 % in 2
// s: then ref_wnd shrinks by half of their share (draft-ietf-rmcat-gcc-02, section 6).
//
// Drain. The draft responds to an average delay, in proportion. Here a queue of target / 2, one of
// target / 4 for a second, or a frame that ends with so much more delay than frames of the last
// second, sets ref_wnd to 0.85 of what the link delivers in a base RTT, once per RTT, until the
// queue is below target / 4. Where the queue may be that of other flows, too, half of the rate of
// the last 200 ms remains: while a queue of 60 ms stands, a base RTT's worth is four fifths of the
// rate over a path of 200 ms, and a quarter over one of 20 ms, so that the flow of the short path
// would give all of its share away. Not on a radio, whose rate may have fallen.
//
// Restoration. A radio that delivers nothing for some tens of milliseconds makes a queue, too, and
// what arrived meanwhile tells nothing of its rate. When a drain is over, what arrived from the
// instant of the longest delay until the queue was gone is what the link delivers: ref_wnd and the
// media's rate return to 0.9 of it, at most to what they were before the drain (in the spirit of
// RFC 4015, which restores a window after a spurious timeout). Not in the competing mode.
//
// Patience. Below 1 Mbit/s the queue that begins a drain, and the one at which growth is least, are
// longer: by (1 Mbit/s / rate)^2, at most five times as long. So of two flows the slower one
// yields later, which makes their rates more equal (Swift, Kumar et al. 2020, lengthens its target
// as the window shrinks). A flow that crosses two queues, each of them kept by another flow, keeps
// a share. A picture suffers more from so low a rate than from the delay.
//
// Marks. Packets leave at 1.1 times the rate within a frame while a queue marks, so that a frame
// makes no queue of its own. Marks leave three packets of ref_wnd: DualPI2's controller still marks
// for seconds after a fall of the capacity, when the queue is gone.
//
// Batches. Wi-Fi collects packets and delivers them together, after others have used the channel:
// packets that left apart arrive at once. Their wait is no standing queue. Where a tenth of the
// packets come so, a queue stands only if packets of the last 100 to 200 ms all waited, and the
// link's rate is that of 300 ms. Where it is a fifth, what arrives between two batches is no
// measure of the link: a drain leaves at least three packets of ref_wnd, and the media's rate grows
// by 500 kbit/s or 200 % per second at most.
//
// Other traffic (4.2.1.4.1). The draft raises its delay target with the mean queue delay. Here the
// drain is also an experiment. Alone in a queue, packets arrive at the link's rate however slowly
// they are sent; next to others, at the rate of this flow's share, which shrinks with the sending
// rate. So packets of the drain that still found a queue tell, once they left at less than 0.8 of
// the rate before: if they arrived nearer to the rate at which they left than to the one before, or
// if the queue does not shrink at all, others hold it. Two such drains in a row, or a queue that
// stays, begin the competing mode, as Copa has one (Arun, Balakrishnan 2018, 2.2): ref_wnd is
// restored and moves as that of a TCP: AIMD with BETA_LOSS and about Reno's growth (RFC 9438,
// 4.3), over a long queue 2.5 packets a second, as CUBIC's window grows by time and not by round
// trips, and until its first loss three times as fast, for it has given its share away before.
// When the queue falls by 40 %, at the earliest after 2 s, or after 12 s, the next drain decides
// again, a trial. It halves ref_wnd at most, unless the packets tell that the queue is this
// flow's own, and so does every drain whose packets tell that it is that of others: what arrives
// from a queue of others, for some tens of milliseconds next to nothing, is no measure of the
// link. The wait of 2 s doubles each time that others are found, up to 8 s; a queue that falls
// by 80 % ends it. All flows of this kind see the queue fall at the same time and drain
// together, so that they return to the delay mode together. Flows of this kind alone keep their
// queues below twice the target, or slightly above what their patience tolerates, and lose
// nothing: where that is so, a drain tells of them and begins no competing mode. If it cannot
// end their queue, it ends itself, and for 3 s tolerates half as much again. But a drain that
// has left the flow less than 100 kbit/s for 2.5 s begins the mode whatever the queue: the flow
// has no part in it. The media follows this rate alone, and no other sign of a queue
// (controller_info.leads), in the delay mode and once a trial has found others.
//
// Media rate (4.4). While packets have waited at the sender for 100 ms, and while draining, the
// rate given to the media is a share of what the link delivers, for an encoder follows at once. It
// grows by 50 % or 200 kbit/s per second at most (RFC 8298, 4.1.3, RAMP_UP_SPEED), and by 5 % near
// the last measured capacity, until no queue has stood for a second: the link may have become
// faster.
//
// Pause. When media returns after a second or more, the max rate that arrived in the seconds before
// the pause is due. For 3 s the window and the media's rate return to it as at the start, whatever
// a drain takes (RFC 7661 preserves a window that an application leaves unused). The reason: flows
// that used the link meanwhile drain in proportion to their rates. A flow that regained its rate by
// a packet per RTT would have less than its share for many seconds. A drain that shows that the
// queue is this flow's own lowers what is due to the link's rate. Nothing is due after a timeout,
// or in the competing mode.
//
// A mark counts as classic if its packet had found a queue that no L4S queue has (RFC 9331, 4.3): 3
// ms and two packets.
//
// Parameters: target=60 (ms, QDELAY_TARGET_LO), ecn=l4s|classic (packets carry ECT(1) or ECT(0)).
#ifndef WEIR_CONGESTION_SCREAM_H
#define WEIR_CONGESTION_SCREAM_H

#include "common/base/decls.h"
#include "common/base/windowed_min.h"
#include "common/congestion/controller.h"
#include "common/congestion/delivery_rate.h"
#include "common/congestion/queue_delay.h"

DECLS_BEGIN

enum { SCREAM_LOSS_SLOTS = 4 };

enum scream_mode {
    SCREAM_DELAY,     // keeps the queue short
    SCREAM_COMPETING, // other traffic holds the queue: moves as a TCP
    SCREAM_TRIAL,     // as competing, until the next drain decides
};

struct scream {
    struct controller base;
    usec_t target;               // qdelay_target
    struct windowed_min min_rtt; // base RTT
    usec_t srtt;                 // 0: no sample yet; nothing is known of the path
    struct queue_delay queue;
    struct delivery_rate delivery;
    struct windowed_min held;   // of queue delays, over many batches
    double batched;             // share of packets that a radio held and delivered with others
    usec_t arrived_at, left_at; // arrival (0: none yet) and departure of the last packet
    double delivered;           // bytes/s, recently
    double capacity;            // bytes/s, delivered while a queue last stood; 0: not known

    double ref_wnd, ref_wnd_i; // bytes; the inflection point
    usec_t ref_wnd_i_at;
    usec_t congested_at;  // last congestion of any kind
    usec_t reacted_at;    // last reduction
    usec_t lost_at;       // last congestive loss
    bool starting;        // true until the first congestion
    double slow_start_to; // bytes: below this, as at the start (RFC 5681, 3.1, after a timeout)
    double due;           // bytes/s that arrived before the last pause of the media
    usec_t resumed_at;    // the end of that pause; long ago: none, or a timeout since
    usec_t rto_at;        // last timeout that told something
    usec_t returned_at;   // the end of the last gap: a window that reaches into it tells no rate
    double l4s_alpha;     // share of packets with an L4S mark
    double units, marked; // packets and marked ones since l4s_alpha_at
    usec_t l4s_alpha_at;

    struct {
        double packets, lost;
    } loss[SCREAM_LOSS_SLOTS]; // the last 2 s
    int loss_slot;
    usec_t loss_slot_at;
    double loss_share;    // of the last 2 s
    double losses_queued; // share of the last losses whose neighbours found a queue near its peak

    enum scream_mode mode;
    usec_t mode_since;
    usec_t competing_peak; // largest standing queue delay in this mode
    usec_t queue_at;       // when a queue last stood
    usec_t calm_at;        // when last no queue stood
    int others;            // drains in a row that found other traffic
    usec_t others_since;   // when the first drain of `others` ended
    usec_t tolerates;      // the queue of flows of this kind, which a drain could not end
    usec_t tolerates_since;
    int confirmed; // trials in a row that found other traffic
    int undecided; // drains in a trial that ended too soon to tell

    struct {
        bool active;
        bool standing; // began with a standing queue: only such a drain tells of other traffic
        usec_t since;  // when it began
        usec_t cut_at; // when ref_wnd was last cut
        usec_t best;   // the least queue delay so far
        usec_t most;   // the largest standing one
        usec_t best_at;
        double patience;    // times the target: the queue that the rate before the drain tolerates
        double ref_wnd;     // before the drain; its first loss shrinks it by BETA_LOSS
        double target_rate; // before the drain
        bool lost;          // true if a packet was lost in the drain
        double delivered;   // bytes/s before the drain
        double bytes;       // that arrived in `time` although sent in the drain into a queue
        usec_t time;
        usec_t sent_time;    // time in which the packets of `bytes` left
        usec_t last_at;      // arrival of the last such packet; < 0: the last packet was none
        usec_t last_sent_at; // departure of the last packet
    } drain;

    struct {             // the present or last queue, since the packet that waited longest in it
        bool queued;     // true while packets find it
        usec_t peak;     // queue delay of that packet
        usec_t from, to; // arrivals of it and of the last packet that found the queue
        double bytes;    // that arrived after it
        int packets;
    } fall;

    double target_rate; // bytes/s, for the media
    usec_t target_at;
    double flight;              // bytes
    usec_t sent_at;             // the last packet
    usec_t unblocked_at;        // the last packet for which the application had not been waiting
    double tokens, fast_tokens; // bytes that may leave, on average and within a frame
    usec_t tokens_at;
};

int scream_init(struct controller *c, const char *params, usec_t now);

#define CONTROLLER_SCREAM                                                                          \
    {                                                                                              \
        .name = "scream",                                                                          \
        .help = "SCReAMv2 for live media: short queues, random loss is not congestion; "           \
                "scream:target=60 (ms),ecn=l4s|classic",                                           \
        .bytes = sizeof(struct scream), .init = scream_init                                        \
    }

DECLS_END
#endif
