// SPDX-License-Identifier: GPL-2.0-or-later
// The thread that writes a recording: packets in, files out. It deletes old files of the pattern
// (record_keep.h) when a file begins and every RECORD_WRITER_KEEP.
//
// When a file cannot be written, it logs why, once, and drops all media. RECORD_WRITER_RETRY later,
// a key frame begins another file; it logs that it records again.
//
// At most RECORD_WRITER_PACKETS packets with RECORD_WRITER_BYTES wait for a slow disk.
#ifndef WEIR_MEDIA_RECORD_RECORD_WRITER_H
#define WEIR_MEDIA_RECORD_RECORD_WRITER_H

#include "common/base/decls.h"
#include "media/record/policy/record_keep.h"
#include "media/record/record_packet.h"

DECLS_BEGIN

enum { RECORD_WRITER_PACKETS = 1024, RECORD_WRITER_BYTES = 32 << 20 };
#define RECORD_WRITER_RETRY (10 * USEC_PER_SEC)
#define RECORD_WRITER_KEEP  (10 * USEC_PER_SEC)

struct record_writer_config {
    const char *pattern; // copied
    const char *title;   // copied; NULL: none
    struct record_keep keep;
};

struct record_writer;

struct record_writer *
record_writer_new(const struct record_writer_config *config); // NULL: no memory
// Never blocks. Returns false if the queue is full: the caller keeps the packet.
bool record_writer_push(struct record_writer *w, struct record_packet *p);
// Returns true if no file is open, and a key frame, of which none was pushed yet, would begin one.
bool record_writer_needs_key(const struct record_writer *w, usec_t now);
// Writes what waits, for `patience` at most; then leaves the thread behind (a disk that does not
// respond). Returns 0, or ERR_IO: something could not be written (logged).
int record_writer_end(struct record_writer *w, usec_t patience);

DECLS_END
#endif
