// SPDX-License-Identifier: GPL-2.0-or-later
// Sequences of what a viewer tells the policy `auto`, and what it decides: auto_vectors.txt. The
// page's policy (server/web/page/abr.js) is held against the same file (abr_test.js). It was
// written by
//
//     test_stream "write auto_vectors.txt"
//
// Write it again when the policy's decisions change. A sequence is only in it if small changes of
// its input change no decision, so that rounding does not. Lines, times in microseconds:
//
//     film TARGET TABLE RATE..      begins a sequence; the table in base64, the levels' bit/s
//     s NOW BYTES DURATION n|m      a sample that the network or the media limited
//     d NOW NEXT SHOWN BUFFERED BEGUN PENDING PLAYING LEVEL REASON WAIT PACE ESTIMATE ERROR
//     r NOW NEXT SHOWN BUFFERED BEGUN PENDING 0|1      may playing begin?
//     k NOW GROUP                   the position changed
#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/rng.h"
#include "common/wire/base64.h"
#include "stream/abr/abr_policy.h"

namespace
{
namespace fs = std::filesystem;

using table_ptr = std::unique_ptr<film_table, decltype(&film_table_free)>;
using policy_ptr = std::unique_ptr<abr_policy, decltype(&abr_policy_free)>;

struct film {
    usec_t target = 0;
    table_ptr table{nullptr, film_table_free};
    std::vector<int> rates;

    policy_ptr policy() const
    {
        abr_config config{};
        config.table = table.get();
        config.target = target;
        std::copy(rates.begin(), rates.end(), config.bitrates_bps);
        abr_policy *p = nullptr;
        REQUIRE(abr_policy_new("auto", &config, &p) == 0);
        return {p, abr_policy_free};
    }
};

// ---- Lines

struct line {
    char kind = 0;
    usec_t now = 0;
    rate_sample sample{};
    abr_state state{};
    abr_decision decision{}; // that is expected
    bool may = false;
};

abr_reason reason_of(const std::string &name)
{
    int i = ABR_START;
    while (name != abr_reason_name(static_cast<abr_reason>(i)))
        REQUIRE(++i <= ABR_EXCHANGE);
    return static_cast<abr_reason>(i);
}

std::string text_of(const line &l)
{
    std::ostringstream out;
    const abr_state &s = l.state;
    out.precision(9);
    out << l.kind << ' ' << l.now;
    if (l.kind == 's')
        out << ' ' << l.sample.bytes << ' ' << l.sample.duration << ' '
            << (l.sample.limit == RATE_LIMIT_NETWORK ? 'n' : 'm');
    else if (l.kind == 'k')
        out << ' ' << s.next;
    else
        out << ' ' << s.next << ' ' << s.shown << ' ' << s.buffered << ' ' << s.begun << ' '
            << s.pending_bytes;
    if (l.kind == 'd')
        out << ' ' << s.playing << ' ' << l.decision.level << ' '
            << abr_reason_name(l.decision.reason) << ' ' << l.decision.wait << ' '
            << l.decision.pace_bps << ' ' << l.decision.estimate_bps << ' ' << l.decision.error;
    if (l.kind == 'r')
        out << ' ' << l.may;
    return out.str();
}

line line_of(const std::string &text)
{
    std::istringstream in(text);
    line l;
    std::string word;
    abr_state &s = l.state;
    s.broken = ABR_NO_GROUP;
    in >> l.kind >> l.now;
    if (l.kind == 's') {
        in >> l.sample.bytes >> l.sample.duration >> word;
        l.sample.limit = word == "n" ? RATE_LIMIT_NETWORK : RATE_LIMIT_MEDIA;
    } else if (l.kind == 'k') {
        in >> s.next;
    } else {
        in >> s.next >> s.shown >> s.buffered >> s.begun >> s.pending_bytes;
    }
    if (l.kind == 'd') {
        abr_decision &d = l.decision;
        in >> s.playing >> d.level >> word >> d.wait >> d.pace_bps >> d.estimate_bps >> d.error;
        d.reason = reason_of(word);
    }
    if (l.kind == 'r')
        in >> l.may;
    INFO(text);
    REQUIRE(in);
    return l;
}

// Tells the policy what the line says, and stores what it answers.
void run(abr_policy *p, line &l)
{
    switch (l.kind) {
    case 's':
        abr_policy_rate(p, &l.sample, l.now);
        break;
    case 'd':
        abr_policy_decide(p, &l.state, &l.decision, l.now);
        break;
    case 'r':
        l.may = abr_policy_resumes(p, &l.state, l.now);
        break;
    case 'k':
        abr_policy_seek(p, l.state.next, l.now);
        break;
    default:
        FAIL("no such line");
    }
}

std::string text_of(const film &f)
{
    std::vector<uint8_t> data(film_table_encoded_bytes(f.table.get()));
    film_table_encode(f.table.get(), data.data());
    std::string base64(BASE64_TEXT(data.size()), '\0');
    base64.resize(base64_encode(data.data(), data.size(), BASE64_STANDARD, &base64[0]));
    std::ostringstream out;
    out << "film " << f.target << ' ' << base64;
    for (int rate : f.rates)
        out << ' ' << rate;
    return out.str();
}

film film_of(const std::string &text)
{
    std::istringstream in(text);
    std::string word, base64;
    film f;
    in >> word >> f.target >> base64;
    for (int rate; in >> rate;)
        f.rates.push_back(rate);
    std::vector<uint8_t> data(base64.size());
    int len =
        base64_decode({base64.data(), base64.size()}, BASE64_STANDARD, data.data(), data.size());
    film_table *t = nullptr;
    REQUIRE(film_table_decode(data.data(), static_cast<size_t>(len), &t) == 0);
    f.table.reset(t);
    return f;
}

// ---- Sequences

struct path { // a rate that varies
    double usual_bps;
    double spread; // of its logarithm
    int outage_s;  // of which 8 s are without data; 0: none
    double usual2; // from the middle on; 0: the same
};

struct scenario {
    film_shape shape;
    std::vector<int> rates;
    double vary; // of the groups' sizes
    usec_t target;
    path way;
};

film film_of(const scenario &c, rng *r)
{
    film f;
    film_table *t = nullptr;
    REQUIRE(film_table_new(&c.shape, &t) == 0);
    f.table.reset(t);
    f.target = c.target;
    f.rates = c.rates;
    for (int64_t g = 0; g < c.shape.groups; g++) {
        double size = exp(c.vary * (2 * rng_unit(r) - 1));
        for (int l = 0; l < c.shape.levels; l++) {
            double bytes =
                size * c.rates[static_cast<size_t>(l)] / 8 * usec_to_sec(film_table_length(t, g));
            int quality = static_cast<int>(100 + 14 * l - 20 * log(size) + 8 * rng_unit(r));
            REQUIRE(film_table_set(t, g, l, static_cast<uint64_t>(bytes), quality) == 0);
        }
    }
    return f;
}

// A viewer of the film over the path, which asks the policy in steps.
std::vector<line> view(const film &f, const path &way, rng *r)
{
    const usec_t step = 200 * USEC_PER_MSEC;
    const film_table *t = f.table.get();
    const int64_t groups = film_table_shape(t)->groups;
    policy_ptr p = f.policy();
    std::vector<line> out;
    std::vector<double> left; // bytes of the groups that were begun
    std::vector<int> levels;
    int64_t whole = 0; // groups that have arrived
    usec_t position = 0, asked = 0;
    bool playing = false, sought = false;
    double off = 0;
    auto tell = [&](line l, usec_t now) {
        l.now = now;
        run(p.get(), l);
        out.push_back(l);
        return l;
    };
    for (usec_t now = 0; position < film_table_start(t, groups) && now < 200 * USEC_PER_SEC;
         now += step) {
        off = .9 * off + .44 * way.spread * (2 * rng_unit(r) - 1) * 1.7;
        bool second = way.usual2 > 0 && now > 25 * USEC_PER_SEC;
        bool out_of = way.outage_s && now / USEC_PER_SEC % way.outage_s >= way.outage_s - 8;
        double bps = out_of ? 0 : (second ? way.usual2 : way.usual_bps) * exp(off);
        double can = bps / 8 * usec_to_sec(step), bytes = 0;
        while (whole < static_cast<int64_t>(left.size()) && can - bytes > 0) {
            double take = fmin(left[static_cast<size_t>(whole)], can - bytes);
            left[static_cast<size_t>(whole)] -= take;
            bytes += take;
            if (left[static_cast<size_t>(whole)] > 0)
                break;
            whole++;
        }
        auto next = static_cast<int64_t>(left.size());
        line l;
        l.kind = 's';
        l.sample = {static_cast<int64_t>(bytes), step,
                    whole < next ? RATE_LIMIT_NETWORK : RATE_LIMIT_MEDIA};
        if (now > 0)
            tell(l, now);
        position += playing ? step : 0;
        usec_t arrived = film_table_start(t, whole);
        if (whole < next) { // of the group that is arriving, in proportion
            int64_t of = film_table_bytes(t, whole, levels[static_cast<size_t>(whole)]);
            double lacks = left[static_cast<size_t>(whole)] / static_cast<double>(of);
            arrived += llround((1 - lacks) * static_cast<double>(film_table_length(t, whole)));
        }
        if (position >= arrived && whole < groups) { // a stall
            position = arrived;
            playing = false;
        }
        line d;
        abr_state &s = d.state;
        s.next = next;
        while (s.shown < next && film_table_start(t, s.shown + 1) <= position)
            s.shown++;
        s.buffered = arrived - position;
        s.begun = film_table_start(t, next) - position;
        for (int64_t g = whole; g < next; g++)
            s.pending_bytes += static_cast<int64_t>(left[static_cast<size_t>(g)]);
        s.playing = playing;
        s.broken = ABR_NO_GROUP;
        d.kind = 'r';
        if (!playing)
            playing = s.playing = tell(d, now).may;
        if (!sought && way.usual2 > 0 && now == 20 * USEC_PER_SEC) { // forward, by two groups
            sought = true;
            d.kind = 'k';
            d.state.next = next + 2 < groups ? next + 2 : groups - 1;
            tell(d, now);
            left.assign(static_cast<size_t>(d.state.next), 0);
            levels.assign(left.size(), 0);
            whole = d.state.next;
            position = film_table_start(t, whole);
            playing = false;
            continue;
        }
        if (next == groups || s.pending_bytes > bps / 8 * .1 || now < asked)
            continue;
        d.kind = 'd';
        line decided = tell(d, now);
        asked = now + (decided.decision.wait > 0 ? USEC_PER_SEC : 0);
        if (decided.decision.wait > 0)
            continue;
        levels.push_back(decided.decision.level);
        left.push_back(static_cast<double>(film_table_bytes(t, next, levels.back())));
    }
    return out;
}

// Returns true if the decisions stay when all that the policy is told changes a little.
bool is_stable(const film &f, const std::vector<line> &lines)
{
    for (double change : {-1e-3, -1e-4, 1e-4, 1e-3}) {
        policy_ptr p = f.policy();
        for (line l : lines) {
            line was = l;
            l.sample.bytes = llround(static_cast<double>(l.sample.bytes) * (1 + change));
            l.state.begun = llround(static_cast<double>(l.state.begun) * (1 - change));
            run(p.get(), l);
            if (l.may != was.may || l.decision.level != was.decision.level ||
                l.decision.reason != was.decision.reason)
                return false;
        }
    }
    return true;
}

const scenario scenarios[] = {
    {{7, 28, 60, 45, {30, 1}, false},
     {80000, 150000, 300000, 550000, 900000, 1300000, 1920000},
     0,
     30 * USEC_PER_SEC,
     {1400000, .35, 0, 0}},
    {{7, 28, 50, 50, {25, 1}, true},
     {80000, 150000, 300000, 550000, 900000, 1300000, 1920000},
     .5,
     30 * USEC_PER_SEC,
     {900000, .5, 0, 0}},
    {{7, 28, 60, 30, {30000, 1001}, true},
     {120000, 200000, 350000, 600000, 1000000, 1500000, 2200000},
     .7,
     12 * USEC_PER_SEC,
     {4000000, .2, 0, 700000}},
    {{2, 20, 48, 7, {24, 1}, false}, {200000, 1000000}, .3, 8 * USEC_PER_SEC, {800000, .6, 30, 0}},
    {{4, 24, 60, 60, {30, 1}, true},
     {100000, 400000, 1200000, 3000000},
     .4,
     20 * USEC_PER_SEC,
     {1500000, .4, 24, 0}},
    {{1, 6, 50, 20, {25, 1}, false}, {300000}, .2, 30 * USEC_PER_SEC, {500000, .3, 0, 0}},
    {{2, 14, 50, 50, {25, 1}, false}, {300000, 600000}, .5, 10 * USEC_PER_SEC, {290000, .35, 0, 0}},
};

// __FILE__ may be relative to a folder above the one in which the test was built.
fs::path vectors()
{
    const fs::path beside = fs::path(__FILE__).replace_filename("auto_vectors.txt");
    fs::path at = fs::read_symlink("/proc/self/exe");
    while (!fs::exists((at / beside).parent_path()) && at != at.root_path())
        at = at.parent_path();
    return at / beside;
}

} // namespace

TEST_CASE("abr auto: the vectors that the page's policy is held against")
{
    std::ifstream in(vectors());
    film f;
    policy_ptr p{nullptr, abr_policy_free};
    int films = 0, decisions = 0, resumed = 0;
    bool seen[ABR_EXCHANGE + 1] = {};
    for (std::string text; std::getline(in, text);) {
        if (text.empty() || text[0] == '#')
            continue;
        INFO(text);
        if (text.compare(0, 5, "film ") == 0) {
            f = film_of(text);
            p = f.policy();
            films++;
            continue;
        }
        REQUIRE(p);
        const line want = line_of(text);
        line got = want;
        run(p.get(), got);
        CHECK(got.may == want.may);
        CHECK(got.decision.level == want.decision.level);
        CHECK(got.decision.reason == want.decision.reason);
        CHECK(got.decision.wait == want.decision.wait);
        CHECK(got.decision.pace_bps == Approx(want.decision.pace_bps).epsilon(1e-6));
        CHECK(got.decision.estimate_bps == Approx(want.decision.estimate_bps).epsilon(1e-6));
        CHECK(got.decision.error == Approx(want.decision.error).epsilon(1e-6));
        decisions += want.kind == 'd';
        resumed += want.kind == 'r' && want.may;
        seen[want.decision.reason] |= want.kind == 'd';
    }
    CHECK(films >= 7);
    CHECK(decisions >= 120);
    CHECK(resumed >= films);
    for (abr_reason reason : {ABR_START, ABR_RATE, ABR_BUFFER, ABR_STALL})
        CHECK(seen[reason]);
}

TEST_CASE("write auto_vectors.txt", "[.]")
{
    std::ofstream out(vectors());
    out << "# Written by test_stream \"write auto_vectors.txt\" (auto_vectors_test.cpp says what "
           "the "
           "lines are).\n";
    for (const scenario &c : scenarios) {
        bool found = false;
        for (uint64_t seed = 1; seed < 500 && !found; seed++) {
            rng r = rng_seeded(seed);
            film f = film_of(c, &r);
            std::vector<line> lines = view(f, c.way, &r);
            found = is_stable(f, lines);
            if (!found)
                continue;
            out << "# seed " << seed << '\n' << text_of(f) << '\n';
            for (const line &l : lines)
                out << text_of(l) << '\n';
        }
        REQUIRE(found);
    }
}
