// SPDX-License-Identifier: GPL-2.0-or-later
// Makes still pictures of a server's streams, for HTTP: the newest picture as JPEG, only on
// request, and at most once per `age` and name. A thread encodes; it starts with the first
// request. Loop thread only.
//
// Bounds: `count` paths are kept with a picture of at most `bytes` each, STILLS_CODING pictures
// wait for the thread, and a request waits STILL_LIMIT at most.
#ifndef WEIR_SERVER_STILL_STILL_MAKER_H
#define WEIR_SERVER_STILL_STILL_MAKER_H

#include <uv.h>

#include "common/base/decls.h"
#include "server/session/stream_media.h"

DECLS_BEGIN

enum {
    STILLS_CODING = 8,
    STILL_WAITS = 1, // a result, not an error: on_ready follows
};
#define STILL_LIMIT (5 * USEC_PER_SEC)

struct still_maker; // opaque
struct still;

struct still_size {
    int count;
    int width; // wider pictures are reduced
    size_t bytes;
    usec_t age;
};
extern const struct still_size still_newest; // of streams
extern const struct still_size still_film;   // small, of the films of a list

struct still_picture { // JPEG, until the maker is called again
    const uint8_t *data;
    size_t bytes;
    usec_t age; // how long it is kept from now on
};

// One request. Embedded by its owner, who sets the first two members; the others are zero at first.
struct still_request {
    void (*on_ready)(void *ctx, usec_t now); // repeat still_maker_get
    void *ctx;                               // borrowed
    struct still *still;                     // the maker's own; NULL: it does not wait
    struct stream_media *media;              // borrowed while it waits
    struct still_request *next;
    bool is_done;
    int err; // with is_done
};

struct still_maker *still_maker_new(uv_loop_t *loop,
                                    const struct still_size *size); // borrowed; NULL: no memory
// All requests must have ended. Waits for a picture that is being encoded. NULL is fine.
void still_maker_free(struct still_maker *m);
// Gets the newest picture of `media`, whose name among the maker's stills is `name`. Returns
//   0: *out;
//   STILL_WAITS: `media` must stay until the request has ended;
//   ERR_UNSUPPORTED: the media has no pictures that can be taken;
//   ERR_TIMED_OUT, ERR_END, ERR_NOT_FOUND: as struct taken_picture says;
//   ERR_FULL: too many pictures are being made;
//   another error of picture_jpeg.
// All but STILL_WAITS end the request.
int still_maker_get(struct still_maker *m, const char *name, struct stream_media *media,
                    struct still_request *r, struct still_picture *out, usec_t now);
// Ends a request that waits. Else does nothing.
void still_maker_leave(struct still_request *r);

DECLS_END
#endif
