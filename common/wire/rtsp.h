// SPDX-License-Identifier: GPL-2.0-or-later
// RTSP 1.0 (RFC 2326) on a byte stream: requests, responses and `$`-interleaved frames (10.12), and
// the parameter bodies (`name: value` lines) of GET_PARAMETER and SET_PARAMETER.
#ifndef WEIR_WIRE_RTSP_H
#define WEIR_WIRE_RTSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/wire/text.h"

DECLS_BEGIN

enum {
    RTSP_MAX_HEAD = 8192,  // max bytes of start line and headers together
    RTSP_MAX_BODY = 32768, // max bytes
    RTSP_MAX_HEADERS = 48,
    RTSP_MAX_UNFOLDED = 2048, // max bytes of the folded values of a response
    RTSP_MAX_ITEM =
        4 + 65535 > RTSP_MAX_HEAD + RTSP_MAX_BODY ? 4 + 65535 : RTSP_MAX_HEAD + RTSP_MAX_BODY,
};

enum rtsp_method {
    RTSP_OPTIONS,
    RTSP_DESCRIBE,
    RTSP_SETUP,
    RTSP_PLAY,
    RTSP_PAUSE,
    RTSP_TEARDOWN,
    RTSP_GET_PARAMETER,
    RTSP_SET_PARAMETER,
    RTSP_UNKNOWN,  // well-formed, but none of those above: status 501
    RTSP_ANNOUNCE, // those of a recording client
    RTSP_RECORD,
};

const char *rtsp_method_name(enum rtsp_method method);

enum rtsp_kind { RTSP_REQUEST, RTSP_RESPONSE, RTSP_INTERLEAVED };

struct rtsp_item {
    enum rtsp_kind kind;
    enum rtsp_method method; // requests
    struct text uri;         // requests
    int status;              // responses, 100 .. 599
    struct text reason;      // responses
    int cseq;                // -1 when absent or not a number
    int header_count;
    struct {
        struct text name;
        struct text value; // without surrounding white space
    } headers[RTSP_MAX_HEADERS];
    char unfolded[RTSP_MAX_UNFOLDED]; // what folded values of this item point to: do not copy it
    size_t unfolded_len;
    struct text body;    // requests and responses: Content-Length bytes
    uint8_t channel;     // interleaved
    const uint8_t *data; // interleaved; borrowed
    size_t data_len;
};

// Decodes the first item in `data`. On 0 the item fills *used bytes and borrows from `data`.
// ERR_AGAIN: incomplete, more input is needed. ERR_MALFORMED, ERR_TOO_BIG: the caller answers 400 /
// 413 and closes, as the rest of the stream cannot be parsed. Stray CRLFs before a message are
// skipped and counted in *used. On ERR_AGAIN *used counts only them; the caller may drop them, so
// that a peer which keeps the connection alive with CRLFs does not fill the buffer.
//
// Requests are read by the RFC. Responses are read as other clients read them, because cameras send
// them: a line that begins with white space continues the value before it (RFC 2616, 2.2), or is
// skipped if there is none; a line without a name and a colon, between which may be blanks, is
// skipped. A Content-Length without a value is none.
int rtsp_decode(const uint8_t *data, size_t len, struct rtsp_item *item, size_t *used);

// Some cameras put odd bytes between items. Returns how many bytes to skip to the next status line,
// request line or interleaved RTP or RTCP packet (version 2), or what may become one with more
// input; `len`: there is none. 0: `data` begins with an item, whatever its channel and version.
// `skips`: the bytes before `data` were skipped, so that an interleaved packet must show itself.
size_t rtsp_stray_bytes(const uint8_t *data, size_t len, bool skips);

enum { RTSP_INTERLEAVED_HEAD = 4 };
// Writes the head of an interleaved frame of `len` bytes, 65,535 at most: '$', channel, length
// (10.12).
void rtsp_interleaved_encode(uint8_t out[RTSP_INTERLEAVED_HEAD], int channel, size_t len);

// Returns the value of the first header with that name, ignoring case; .at == NULL if there is
// none.
struct text rtsp_header(const struct rtsp_item *item, const char *name);

// Decodes Range: npt=FROM-TO (3.6) or clock=FROM-TO (3.7). `from` and `to` are in seconds; from =
// -1 for "now", to = -1 if open. Returns 0, ERR_MALFORMED, or ERR_UNSUPPORTED (smpte=).
//
// npt=-SECONDS- is an extension: an open range of live media that begins so long before the
// present. (npt=-SECONDS is the RFC's range that ends there.)
enum rtsp_range_kind {
    RTSP_RANGE_NPT,
    RTSP_RANGE_BACK,  // `from` counts backwards from the present
    RTSP_RANGE_CLOCK, // since 1970, UTC
};
struct rtsp_range {
    enum rtsp_range_kind kind;
    double from;
    double to;
};
int rtsp_range_decode(struct text value, struct rtsp_range *out);
// Decodes Scale (12.34), a signed decimal number within +-RTSP_MAX_SCALE. Returns 0 or
// ERR_MALFORMED.
#define RTSP_MAX_SCALE 1000
#define RTSP_MIN_SCALE 0.001 // the least magnitude, as it is written in requests
int rtsp_scale_decode(struct text value, double *out);

// Names a session in requests that are sent before its id is known: a SETUP, and those that follow
// it in the same round trip (RFC 7826, 18.33).
#define RTSP_PIPELINED_HEADER "Pipelined-Requests"
// In SETUP and its response: a second path of the session's media, as a Transport header has it.
// Media goes there, and back, at SET_PARAMETER `path` (docs/protocol.md, "Moves").
#define RTSP_BESIDE_HEADER "X-Weir-Beside"
// The same of media in datagrams: a path over another network of the viewer's, for what the first
// one brings too late (two_paths.h).
#define RTSP_SECOND_HEADER "X-Weir-Second"
// In SETUP: the viewer may continue the session on another connection (docs/protocol.md,
// "Re-attachment"); its response has the secret. In OPTIONS with a Session header, the first
// request of another connection: the secret, RTSP_ATTACH_SECRET hexadecimal digits.
#define RTSP_ATTACH_HEADER "X-Weir-Attach"
enum { RTSP_ATTACH_SECRET = 32 };

// X-Weir-Frames, in the response to PLAY of stored media: "first=360;show=377;ahead;until=420".
#define RTSP_FRAMES_HEADER "X-Weir-Frames"
struct rtsp_frames {
    int64_t first; // number of the first frame that is sent
    int64_t show;  // number of the frame at which the response's Range begins; >= first, and frames
                   // before it only serve to decode it
    bool ahead;    // true if frames are initially sent faster than real time
    int64_t until; // number of the frame at which the server awaits a level; 0: at none
};

// X-Weir-Await, in the first PLAY: what the viewer requests once the first group has arrived. Only
// such a response to PLAY names `until`.
#define RTSP_AWAIT_HEADER "X-Weir-Await"
#define RTSP_AWAIT_LEVEL  "level"
// Returns the length written (terminated), or ERR_FULL.
int rtsp_frames_encode(const struct rtsp_frames *f, char *out, size_t cap);
// Returns 0 or ERR_MALFORMED.
int rtsp_frames_decode(struct text value, struct rtsp_frames *out);

// X-Weir-Rewind, in the response to PLAY of live media whose past is kept: "behind=12.345;back=60".
#define RTSP_REWIND_HEADER "X-Weir-Rewind"
struct rtsp_rewind {
    double behind; // seconds between the present and the first frame that is sent; 0: the present
    double back;   // seconds that the server can go back at most
};
// Returns the length written (terminated), or ERR_FULL.
int rtsp_rewind_encode(const struct rtsp_rewind *r, char *out, size_t cap);
// Returns 0 or ERR_MALFORMED.
int rtsp_rewind_decode(struct text value, struct rtsp_rewind *out);

// Walks the `name: value` lines of a body. *at is an offset, initially 0. Returns 1 when a line was
// read, 0 at the end, ERR_MALFORMED. A line without a colon is a bare name, as in a GET_PARAMETER
// request; its value is empty.
int rtsp_parameter_next(struct text body, size_t *at, struct text *name, struct text *value);

// Returns "Session Not Found" ...; never NULL.
const char *rtsp_reason(int status);

DECLS_END
#endif
