// SPDX-License-Identifier: GPL-2.0-or-later
// The SDP (RFC 8866) of a Weir stream: one video medium, its ladder of levels, its source, and the
// audio that belongs to it: Opus (RFC 7587), or, written only, AAC (RFC 3640). Weir's own
// attributes, which other players ignore:
//   a=x-weir-source:test 1280x720@30/1
//        kind of source, its size and frame rate
//   a=x-weir-clock:<text>
//       tells a player on the same machine that both read one clock (clock_mark.h)
//   a=x-weir-size:2 640x360@30/1 layers=2
//       one line per size
//   a=x-weir-level:5 size=2 tid=1 rate=960000
//       one line per level, ascending
//   a=x-weir-layers:sizes
//       the sizes are layers of one picture (struct ladder.cumulative)
//   a=x-weir-via:RTSP/1.0 edge-3
//       the proxies between the server and the source, as in a Via header (RFC 2326, 12.43), the
//       nearest to the source first; printable ASCII
//   a=x-weir-order:decoding
//       frames are sent in decoding order, which differs from the order of their numbers: there
//       are B frames
//   a=x-weir-subtitles:eng, Commentary
//       one line per track of text subtitles (subtitle.h); the name may be empty
//   a=x-weir-subtitles-shown:2
//       the track that is shown unless the viewer chooses, from 1
//   a=x-weir-audio:eng, Commentary
//       one line per audio track of a film, if it has several: a viewer hears the first one, or the
//       one that it requests (SET_PARAMETER audio-track); the name may be empty
//   a=x-weir-origin:bytes=123 mtime=456
//       identifies the bytes of a prepared file: another validator, other bytes. Opaque; printable
//       ASCII
#ifndef WEIR_WIRE_SDP_H
#define WEIR_WIRE_SDP_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/wire/rtp.h"
#include "common/wire/subtitle.h"

DECLS_BEGIN

enum {
    SDP_MAX_BYTES = 16384,
    SDP_AUDIO_TRACKS = 8,           // max audio tracks to choose from
    SDP_TRACK_NAME = SUBTITLE_NAME, // bytes of a track's name
    SDP_MAX_ADDRESS = 48,
    SDP_MAX_TEXT = 256,
    SDP_MAX_VIA = 128,
    SDP_MAX_PARAMETER_SETS = 1024,
    SDP_MAX_VALIDATOR = 96,
    SDP_MAX_AUDIO_CONFIG = 64,
};

enum sdp_source {
    SDP_SOURCE_UNKNOWN,
    SDP_SOURCE_TEST,
    SDP_SOURCE_FILE,
    SDP_SOURCE_GREEDY,  // packets without frames
    SDP_SOURCE_STEADY,  // packets without frames
    SDP_SOURCE_GODDARD, // frames without pictures
    SDP_SOURCE_LAYERS,  // frames without pictures
    SDP_SOURCE_CAMERA,
    SDP_SOURCE_SCREEN,
    SDP_SOURCE_RELAYED, // a third party's, through a proxy: as any encoder makes frames
    SDP_SOURCES         // the number of sources
};

enum sdp_codec {
    SDP_SYNTHETIC, // without pictures
    SDP_H264,      // RFC 6184
    SDP_VP9,       // RFC 9628
    SDP_HEVC,      // RFC 7798
    SDP_JPEG,      // RFC 2435; read only: a third party's
};

enum sdp_audio_codec {
    SDP_AUDIO_OPUS,
    SDP_AUDIO_AAC,    // written: AAC-LC, 48 kHz, two channels, in mode AAC-hbr of RFC 3640. Read
                      // (sdp_other_audio.h): whatever `config` says
    SDP_AUDIO_CODECS, // the number of codecs that are written
    SDP_AUDIO_PCMU = SDP_AUDIO_CODECS, // G.711 (RFC 3551, 4.5.14); read only, as are the next ones
    SDP_AUDIO_PCMA,
    SDP_AUDIO_L16,       // RFC 3551, 4.5.11
    SDP_AUDIO_G726,      // RFC 3551, 4.5.4: the first sample in the lowest bits of a byte
    SDP_AUDIO_G726_AAL2, // the same in the highest bits
};

struct sdp_audio {
    bool present;
    enum sdp_audio_codec codec;
    int payload_type;
    char control[SDP_MAX_TEXT];
    struct rtp_ext_ids ext;
    int bitrate_bps; // b=AS; written, not read; 0 = none
    // Of what is only read; 0: Opus's.
    int clock_rate; // of time stamps, Hz
    int channels;   // of G.711 and L16, 1 or 2; of G.726 1
    int bits;       // of a sample of G.726, 2 to 5
    int config_bytes;
    uint8_t config[SDP_MAX_AUDIO_CONFIG]; // AAC: AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1)
};

struct sdp {
    char title[SDP_MAX_TEXT]; // s=
    enum sdp_source source;
    char clock[SDP_MAX_TEXT];           // empty when unknown
    char group_source[SDP_MAX_ADDRESS]; // of a multicast group (RFC 4570); empty: not known
    char control[SDP_MAX_TEXT];         // the video medium's control, as written in the SDP
    char base[SDP_MAX_TEXT]; // the session's own control if that is a URL (RFC 2326, C.1.1)
    double duration;         // seconds, -1 for live (a=range:npt=)
    int bitrate_bps;         // bitrate of the described level, b=AS; written, not read; 0 = none
    int payload_type;
    enum sdp_codec codec;
    // H.264: profile-level-id (RFC 6184, 8.1). HEVC: profile-id, tier-flag and level-id (RFC 7798,
    // 7.1) of two digits each. Six hexadecimal digits, or empty.
    char profile_level_id[8];
    // The parameter sets in base64 with commas, or empty: H.264's SPS and PPS, HEVC's VPS, SPS,
    // PPS.
    char sprop[SDP_MAX_PARAMETER_SETS];
    struct rtp_ext_ids ext;
    bool nack; // lost packets may be reported, and with pli key frames requested: RFC 4585
    bool pli;
    bool tmmbr;            // a max rate may be requested: RFC 5104, 7.1
    bool ccfb;             // reports of RFC 8888 are supported (a=rtcp-fb, its section 6)
    bool reorders;         // true if a=x-weir-order is present
    bool recorded;         // the server has a recording of it; written, not read
    char via[SDP_MAX_VIA]; // empty: the server is the source
    char validator[SDP_MAX_VALIDATOR]; // of the file's bytes (x-weir-origin); empty: unknown
    struct sdp_audio audio;
    int subtitle_count;
    int subtitle_shown; // the track that is shown unless the viewer chooses, from 1; 0: none
    char subtitles[SUBTITLE_TRACKS][SUBTITLE_NAME];      // the tracks' names
    int audio_track_count;                               // 0: the viewer has no choice
    char audio_tracks[SDP_AUDIO_TRACKS][SDP_TRACK_NAME]; // their names
    char other_audio[32]; // codec of an unsupported audio medium; empty: none
    // level_count == 0 if the stream is not Weir's; source_fps is then the rate in the description
    // (a=framerate), or 25.
    struct ladder ladder;
};

// Returns the payload type that weir-send assigns to the codec.
uint8_t sdp_payload_type(enum sdp_codec codec);
// Returns true if the medium has pictures; synthetic frames and filler do not.
bool sdp_has_pictures(const struct sdp *s);
// Returns true for pictures of a third party, whose packets do not describe their frames.
// server_dialect.h has the consequences.
bool sdp_is_third_party(const struct sdp *s);
// Makes a description with pictures that of a third party: nothing of Weir's own is used.
void sdp_make_third_party(struct sdp *s);
// Returns true if the medium consists of frames with times; filler does not.
bool sdp_has_frames(const struct sdp *s);
// Returns the length written (terminated), or ERR_FULL. `address_v6`: writes IP6 in the c= line.
int sdp_encode(const struct sdp *s, bool address_v6, char *out, size_t cap);
// Whether an m= line's profile is unencrypted RTP. SETUP chooses the transport, so that the
// RTP/AVP/TCP of some cameras (RFC 2326, C.1.1) says nothing about it.
bool sdp_is_rtp(struct text profile);
// Returns 0; ERR_MALFORMED; ERR_TOO_BIG; ERR_UNSUPPORTED: no video medium in a codec of sdp_codec.
// Of several formats H.264 is chosen, then the first one. JPEG's payload type, 26, needs no rtpmap
// line (RFC 3551, 6). A NUL ends the text; lines that are empty or have control characters are
// skipped: cameras send them.
int sdp_decode(const char *data, size_t len, struct sdp *s);

DECLS_END
#endif
