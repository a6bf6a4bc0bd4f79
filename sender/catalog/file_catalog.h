// SPDX-License-Identifier: GPL-2.0-or-later
// A catalog of one film that is a file. While it has viewers, its stream stays as it is. When the
// first viewer comes after that, a thread looks whether the file is still the same; if it was
// replaced, overwritten, cut or prepared, it is opened again, and while it is gone or cannot be
// opened, viewers are refused. So it is with the films of a folder (folder_catalog.h).
//
// Loop thread only.
#ifndef WEIR_SENDER_CATALOG_FILE_CATALOG_H
#define WEIR_SENDER_CATALOG_FILE_CATALOG_H

#include <uv.h>

#include "common/base/decls.h"
#include "sender/catalog/film_mark.h"
#include "sender/options/options.h"
#include "server/session/catalog.h"

DECLS_BEGIN

// Sets *out to the mark of the file o->source, before it is opened. Returns false if that is no
// file.
bool file_catalog_mark(const struct options *o, struct film_mark *out);
// `stream`: of the film; the catalog exchanges it. `stream` and `o` are borrowed. `mark`: of the
// file before `stream` was opened. Returns NULL on failure, which it logs.
struct catalog *file_catalog_new(uv_loop_t *loop, const struct options *o, struct stream *stream,
                                 const struct film_mark *mark);

DECLS_END
#endif
