// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of a stored ladder while it is made: a folder beside the file to be, with a file for
// each group of frames and one for the sound, each there whole or not at all, so that an
// interrupted run goes on where it stopped. `plan` tells what the parts are of: those of another
// plan are thrown away.
#ifndef WEIR_MEDIA_STORED_STORED_PARTS_H
#define WEIR_MEDIA_STORED_STORED_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { STORED_AUDIO = -1 }; // in place of a group's number

struct stored_record { // in front of `bytes` of data
    uint32_t bytes;
    uint32_t track; // size id; of the sound 0
    int64_t at;     // source frame number; of the sound samples of 48 kHz
};

// Work files lie in the folder of the film, where others may write, too: a link in place of one of
// them, or of the folder, is refused and never followed.

// Opens a work file: for reading, or empty for writing. NULL: logged.
FILE *stored_work_open(const char *name, bool write);
// Makes the folder, or takes over what is there of the same plan. A descriptor, which keeps others
// out until it is closed; ERR_IO (logged), also when another has it.
int stored_parts_open(const char *folder, const char *plan);
bool stored_parts_has(const char *folder, int64_t part);
// A part is written under a name of its own until stored_part_end. NULL: logged.
FILE *stored_part_begin(const char *folder, int64_t part);
// 0 or ERR_IO (logged).
int stored_part_put(FILE *f, const struct stored_record *r, const void *data);
// Closes; with `good` it is there from now on. 0 or ERR_IO (logged).
int stored_part_end(FILE *f, const char *folder, int64_t part, bool good);
FILE *stored_part_read(const char *folder, int64_t part); // NULL: logged
// *data: allocated anew, the caller's. 0, ERR_END, ERR_IO (breaks off), ERR_NO_MEMORY.
int stored_part_next(FILE *f, struct stored_record *r, uint8_t **data);
// All parts, wherever some are missing, the plan, and the folder if nothing else is in it.
void stored_parts_remove(const char *folder);

#ifdef __cplusplus
}
#endif
#endif
