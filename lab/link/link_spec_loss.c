// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/err.h"
#include "lab/link/link_spec_read.h"

// Reads p=P%:r=P%[:good=P%][:bad=P%].
static int read_gilbert_elliott(struct spec_reader *r, struct scan value)
{
    struct loss_config *c = &r->spec->loss;
    const struct {
        const char *name;
        double *out;
    } names[] = {{"p", &c->p}, {"r", &c->r}, {"good", &c->good}, {"bad", &c->bad}};
    enum { NAMES = sizeof(names) / sizeof(names[0]) };
    c->kind = LOSS_GILBERT_ELLIOTT;
    c->bad = 1; // Gilbert's model: all packets of a bad period are lost
    unsigned seen = 0;
    struct scan part;
    while (spec_take(&value, ':', &part)) {
        struct scan name;
        spec_take(&part, '=', &name);
        int i = 0;
        while (i < NAMES && !scan_is(name, names[i].name))
            i++;
        if (i == NAMES || !part.at)
            return spec_fail(r, ERR_MALFORMED,
                             "'%s' is not one of p=, r=, good=, bad=", spec_excerpt(name).text);
        if (seen & 1u << i)
            return spec_fail(r, ERR_MALFORMED, "'%s' more than once", names[i].name);
        seen |= 1u << i;
        int err = spec_read_probability(r, part, names[i].out);
        if (err)
            return err;
    }
    return (seen & 3) == 3 ? 0 : spec_fail(r, ERR_MALFORMED, "ge requires p= and r=");
}

// Reads a mask: 0010 loses the third packet. A * at the end repeats it.
static int read_mask(struct spec_reader *r, struct scan value)
{
    struct loss_config *c = &r->spec->loss;
    c->kind = LOSS_MASK;
    struct scan s = value;
    size_t count = 0;
    for (; !scan_end(&s) && (*s.at == '0' || *s.at == '1'); s.at++, count++) {
        if (count < LOSS_MASK_MAX && *s.at == '1')
            c->mask[count / 8] |= (uint8_t)(1u << count % 8);
    }
    c->mask_repeats = scan_char(&s, '*');
    if (!scan_end(&s) || count == 0 || count > LOSS_MASK_MAX)
        return spec_fail(r, scan_end(&s) && count ? ERR_RANGE : ERR_MALFORMED,
                         "'%s' is not 1 to %d of 0 and 1 (1: lost), with * at the end to repeat",
                         spec_excerpt(value).text, LOSS_MASK_MAX);
    c->mask_packets = (uint16_t)count;
    return 0;
}

int spec_read_loss(struct spec_reader *r, struct scan value)
{
    struct loss_config *c = &r->spec->loss;
    if (scan_word(&value, "ge:"))
        return read_gilbert_elliott(r, value);
    if (scan_word(&value, "mask:"))
        return read_mask(r, value);
    int err = spec_read_probability(r, value, &c->probability);
    c->kind = !err && c->probability > 0 ? LOSS_IID : LOSS_NONE;
    return err;
}
