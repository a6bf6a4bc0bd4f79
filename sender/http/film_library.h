// SPDX-License-Identifier: GPL-2.0-or-later
// The files of a stored ladder on HTTP: video on demand. A segment is a group of the ladder; its
// files are made on a thread when a viewer asks for one of them, for all renditions at once, and
// FILM_KEPT groups are kept. The same request always gets the same bytes.
//
// Frames are shown in another order than they are decoded (stored_plan.h). A frame's decoding time
// is that of its slot, so all times of presentation, of the audio too, are later than in the media
// by the most frames that a slot is late.
//
// AAC is encoded for each segment alone: the encoder begins some packets before the segment, which
// are dropped, so a decoder hears no seam.
#ifndef WEIR_SENDER_HTTP_FILM_LIBRARY_H
#define WEIR_SENDER_HTTP_FILM_LIBRARY_H

#include <limits.h>
#include <sys/stat.h>

#include "common/base/decls.h"
#include "server/http/http_content.h"

DECLS_BEGIN

enum {
    FILM_KEPT = 24,    // groups
    FILM_WAITING = 16, // groups that wait to be read
    // Bytes of groups that are no longer kept, but that slow viewers still read. While there are
    // more, no further group is read: requests for one fail (503).
    FILM_PINNED = 256 << 20,
};
#define FILM_PATIENCE (8 * USEC_PER_SEC) // max. time that a request waits

struct film_library; // opaque; embeds a struct http_content first

// Resolves a film's path in the folder `root` to its real path. Returns false if there is none, or
// it may not be offered. May block.
typedef bool film_library_find(const char *root, const char *path, char real[PATH_MAX],
                               struct stat *st);

struct film_library_config {
    // Borrowed for the call: path of the stored ladder. With `root`, the path of the film in that
    // folder: a stored ladder, or a file that has one beside it.
    const char *file;
    const char *root;        // borrowed; NULL: none
    film_library_find *find; // static; with `root`
    const char *mount;       // borrowed; path of the files on HTTP
    bool has_audio;          // its audio is served, if it has any
    int aac_bps;
    // Max. bytes of the segments that all films of the process keep. While they have more, a film
    // keeps its newest segment only. 0: no limit.
    size_t max_kept;
    // A waiting request may be served. Any thread.
    void (*on_change)(void *ctx);
    void *ctx; // borrowed
};

// NULL: no memory.
struct film_library *film_library_new(const struct film_library_config *config);
// Begins to open the file, on the thread; call it once. Returns 0 or ERR_NO_MEMORY.
int film_library_open(struct film_library *l);
// Stops the thread's reading, and waits for it, at most 2 s: on a disk that does not answer the
// thread is left behind, and frees what it uses when it returns. on_change is not called again.
// NULL is fine.
void film_library_stop(struct film_library *l);
enum film_library_state {
    FILM_READING, // the thread has work
    FILM_RESTS,
    FILM_BROKEN, // there is no such film, or it cannot be opened
};
enum film_library_state film_library_state(struct film_library *l); // any thread
size_t film_library_kept(void); // bytes of the segments that all films keep; any thread
// Drops the segment whose last request is the oldest. Returns false if the film keeps none. Any
// thread.
bool film_library_trim(struct film_library *l);
// The server that uses its content must have ended, or must not know of it any more. NULL is fine.
void film_library_free(struct film_library *l);
struct http_content *film_library_content(struct film_library *l);

DECLS_END
#endif
