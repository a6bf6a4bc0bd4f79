// SPDX-License-Identifier: GPL-2.0-or-later
// The audio's RTP stream: recognises its packets, counts them, finds each packet's media time (from
// its header; for servers other than weir-send from av_sync.h), and makes the receiver reports.
// Where packets can get lost it requests the missing ones (loss_detector.h).
// Loop thread only.
#ifndef WEIR_CLIENT_RECEIVE_AUDIO_RECEIVER_H
#define WEIR_CLIENT_RECEIVE_AUDIO_RECEIVER_H

#include "common/base/decls.h"
#include "common/protocol/rtp_receiver.h"
#include "common/protocol/server_dialect.h"
#include "common/wire/sdp.h"
#include "stream/audio/av_sync.h"
#include "stream/receive/rtcp_feedback.h"

DECLS_BEGIN

// One audio packet, in the order of arrival.
struct received_audio {
    int64_t position;    // media time of its first sample (audio.h)
    usec_t capture_wall; // 0 = unknown
    usec_t arrived;
    const uint8_t *data; // borrowed for the call
    size_t bytes;
};

// Takes a packet that is neither a duplicate nor malformed.
typedef void audio_receiver_fn(void *ctx, const struct received_audio *a);

// The newest sender reports of sources of which no packet has come yet: FFmpeg reports before its
// first packet, and then 5 s later. Two, as the video's may come on the same path.
enum { AUDIO_EARLY_REPORTS = 2 };

struct audio_receiver {
    const struct sdp *sdp;                // borrowed
    const struct server_dialect *dialect; // static
    audio_receiver_fn *on_packet;         // static
    void *ctx;                            // borrowed
    struct rtp_receiver receiver;
    struct rtcp_feedback feedback;
    int64_t reference; // a position near the next packet's
    struct av_sync sync;
    struct early_report {
        bool is_told;
        uint32_t ssrc;
        uint64_t ntp;
        uint32_t stamp;
        usec_t arrived;
    } early[AUDIO_EARLY_REPORTS];   // the newest one first
    struct loss_detector *detector; // owned; NULL: nothing is requested
    uint64_t repaired;              // packets that were requested and then sent again
    uint64_t bytes;
    uint64_t malformed;
};

// `random` is also that of the video's feedback, so that both name one receiver (RFC 3550, 5.2).
void audio_receiver_init(struct audio_receiver *in, const struct sdp *sdp,
                         audio_receiver_fn *on_packet, void *ctx, uint64_t random);
void audio_receiver_destroy(struct audio_receiver *in);
// From now on missing packets are requested, if `requests`. Returns 0, or ERR_NO_MEMORY.
int audio_receiver_set_repair(struct audio_receiver *in, bool requests);
// `rtt`: 0: unknown. `keep`: how long after it was noticed a missing packet is of use.
void audio_receiver_set_path(struct audio_receiver *in, usec_t rtt, usec_t keep);
// Takes a packet of this stream. Returns false if it belongs to another.
bool audio_receiver_packet(struct audio_receiver *in, bool rtcp, const uint8_t *data, size_t len,
                           usec_t arrived);
// The video is at media time `media`. Audio packets carry positions modulo 2^32, which are extended
// to the value nearest to it.
void audio_receiver_near(struct audio_receiver *in, usec_t media);
// Writes the requests that are due now to `out` of RTCP_MAX_PACKET bytes, as a compound. Returns
// its length; 0: none is due. Call it after each packet of the session: while none arrives, none is
// requested.
size_t audio_receiver_requests(struct audio_receiver *in, uint8_t *out, usec_t now);
// Writes the report of this second to `out` of RTCP_MAX_PACKET bytes. Returns its length; 0: no
// packet has arrived yet.
size_t audio_receiver_report(struct audio_receiver *in, uint8_t *out, usec_t now);

DECLS_END
#endif
