// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/text_script.h"

#include <ass/ass.h>
#include <fontconfig/fontconfig.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/utf8.h"

enum {
    CACHE_GLYPHS = 4000,
    CACHE_MB = 64,
    FATAL = 1, // level of libass
    FONT_BYTES = 32 << 20,
    MAX_RESOLUTION = 32768,
    MAX_GLYPH = 8000000,    // pixels
    MAX_PIXELS = 100000000, // of all glyphs of the cues
    LINE_WIDTH = 8192,      // of the frame of a line
    LINE_HEIGHT = 512,
};

struct text_script {
    ASS_Library *library;   // owned
    ASS_Renderer *renderer; // owned
    ASS_Track *track;       // owned; NULL: no head yet
    char family[128];
    int width; // of the frame
    int height;
    int next;        // ReadOrder of the next cue that is added
    bool is_stale;   // the next draw differs from the one before
    bool is_limited; // a warning said that some cues are not drawn
    bool is_line;    // it serves text_script_line: boxes are measured, not drawn
};

__attribute__((format(printf, 2, 0))) static void log_libass(int level, const char *format,
                                                             va_list args, void *ctx)
{
    char text[512];
    (void)ctx;
    if (level > FATAL)
        return;
    vsnprintf(text, sizeof(text), format, args);
    log_debug("libass: %s", text);
}

// WEIR_FONT=FILE: fontconfig says the family. Returns false if the file is no font.
static bool use_file(struct text_script *s, const char *path)
{
    int count = 0;
    FcChar8 *family = NULL;
    FcPattern *p = FcFreeTypeQuery((const FcChar8 *)path, 0, NULL, &count);
    FILE *f = p ? fopen(path, "rb") : NULL;
    char *data = malloc(FONT_BYTES);
    size_t bytes = f && data ? fread(data, 1, FONT_BYTES, f) : 0;
    bool good =
        bytes > 0 && FcPatternGetString(p, FC_FAMILY, 0, &family) == FcResultMatch && family;
    if (good) {
        snprintf(s->family, sizeof(s->family), "%s", (const char *)family);
        ass_add_font(s->library, path, data, (int)bytes);
    }
    free(data);
    if (f)
        fclose(f);
    if (p)
        FcPatternDestroy(p);
    return good;
}

static bool has_font(struct text_script *s)
{
    static const struct subtitle_cue probe = {.end = 1000, .text = "0,Default,,0,0,0,,x"};
    int change;
    text_script_head(s, "");
    text_script_frame(s, 64, 64, 64, 64, 0);
    text_script_cues(s, &probe, 1);
    return s->track && ass_render_frame(s->renderer, s->track, 0, &change);
}

struct text_script *text_script_new(void)
{
    struct text_script *s = calloc(1, sizeof(*s));
    const char *font = getenv("WEIR_FONT");
    if (!s)
        return NULL;
    snprintf(s->family, sizeof(s->family), "sans-serif");
    s->library = ass_library_init();
    if (!s->library)
        goto free_script;
    ass_set_message_cb(s->library, log_libass, NULL);
    ass_set_extract_fonts(s->library, 0); // a film's fonts are untrusted
    bool is_file = font && strchr(font, '/'), good = !is_file || use_file(s, font);
    if (font && *font && !is_file)
        snprintf(s->family, sizeof(s->family), "%s", font);
    s->renderer = good ? ass_renderer_init(s->library) : NULL;
    if (!s->renderer)
        goto no_text;
    ass_set_fonts(s->renderer, NULL, s->family, ASS_FONTPROVIDER_AUTODETECT, NULL, 1);
    ass_set_cache_limits(s->renderer, CACHE_GLYPHS, CACHE_MB);
    if (has_font(s))
        return s;

no_text:
    log_warn("no text in the window: there is no font%s%s (install fonts-dejavu-core, or set "
             "WEIR_FONT=/PATH/FILE.ttf)",
             is_file ? " in " : "", is_file ? font : "");

free_script:
    text_script_free(s);
    return NULL;
}

void text_script_free(struct text_script *s)
{
    if (!s)
        return;
    if (s->track)
        ass_free_track(s->track);
    if (s->renderer)
        ass_renderer_done(s->renderer);
    if (s->library)
        ass_library_done(s->library);
    free(s);
}

void text_script_head(struct text_script *s, const char *head)
{
    char copy[SUBTITLE_HEAD];
    if (s->track)
        ass_free_track(s->track);
    s->track = ass_new_track(s->library);
    s->is_stale = true;
    s->is_limited = false;
    if (!s->track)
        return;
    snprintf(copy, sizeof(copy), "%s", head);
    ass_process_codec_private(s->track, copy, (int)strlen(copy));
    ass_set_check_readorder(s->track, 0);
    if (s->track->PlayResY > MAX_RESOLUTION || s->track->PlayResX > MAX_RESOLUTION)
        s->track->PlayResX = s->track->PlayResY = 0; // libass takes its default
}

// ---- Cues

static bool take_int(const char **text, int *out)
{
    char *end;
    long v = strtol(*text, &end, 10);
    if (*end != ',' || v < -MAX_RESOLUTION || v > MAX_RESOLUTION)
        return false;
    *out = (int)v;
    *text = end + 1;
    return true;
}

// An event of libass and a cue are the same if their times and texts are: the text ends the cue.
static bool is_same(const ASS_Event *e, const struct subtitle_cue *c)
{
    size_t len = strlen(e->Text), all = strlen(c->text);
    return e->Start == c->begin / USEC_PER_MSEC &&
           e->Duration == (c->end - c->begin) / USEC_PER_MSEC && len <= all &&
           strcmp(c->text + all - len, e->Text) == 0;
}

static void drop_event(ASS_Track *t, int i)
{
    ass_free_event(t, i);
    t->n_events--;
    memmove(t->events + i, t->events + i + 1, (size_t)(t->n_events - i) * sizeof(*t->events));
}

static void add_event(struct text_script *s, const struct subtitle_cue *c)
{
    char line[SUBTITLE_BYTES + 16];
    const char *rest = c->text;
    int layer;
    if (!take_int(&rest, &layer)) // "Dialogue" of old scripts: Marked=0
        return;
    int len = snprintf(line, sizeof(line), "%d,%s", s->next++ & 0xffffff, c->text);
    ass_process_chunk(s->track, line, len, c->begin / USEC_PER_MSEC,
                      (c->end - c->begin) / USEC_PER_MSEC);
}

// Returns the number behind a tag, at most `most`.
static double number_behind(const char *text, double most)
{
    double v = fabs(strtod(text, NULL));
    return v < most ? v : most;
}

// Estimates the pixels of all glyphs of an event: libass keeps each of them for a frame. Tags count
// with the largest value that they have anywhere in it.
static double pixels_of(const struct text_script *s, const char *text)
{
    const ASS_Track *t = s->track;
    const ASS_Style *style = t->n_styles ? &t->styles[0] : NULL;
    const char *name = strchr(text, ',');
    name = name ? name + 1 : text;
    for (int i = 0; i < t->n_styles; i++) {
        size_t len = strlen(t->styles[i].Name);
        if (strncmp(name, t->styles[i].Name, len) == 0 && name[len] == ',')
            style = &t->styles[i];
    }
    double size = style ? style->FontSize : 20, wide = style ? style->ScaleX : 1;
    double high = style ? style->ScaleY : 1, blur = 0, glyphs = 0;
    bool tags = false, draws = false;
    for (const char *c = text; *c; c++) {
        if (*c == '{' || *c == '}')
            tags = *c == '{';
        else if (!tags)
            glyphs++;
        if (!tags || *c != '\\')
            continue;
        if (strncmp(c, "\\fscx", 5) == 0)
            wide = fmax(wide, number_behind(c + 5, 1e5) / 100);
        else if (strncmp(c, "\\fscy", 5) == 0)
            high = fmax(high, number_behind(c + 5, 1e5) / 100);
        else if (strncmp(c, "\\fs", 3) == 0 && c[3] != 'p')
            size = fmax(size, number_behind(c + 3, 1e5));
        else if (strncmp(c, "\\blur", 5) == 0)
            blur = fmax(blur, number_behind(c + 5, 100));
        else if (strncmp(c, "\\p", 2) == 0 && c[2] >= '1' && c[2] <= '9')
            draws = true;
    }
    double unit = t->PlayResY > 0 ? (double)s->height / t->PlayResY : 1;
    double pad = 4 * blur * unit;
    double pixels = glyphs * (size * wide * unit + pad) * (size * high * unit + pad);
    double one = MAX_GLYPH * glyphs; // libass draws no larger ones
    if (draws)                       // its numbers are no glyphs
        return (double)s->width * s->height / 8;
    return pixels < one ? pixels : one;
}

// Returns true if the cue may be drawn beside those before it, which have *pixels.
static bool has_room(struct text_script *s, const struct subtitle_cue *c, double *pixels)
{
    *pixels += pixels_of(s, c->text);
    if (*pixels <= MAX_PIXELS)
        return true;
    if (!s->is_limited)
        log_warn("some of the film's subtitles are not shown: those of 20 s have more than %d "
                 "million pixels",
                 MAX_PIXELS / 1000000);
    s->is_limited = true;
    return false;
}

void text_script_cues(struct text_script *s, const struct subtitle_cue *cues, int count)
{
    bool known[SUBTITLE_CUES] = {false};
    if (!s->track)
        return;
    for (int i = s->track->n_events - 1; i >= 0; i--) {
        int k = 0;
        while (k < count && (known[k] || !is_same(&s->track->events[i], &cues[k])))
            k++;
        if (k < count)
            known[k] = true;
        else
            drop_event(s->track, i);
    }
    double pixels = 0;
    for (int k = 0; k < count; k++)
        if (has_room(s, &cues[k], &pixels) && !known[k])
            add_event(s, &cues[k]);
}

void text_script_frame(struct text_script *s, int width, int height, int film_width,
                       int film_height, double raised)
{
    s->is_stale |= width != s->width || height != s->height;
    s->width = width;
    s->height = height;
    ass_set_frame_size(s->renderer, width, height);
    ass_set_storage_size(s->renderer, film_width, film_height);
    ass_set_line_position(s->renderer, raised);
}

// ---- Drawing

static struct text_rect joined(struct text_rect a, const ASS_Image *i)
{
    int right = i->dst_x + i->w, bottom = i->dst_y + i->h;
    if (!a.w || !a.h)
        return (struct text_rect){i->dst_x, i->dst_y, i->w, i->h};
    right = right > a.x + a.w ? right : a.x + a.w;
    bottom = bottom > a.y + a.h ? bottom : a.y + a.h;
    a.x = i->dst_x < a.x ? i->dst_x : a.x;
    a.y = i->dst_y < a.y ? i->dst_y : a.y;
    return (struct text_rect){a.x, a.y, right - a.x, bottom - a.y};
}

// Draws over premultiplied pixels.
static void blend(const ASS_Image *i, const struct text_image *out)
{
    uint32_t opacity = 255 - (i->color & 255);
    uint32_t r = i->color >> 24, g = i->color >> 16 & 255, b = i->color >> 8 & 255;
    for (int y = 0; y < i->h; y++) {
        const unsigned char *from = i->bitmap + (ptrdiff_t)y * i->stride;
        uint32_t *to = out->pixels + (ptrdiff_t)(i->dst_y + y - out->area.y) * out->area.w +
                       i->dst_x - out->area.x;
        for (int x = 0; x < i->w; x++, to++) {
            uint32_t a = (from[x] * opacity + 127) / 255, rest = 255 - a, under = *to;
            if (!a)
                continue;
            *to = (a + ((under >> 24) * rest + 127) / 255) << 24 |
                  ((r * a + (under >> 16 & 255) * rest + 127) / 255) << 16 |
                  ((g * a + (under >> 8 & 255) * rest + 127) / 255) << 8 |
                  ((b * a + (under & 255) * rest + 127) / 255);
        }
    }
}

static void unmultiply(uint32_t *p, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t a = p[i] >> 24;
        if (a == 0 || a == 255)
            continue;
        uint32_t r = (p[i] >> 16 & 255) * 255 / a, g = (p[i] >> 8 & 255) * 255 / a;
        uint32_t b = (p[i] & 255) * 255 / a;
        p[i] = a << 24 | (r < 255 ? r : 255) << 16 | (g < 255 ? g : 255) << 8 | (b < 255 ? b : 255);
    }
}

// Joins the box of a run of text, whose bitmap has a margin: what is dark in any of its rows
// counts.
static struct text_rect measured(struct text_rect box, const ASS_Image *i)
{
    ASS_Image part = {.dst_x = i->dst_x, .dst_y = i->dst_y, .h = i->h};
    int from = i->w, to = -1;
    for (int y = 0; y < i->h; y++)
        for (int x = 0; x < i->w; x++)
            if (i->bitmap[(ptrdiff_t)y * i->stride + x] >= 128) {
                from = x < from ? x : from;
                to = x > to ? x : to;
            }
    // The box has a border of one pixel.
    part.dst_x += from + 1;
    part.w = to - from - 1;
    return part.w > 0 ? joined(box, &part) : box;
}

static bool is_box(const ASS_Image *i, const struct text_script *s)
{
    return s->is_line && i->type == IMAGE_TYPE_OUTLINE;
}

enum text_change text_script_draw(struct text_script *s, usec_t at, struct text_image *out)
{
    int change = 0;
    ASS_Image *all = s->track && s->width
                         ? ass_render_frame(s->renderer, s->track, at / USEC_PER_MSEC, &change)
                         : NULL;
    if (!change && !s->is_stale)
        return TEXT_SAME;
    s->is_stale = false;
    out->area = out->box = (struct text_rect){0};
    for (const ASS_Image *i = all; i; i = i->next) {
        if (is_box(i, s))
            out->box = measured(out->box, i);
        else if (i->w && i->h)
            out->area = joined(out->area, i);
    }
    size_t count = (size_t)out->area.w * (size_t)out->area.h;
    if (count > out->room) {
        uint32_t *pixels = realloc(out->pixels, count * sizeof(*pixels));
        if (!pixels) {
            out->area = (struct text_rect){0};
            return TEXT_FAILED;
        }
        out->pixels = pixels;
        out->room = count;
    }
    if (count)
        memset(out->pixels, 0, count * sizeof(*out->pixels));
    for (const ASS_Image *i = all; i; i = i->next)
        if (!is_box(i, s) && i->w && i->h)
            blend(i, out);
    unmultiply(out->pixels, count);
    return TEXT_CHANGED;
}

// Writes an event that shows `text` as it is: no override, no line end, no space that is trimmed.
// What is no text becomes '?'.
static void plain_event(const char *text, char out[SUBTITLE_BYTES])
{
    char clean[SUBTITLE_BYTES / 4];
    size_t len = (size_t)snprintf(out, SUBTITLE_BYTES, "0,Line,,0,0,0,,{\\pos(%d,%d)}",
                                  TEXT_LINE_AT, TEXT_LINE_AT);
    utf8_copy(text, clean, sizeof(clean));
    for (const char *t = clean; *t; t++) {
        const char *as = *t == ' '    ? "\xc2\xa0" // no-break space
                         : *t == '{'  ? "\\{"
                         : *t == '\\' ? "\\\xe2\x81\xa0" // word joiner: the next letter is one
                                      : NULL;
        len += (size_t)(as ? snprintf(out + len, SUBTITLE_BYTES - len, "%s", as)
                           : snprintf(out + len, SUBTITLE_BYTES - len, "%c", *t));
    }
}

enum text_change text_script_line(struct text_script *s, const char *text, int px,
                                  struct text_image *out)
{
    struct subtitle_cue cue = {.end = USEC_PER_SEC};
    if (!s->is_line) {
        char head[512];
        snprintf(head, sizeof(head),
                 "[Script Info]\nScriptType: v4.00+\nPlayResX: %d\nPlayResY: %d\nWrapStyle: 2\n"
                 "[V4+ Styles]\nFormat: Name, Fontname, Fontsize, PrimaryColour, BorderStyle, "
                 "Outline, Shadow, Alignment, Encoding\n"
                 "Style: Line,%s,20,&H00ffffff,3,1,0,7,-1\n",
                 LINE_WIDTH, LINE_HEIGHT, s->family);
        text_script_head(s, head);
        text_script_frame(s, LINE_WIDTH, LINE_HEIGHT, LINE_WIDTH, LINE_HEIGHT, 0);
        s->is_line = true;
    }
    if (!s->track)
        return TEXT_FAILED;
    s->track->styles[s->track->n_styles - 1].FontSize = px;
    plain_event(text, cue.text);
    text_script_cues(s, NULL, 0);
    text_script_cues(s, &cue, 1);
    s->is_stale = true;
    return text_script_draw(s, 0, out);
}

void text_image_destroy(struct text_image *i)
{
    free(i->pixels);
    *i = (struct text_image){0};
}
