// SPDX-License-Identifier: GPL-2.0-or-later
// Decides when an MTP flow changes its mode, and records the reason.
//
//   Down: MTP_STUCK recoveries without progress, the first of them longer ago than its answer takes
//   (on long paths a timeout overtakes the answer to a replacement). The mode below satisfies
//   middleboxes that track the sequence; a middlebox that drops data after a hole and one that
//   drops everything look the same from here. Back: an outage also looks the same at first, but
//   then the lower mode does not help either. If the first acknowledgement after the step comes
//   only after a timeout in the lower mode, the path was down. An acknowledgement that makes
//   progress and whose echo is older than the step answers packets from before the step (as Eifel
//   detects a spurious timeout: RFC 3522, 3.2). In both cases the previous mode is right. The first
//   case is a guess, so it counts at most once in 30 s.
//   Up: after 30 s of progress, one mode at a time. A try that fails before a loss was recovered
//   doubles the time until the next, up to 8 minutes.
//
// A flow never uses a mode above the one that its parameters request.
#ifndef WEIR_MTP_MTP_MODE_CONTROL_H
#define WEIR_MTP_MTP_MODE_CONTROL_H

#include "common/base/decls.h"
#include "common/mtp/mtp_probe.h"

DECLS_BEGIN

// Why the mode is in use; the numbers appear in reports.
enum mtp_reason {
    MTP_REASON_ASKED,
    MTP_REASON_PROBE_OVER, // the MTP_REASON_PROBE_* follow the order of enum mtp_probe_answer
    MTP_REASON_PROBE_BEYOND,
    MTP_REASON_PROBE_UP_TO,
    MTP_REASON_PROBE_NOTHING,
    MTP_REASON_STUCK,
    MTP_REASON_OUTAGE,
    MTP_REASON_LATE,
    MTP_REASON_RETRY,
    MTP_REASONS,
};

struct mtp_mode_control {
    enum mtp_mode top; // the requested mode, the highest one allowed
    enum mtp_mode mode;
    enum mtp_reason reason;
    usec_t wait;     // time before the next try of a higher mode
    usec_t retry_at; // when to try the mode above; USEC_NEVER: no try
    bool on_trial;
    uint64_t recoveries; // recoveries counted when the trial began
    usec_t stuck_at;     // when the first recovery without progress began; -1: none

    // The last step down, while it may still prove wrong.
    bool doubtful;
    enum mtp_mode before;
    usec_t wait_before;
    usec_t stepped_at;
    int64_t proof;      // an old echo proves the step wrong if it acknowledges more than this slot
    bool unheard;       // true if no acknowledgement came since the step
    int unanswered;     // timeouts since the step
    usec_t returned_at; // when an outage last ended; -1: never
};

void mtp_mode_control_init(struct mtp_mode_control *m, enum mtp_mode top);
// Chooses the initial mode from the probe's result; the caller starts the sender in m->mode.
void mtp_mode_control_probed(struct mtp_mode_control *m, enum mtp_probe_answer answer, usec_t now);
// Call after the sender processed an acknowledgement (`cum`: cumulative ACK before it) or a
// timeout. Returns true if the caller must set the sender's mode to m->mode.
bool mtp_mode_control_ack(struct mtp_mode_control *m, const struct mtp_sender *s,
                          const struct mtp_ack *ack, int64_t cum, usec_t now);
bool mtp_mode_control_timeout(struct mtp_mode_control *m, const struct mtp_sender *s, usec_t now);
// An explanation for people, static.
const char *mtp_reason_text(enum mtp_reason reason);

DECLS_END
#endif
