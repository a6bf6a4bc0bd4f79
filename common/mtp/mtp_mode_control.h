// SPDX-License-Identifier: GPL-2.0-or-later
// When an MTP flow changes its mode, and why.
//
//   Down: MTP_STUCK recoveries without progress, the first of them longer ago than its answer takes
//   (on long paths a timeout overtakes the answer to a replacement). A mode below has what boxes
//   want that follow the sequence; whether one swallows what follows a hole or all of it looks the
//   same from here. Back: an outage looks the same at first, too, but then the lower mode does not
//   help either. If the first acknowledgement after the step comes only once a timeout went by in
//   the lower mode, the path was away. And an acknowledgement that goes on, and whose echo is older
//   than the step, answers what was sent before (as Eifel tells a spurious timeout: RFC 3522, 3.2).
//   In both cases the mode before is right. The first of them is a guess, so not twice within 30 s.
//   Up: after 30 s of progress, a mode at a time. A try that fails before a loss went well doubles
//   the time until the next, up to 8 minutes.
//
// A flow never goes above the mode that it was asked for.
#ifndef WEIR_MTP_MTP_MODE_CONTROL_H
#define WEIR_MTP_MTP_MODE_CONTROL_H

#include "common/mtp/mtp_probe.h"

#ifdef __cplusplus
extern "C" {
#endif

// Why the mode is what it is; the numbers stand in reports.
enum mtp_why {
    MTP_WHY_ASKED,
    MTP_WHY_PROBE_OVER, // in the order of enum mtp_probe_answer
    MTP_WHY_PROBE_BEYOND,
    MTP_WHY_PROBE_UP_TO,
    MTP_WHY_PROBE_NOTHING,
    MTP_WHY_STUCK,
    MTP_WHY_OUTAGE,
    MTP_WHY_LATE,
    MTP_WHY_RETRY,
    MTP_WHYS,
};

struct mtp_mode_control {
    enum mtp_mode top; // as asked for
    enum mtp_mode mode;
    enum mtp_why why;
    usec_t wait;     // before the next try
    usec_t retry_at; // of the mode above; USEC_NEVER: there is none
    bool on_trial;
    uint64_t recoveries; // when the trial began
    usec_t stuck_at;     // the first recovery without progress; -1: none

    // The last step down, for as long as it may turn out to be wrong.
    bool doubtful;
    enum mtp_mode before;
    usec_t wait_before;
    usec_t stepped_at;
    int64_t proof;      // an old echo that acknowledges more than this
    bool unheard;       // no acknowledgement since
    int unanswered;     // timeouts meanwhile
    usec_t returned_at; // after an outage; -1: never
};

void mtp_mode_control_init(struct mtp_mode_control *m, enum mtp_mode top);
// The sender is to begin in the mode that is then in `m`.
void mtp_mode_control_probed(struct mtp_mode_control *m, enum mtp_probe_answer answer, usec_t now);
// The sender got an acknowledgement, after `cum` had been acknowledged, or a timeout. True: its
// mode is to be set to that in `m`.
bool mtp_mode_control_ack(struct mtp_mode_control *m, const struct mtp_sender *s,
                          const struct mtp_ack *ack, int64_t cum, usec_t now);
bool mtp_mode_control_timeout(struct mtp_mode_control *m, const struct mtp_sender *s, usec_t now);
const char *mtp_why_text(enum mtp_why why); // for people

#ifdef __cplusplus
}
#endif
#endif
