// SPDX-License-Identifier: GPL-2.0-or-later
// What a server offers at which path: one stream at one, or the files of a folder, each at its own.
// A file is opened when its first viewer comes and closed when the last has gone. Loop thread only.
#ifndef WEIR_SENDER_SHELF_H
#define WEIR_SENDER_SHELF_H

#include <uv.h>

#include "sender/options.h"
#include "sender/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SHELF_MAX_OPEN = FIGURES_STREAMS, // files at once
    SHELF_MAX_FILES = 1000,           // that are listed
};

struct shelf;

// `path` (begins with '/') and `stream` are borrowed. NULL: no memory.
struct shelf *shelf_new_one(const char *path, struct stream *stream);
// The folder o->source. `o` is borrowed. NULL: logged.
struct shelf *shelf_new_folder(uv_loop_t *loop, const struct options *o);
void shelf_free(struct shelf *s); // after all streams were given back; NULL is fine

bool shelf_is_folder(const struct shelf *s);
const char *shelf_where(const struct shelf *s); // of what there is; of a folder NULL
// The stream at the path of a URL, held until shelf_leave. 0; ERR_NOT_FOUND: there is none;
// ERR_END: it is the folder's own; ERR_FULL: too many files are open; other errors: it cannot be
// opened.
int shelf_take(struct shelf *s, const char *url_path, struct stream **out);
void shelf_leave(struct shelf *s, struct stream *stream);
// A line a file: its path in a URL, seconds, sizes, with tabs between. Files are looked into for at
// most `budget`; what is not known yet has a "?". Their number.
int shelf_list(struct shelf *s, char *out, size_t cap, usec_t budget);
// Of all streams that are open: everything but the program's version and age. `each` as of
// stream_figures.
void shelf_figures(struct shelf *s, struct figures *out, session_figures_fn *each, void *ctx,
                   usec_t now);

#ifdef __cplusplus
}
#endif
#endif
