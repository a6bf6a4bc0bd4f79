// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_info.h"

#include <stdio.h>

static void set_variable(struct transport_variable *v, const char *name, double value)
{
    snprintf(v->name, sizeof(v->name), "%s", name);
    v->value = value;
}

void mtp_info_fill(const struct mtp_flow *f, struct transport_info *out, usec_t now)
{
    struct mtp_info i = mtp_sender_info(&f->sender);
    transport_info_clear(out);
    out->unsent_bytes = (double)i.queued_bytes;
    out->cwnd_packets = i.cwnd;
    double mean = i.counts.packets ? (double)i.counts.bytes / (double)i.counts.packets : 0;
    out->delivered_bytes = (double)i.counts.acked_bytes + (double)i.sacked * mean;
    out->flight_bytes = (double)i.flight * mean;
    out->unheard = mtp_flow_unheard(f, now);
    if (i.srtt) {
        out->rtt_ms = usec_to_msec(i.srtt);
        out->latest_rtt_ms = usec_to_msec(f->sender.rto.latest);
        out->counts_bytes = f->sender.config.counts_bytes;
        out->window_bps = out->allowed_bps =
            i.cwnd * 8.0 * f->sender.config.slot_bytes / usec_to_sec(i.srtt);
    }
    uint64_t sent = i.counts.packets + i.counts.empties + i.counts.resends;
    if (sent)
        out->loss = (double)i.counts.lost / (double)sent;
    set_variable(&out->variable[0], "mode", i.mode);
    set_variable(&out->variable[1], "holes", (double)i.holes);
    set_variable(&out->variable[2], "replaced", (double)(i.counts.replacements + i.counts.fills));
    set_variable(&out->variable[3], "dropped", (double)i.dropped);
    set_variable(&out->variable[4], "why", f->steps.reason);
}
