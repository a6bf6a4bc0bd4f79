// SPDX-License-Identifier: GPL-2.0-or-later
// Draws text into memory: what a script of ASS (Advanced SubStation Alpha) shows at a time, through
// libass. All text of the window is drawn by it: subtitles, and the lines of osd_text.h. Scripts
// of any direction are shaped, and each character is drawn from a font of fontconfig's that has it.
//
// The environment variable WEIR_FONT names the preferred font: a family, or a file. Fonts inside a
// script are not loaded. Glyphs larger than 8 million pixels are not drawn (libass), nor is what is
// outside of the frame, nor are cues whose glyphs have more than 100 million pixels together
// (logged); the glyphs that are kept for the next frame take at most CACHE_MB.
#ifndef WEIR_PLAYER_UI_TEXT_SCRIPT_H
#define WEIR_PLAYER_UI_TEXT_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/wire/subtitle.h"

DECLS_BEGIN

struct text_script; // opaque; one thread at a time

enum { TEXT_LINE_AT = 16 };

struct text_rect { // pixels of the frame
    int x;
    int y;
    int w;
    int h;
};

struct text_image {   // initialise with {0}
    uint32_t *pixels; // owned; ARGB, straight alpha, area.w a row; NULL: nothing is shown
    size_t room;      // of `pixels`
    struct text_rect area;
    struct text_rect box; // of text_script_line: from where the text begins to where it ends, with
                          // the font's height
};

enum text_change { TEXT_SAME, TEXT_CHANGED, TEXT_FAILED };

// NULL: no memory, or no font has the letter "x" (logged).
struct text_script *text_script_new(void);
void text_script_free(struct text_script *s); // NULL is fine
// Sets the resolution and styles; drops all cues. `head` is untrusted.
void text_script_head(struct text_script *s, const char *head);
// Replaces the cues. One that was there stays, and with it its place on the screen. Untrusted.
void text_script_cues(struct text_script *s, const struct subtitle_cue *cues, int count);
// Sets the size of the frame, 1 to 16384, and that of the film's pictures. `raised`: per cent of
// the height by which cues at the bottom without a place of their own are raised.
void text_script_frame(struct text_script *s, int width, int height, int film_width,
                       int film_height, double raised);
// Draws what is shown at `at` into `out`. TEXT_SAME: that is what was drawn before; `out` is left
// as it was. TEXT_FAILED: no memory.
enum text_change text_script_draw(struct text_script *s, usec_t at, struct text_image *out);
// Draws one line of plain text, which is untrusted UTF-8, in white with its upper left corner at
// (TEXT_LINE_AT, TEXT_LINE_AT) into `out`. Replaces head, cues and frame; `s` then serves lines
// only. `px`: height of the line, 8 to 256. Returns TEXT_CHANGED or TEXT_FAILED.
enum text_change text_script_line(struct text_script *s, const char *text, int px,
                                  struct text_image *out);
void text_image_destroy(struct text_image *i);

DECLS_END
#endif
