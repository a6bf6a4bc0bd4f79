// SPDX-License-Identifier: GPL-2.0-or-later
// A source of 8 pictures at 100 frames/s that can seek, for live_feed and live_media. The pictures
// are drawn beforehand, as the source thread must not use the test's macros.
#ifndef WEIR_TESTS_FILM_HPP
#define WEIR_TESTS_FILM_HPP

#include <vector>

#include "common/base/err.h"
#include "tests/support/coded_stream.hpp"

struct film {
    static constexpr int FRAMES = 8;
    static constexpr usec_t END = FRAMES * (USEC_PER_SEC / 100);

    source base{}; // must be first: the feed uses the film as a struct source
    std::vector<picture_ptr> pictures;
    int64_t number = 0;
    int place = 0;
    int end = FRAMES; // of the pictures, which repeat

    static ladder levels()
    {
        return one_size(64, 48, 100, 1, {{0, 100000}});
    }
    // A negative `duration` makes endless media, such as that of a device.
    static source *make(double duration = usec_to_sec(END), int end = FRAMES)
    {
        static const source_ops ops = {next, seek, nullptr, nullptr, release};
        film *f = new film;
        ladder l = levels();
        f->base.ops = &ops;
        f->base.fps = l.source_fps;
        f->base.duration = duration;
        f->end = end;
        for (int64_t n = 0; n < FRAMES; n++)
            f->pictures.push_back(draw(l, 0, n));
        return &f->base;
    }

  private:
    static int next(source *s, picture **out)
    {
        film *f = reinterpret_cast<film *>(s);
        if (f->place == f->end)
            return ERR_END;
        picture *p = picture_alias(f->pictures[(size_t)(f->place++ % FRAMES)].get());
        if (!p)
            return ERR_IO;
        p->number = f->number++;
        p->pts = usec_of_frames(p->number, 100, 1);
        *out = p;
        return 0;
    }
    static int seek(source *s, usec_t pts)
    {
        reinterpret_cast<film *>(s)->place = (int)(pts * 100 / USEC_PER_SEC);
        return 0;
    }
    static void release(source *s)
    {
        delete reinterpret_cast<film *>(s);
    }
};

#endif
