// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/stats/stats_table.h"

#include "server/stats/stats.h"

double metric_read(const struct metric *m, const void *from)
{
    const void *at = (const char *)from + m->at;
    switch (m->kind) {
    case METRIC_INT:
        return *(const int *)at * m->unit;
    case METRIC_U64:
        return (double)*(const uint64_t *)at * m->unit;
    case METRIC_SIZE:
        return (double)*(const size_t *)at * m->unit;
    case METRIC_USEC:
        return (double)*(const usec_t *)at * m->unit;
    case METRIC_BOOL:
        return *(const bool *)at ? 1 : 0;
    default:
        return *(const double *)at * m->unit;
    }
}

#define COUNTER METRIC_COUNTER
#define GAUGE   METRIC_GAUGE
#define ROW(name, type, help, owner, member, kind, unit)                                           \
    {                                                                                              \
        name, type, help, offsetof(struct owner, member), METRIC_##kind, unit                      \
    }
#define OF_SESSION(name, type, help, member, kind, unit)                                           \
    ROW("weir_session_" name, type, help, session_stats, member, kind, unit)
#define OF_AUDIO(name, help, member)                                                               \
    ROW("weir_session_sound_" name, COUNTER, help, session_stats, member, U64, 1)
#define OF_AUDIO_ENCODER(name, type, help, member, kind, unit)                                     \
    ROW("weir_sound_encoder_" name, type, help, stream_stats, member, kind, unit)
#define OF_RELAY(name, type, help, member, unit)                                                   \
    ROW("weir_session_" name, type, help, session_stats, relay.member, DOUBLE, unit)
#define OF_FEEDBACK(name, help, member)                                                            \
    ROW("weir_session_" name, COUNTER, help, session_stats, info.counts.member, U64, 1)
#define OF_ENCODER(name, type, help, member, kind, unit)                                           \
    ROW("weir_encoder_" name, type, help, encoder_stats, member, kind, unit)

#define OF_CACHE(name, type, help, member, kind)                                                   \
    ROW("weir_cache_" name, type, help, cache_stats, member, kind, 1)

const struct metric metrics_of_cache[] = {
    OF_CACHE("hits_total", COUNTER, "Viewers that were served a stored film.", hits, U64),
    OF_CACHE("saved_bytes_total", COUNTER, "Bytes of RTP payload sent without the origin.",
             saved_bytes, U64),
    OF_CACHE("fetched_bytes_total", COUNTER, "Bytes of video fetched to complete films.",
             fetched_bytes, U64),
    OF_CACHE("bytes", GAUGE, "Bytes of the files.", bytes, DOUBLE),
    OF_CACHE("max_bytes", GAUGE, "Maximum bytes of the files.", max_bytes, DOUBLE),
    OF_CACHE("films", GAUGE, "Films of which something is stored.", films, INT),
    OF_CACHE("complete_objects", GAUGE, "Films in one size that are stored completely.", objects,
             INT),
    OF_CACHE("stopped", GAUGE, "Whether nothing can be written.", stopped, BOOL),
    {.name = NULL},
};

#define OF_HTTP(name, type, help, member, kind)                                                    \
    ROW("weir_http_" name, type, help, http_stats, member, kind, 1)

const struct metric metrics_of_http[] = {
    OF_HTTP("connections", GAUGE, "Open connections of viewers and caches.", connections, INT),
    OF_HTTP("waiting_requests", GAUGE, "Requests that wait for media.", waiting, INT),
    OF_HTTP("requests_total", COUNTER, "Requests.", requests, U64),
    OF_HTTP("sent_bytes_total", COUNTER, "Bytes of the bodies that were sent.", sent_bytes, U64),
    {.name = NULL},
};

const struct metric metrics_of_session[] = {
    OF_SESSION("playing", GAUGE, "Whether media is sent.", playing, BOOL, 1),
    OF_SESSION("level", GAUGE, "Quality level being sent; 0 is the lowest.", level, INT, 1),
    OF_SESSION("packets_total", COUNTER, "RTP packets sent, without audio.", packets, U64, 1),
    OF_SESSION("payload_bytes_total", COUNTER, "Bytes of RTP payload sent, without audio.", octets,
               U64, 1),
    OF_SESSION("thinned_frames_total", COUNTER, "Frames omitted to get within the rate at once.",
               thinned, U64, 1),
    OF_SESSION("queue_frames", GAUGE, "Frames waiting for the transport.", waiting_frames, INT, 1),
    OF_SESSION("queue_bytes", GAUGE, "Bytes of the waiting frames.", waiting_bytes, SIZE, 1),
    OF_SESSION("queue_seconds", GAUGE, "How long the oldest frame has waited here.", waiting_ms,
               DOUBLE, 1e-3),
    OF_SESSION("rate_bytes_per_second", GAUGE,
               "Rate that the transport accepted in the last second.", info.rate_bps, DOUBLE,
               0.125),
    OF_SESSION("rtt_seconds", GAUGE, "Smoothed round-trip time.", info.rtt_ms, DOUBLE, 1e-3),
    OF_SESSION("loss_ratio", GAUGE, "Part of the packets lost; over TCP, retransmitted.", info.loss,
               DOUBLE, 1),
    OF_SESSION("loss_event_ratio", GAUGE, "Loss event rate (RFC 5348).", info.loss_events, DOUBLE,
               1),
    OF_SESSION("cwnd_packets", GAUGE, "Congestion window.", info.cwnd_packets, DOUBLE, 1),
    OF_SESSION("unsent_bytes", GAUGE, "Bytes that the transport holds and has not sent yet.",
               info.unsent_bytes, DOUBLE, 1),
    OF_SESSION("allowed_bytes_per_second", GAUGE, "Rate that the rate controller allows.",
               info.allowed_bps, DOUBLE, 0.125),
    OF_SESSION("target_bytes_per_second", GAUGE, "Target rate of the media, by the adaptation.",
               adaptation.target_bps, DOUBLE, 0.125),
    OF_SESSION("delivered_bytes_per_second", GAUGE, "Recently delivered rate.",
               adaptation.delivered_bps, DOUBLE, 0.125),
    OF_SESSION("capacity_bytes_per_second", GAUGE, "Delivered rate at the last congestion.",
               adaptation.capacity_bps, DOUBLE, 0.125),
    OF_SESSION("delay_seconds", GAUGE, "Estimated delay of a frame that is encoded now.",
               adaptation.delay_ms, DOUBLE, 1e-3),
    OF_SESSION("delay_rise_seconds", GAUGE, "Rise of the delay over its minimum of 5 s.",
               adaptation.rise_ms, DOUBLE, 1e-3),
    OF_SESSION("srtp_replayed_total", COUNTER,
               "Datagrams to the sender that came before: copied on the path.", srtp_replayed, U64,
               1),
    OF_SESSION("srtp_forged_total", COUNTER,
               "Datagrams to the sender with a wrong tag of SRTP: not the viewer's.", srtp_forged,
               U64, 1),
    OF_SESSION("wrong_tokens_total", COUNTER, "Datagrams with a wrong token: not from the viewer.",
               wrong_tokens, U64, 1),
    OF_SESSION("resent_packets_total", COUNTER, "Lost packets sent again, once for each request.",
               repair.resent, U64, 1),
    OF_SESSION("duplicate_packets_total", COUNTER, "Further copies of packets sent again.",
               repair.duplicated, U64, 1),
    OF_SESSION("parity_packets_total", COUNTER, "Parity packets sent.", repair.fec_packets, U64, 1),
    OF_SESSION("invalidations_total", COUNTER,
               "Lost packets whose frames the encoder was told to do without.",
               repair.invalidations, U64, 1),
    OF_SESSION("repair_bytes_total", COUNTER, "Bytes of copies and parity packets.",
               repair.repair_bytes, U64, 1),
    OF_SESSION("feedback_dropped_total", COUNTER,
               "PLIs and NACK entries beyond what the viewer may send.", feedback_dropped, U64, 1),
    {0},
};

const struct metric metrics_of_feedback[] = {
    OF_FEEDBACK("packets_arrived_total", "Packets that the viewer reported as received.", arrived),
    OF_FEEDBACK("packets_lost_total", "Packets that did not arrive in time.", lost),
    OF_FEEDBACK("packets_ecn_marked_total", "Packets that a router marked.", ce),
    OF_FEEDBACK("reports_total", "Reports that the viewer sent.", reports),
    OF_FEEDBACK("report_timeouts_total", "Time-outs of reports.", rtos),
    {0},
};

const struct metric metrics_of_relay[] = {
    OF_RELAY("backbone_rtt_seconds", GAUGE, "Round-trip time of the path to the origin.",
             backbone_rtt_ms, 1e-3),
    OF_RELAY("backbone_rate_bytes_per_second", GAUGE, "Rate that arrived of the origin.",
             backbone_rate_bps, 0.125),
    OF_RELAY("backbone_loss_ratio", GAUGE, "Part of the origin's packets lost.", backbone_loss, 1),
    OF_RELAY("backbone_delay_seconds", GAUGE,
             "Mean time from the origin's first write of a frame to its arrival.",
             backbone_delay_ms, 1e-3),
    OF_RELAY("backbone_skipped_frames_total", COUNTER, "Frames that the origin left out.",
             backbone_skipped, 1),
    OF_RELAY("backbone_away_seconds", GAUGE, "Time since the proxy lost its origin; 0: it did not.",
             backbone_away_s, 1),
    OF_RELAY("proxy_delay_seconds", GAUGE,
             "Mean time from the arrival of a frame to its first write.", proxy_delay_ms, 1e-3),
    OF_RELAY("proxy_limit_bytes_per_second", GAUGE,
             "Max rate that was requested of the origin; 0: none.", proxy_limit_bps, 0.125),
    OF_RELAY("proxy_badput_bytes_total", COUNTER,
             "Bytes of frames that could not be decoded and were not forwarded.",
             proxy_badput_bytes, 1),
    OF_RELAY("proxy_viewers", GAUGE,
             "Viewers that share what arrives of the origin, this one included.", proxy_viewers, 1),
    {0},
};

const struct metric metrics_of_audio[] = {
    OF_AUDIO("packets_total", "RTP packets of audio sent.", audio_packets),
    OF_AUDIO("payload_bytes_total", "Bytes of RTP payload of audio sent.", audio_octets),
    OF_AUDIO("dropped_packets_total", "Audio packets dropped after their deadline.", audio_dropped),
    {0},
};

const struct metric metrics_of_audio_encoder[] = {
    OF_AUDIO_ENCODER("packets_total", COUNTER, "Audio packets encoded, 20 ms each.", audio.packets,
                     U64, 1),
    OF_AUDIO_ENCODER("bytes_total", COUNTER, "Bytes of the packets.", audio.bytes, U64, 1),
    OF_AUDIO_ENCODER("overload_frames_total", COUNTER,
                     "Pictures whose audio was dropped because the encoder was busy.",
                     audio.overload, U64, 1),
    OF_AUDIO_ENCODER("busy_seconds_total", COUNTER, "Time spent encoding.", audio.busy, USEC, 1e-6),
    OF_AUDIO_ENCODER("nominal_bytes_per_second", GAUGE, "Bitrate of the audio.", audio_bps, INT,
                     0.125),
    {0},
};

const struct metric metrics_of_encoder[] = {
    OF_ENCODER("frames_total", COUNTER, "Frames encoded.", stats.frames, U64, 1),
    OF_ENCODER("key_frames_total", COUNTER, "Key frames encoded.", stats.keys, U64, 1),
    OF_ENCODER("bytes_total", COUNTER, "Bytes of the frames.", stats.bytes, U64, 1),
    OF_ENCODER("overload_frames_total", COUNTER, "Pictures dropped because the encoder was busy.",
               stats.overload, U64, 1),
    OF_ENCODER("repair_requests_total", COUNTER, "Repair requests of viewers that lack frames.",
               stats.repairs.requests, U64, 1),
    OF_ENCODER("repaired_total", COUNTER, "Repair requests answered with an older reference.",
               stats.repairs.repaired, U64, 1),
    OF_ENCODER("repair_coalesced_total", COUNTER, "Repair requests merged with an earlier one.",
               stats.repairs.coalesced, U64, 1),
    OF_ENCODER("repair_waited_total", COUNTER, "Repair requests left to the next key frame.",
               stats.repairs.waited, U64, 1),
    OF_ENCODER("repair_key_frames_total", COUNTER, "Key frames that losses caused.",
               stats.repairs.keys, U64, 1),
    OF_ENCODER("busy_seconds_total", COUNTER, "Time spent scaling and encoding.", stats.busy, USEC,
               1e-6),
    OF_ENCODER("lowered_seconds_total", COUNTER,
               "Time in which fewer frames or only smaller sizes were encoded, as the machine did "
               "not keep up; the same for all sizes of a path.",
               stats.lowered, USEC, 1e-6),
    OF_ENCODER("frame_seconds", GAUGE, "Smoothed time to encode a frame.", stats.encode_ms, DOUBLE,
               1e-3),
    OF_ENCODER("nominal_bytes_per_second", GAUGE, "Rate of the size's highest level.", bitrate_bps,
               INT, 0.125),
    {0},
};

const struct metric metrics_of_transport[] = {
    ROW("weir_sessions", GAUGE, "Open sessions.", transport_stats, open, INT, 1),
    ROW("weir_sessions_total", COUNTER, "Sessions since the start.", transport_stats, sessions, U64,
        1),
    ROW("weir_packets_total", COUNTER, "RTP packets sent, without audio.", transport_stats, packets,
        U64, 1),
    ROW("weir_payload_bytes_total", COUNTER, "Bytes of RTP payload sent, without audio.",
        transport_stats, octets, U64, 1),
    ROW("weir_sound_packets_total", COUNTER, "RTP packets of audio sent.", transport_stats,
        audio_packets, U64, 1),
    ROW("weir_sound_payload_bytes_total", COUNTER, "Bytes of RTP payload of audio sent.",
        transport_stats, audio_octets, U64, 1),
    {0},
};
