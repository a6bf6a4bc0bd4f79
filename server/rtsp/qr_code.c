// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rtsp/qr_code.h"

#include <errno.h>
#include <qrencode.h>

#include "common/base/err.h"

enum { MARGIN = 2 }; // modules; ISO/IEC 18004 wants 4, cameras do with 2

// Outside the code all is light.
static bool is_dark(const QRcode *code, int x, int y)
{
    bool inside = x >= 0 && y >= 0 && x < code->width && y < code->width;
    return inside && (code->data[y * code->width + x] & 1);
}

static void print_row(const QRcode *code, int y, bool colors, FILE *to)
{
    // By the module above and the one below.
    static const char *const dark_ink[2][2] = {{" ", "▄"}, {"▀", "█"}};
    static const char *const light_ink[2][2] = {{"█", "▀"}, {"▄", " "}};
    fputs(colors ? "\x1b[30;107m" : "", to);
    for (int x = -MARGIN; x < code->width + MARGIN; x++) {
        bool above = is_dark(code, x, y), below = is_dark(code, x, y + 1);
        fputs(colors ? dark_ink[above][below] : light_ink[above][below], to);
    }
    fputs(colors ? "\x1b[0m\n" : "\n", to);
}

int qr_code_print(const char *text, bool colors, FILE *to)
{
    QRcode *code = QRcode_encodeString(text, 0, QR_ECLEVEL_L, QR_MODE_8, 1);
    if (!code)
        return errno == ERANGE ? ERR_TOO_BIG : ERR_NO_MEMORY;
    for (int y = -MARGIN; y < code->width + MARGIN; y += 2)
        print_row(code, y, colors, to);
    int columns = code->width + 2 * MARGIN;
    QRcode_free(code);
    return columns;
}
