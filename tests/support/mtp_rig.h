// SPDX-License-Identifier: GPL-2.0-or-later
// An MTP sender and a receiver in virtual time, joined by a path of constant delay each way.
// Packets and ACKs are numbered in the order in which they leave; a test says what becomes of each.
// What the path may not do is checked as it happens: nothing beyond the window, nothing delivered
// twice or altered.
#ifndef WEIR_TESTS_MTP_RIG_H
#define WEIR_TESTS_MTP_RIG_H

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "common/mtp/mtp_receiver.h"
#include "common/mtp/mtp_sender.h"

struct mtp_rig {
    struct sent {
        usec_t at;
        int64_t slot, number;
        unsigned flags;
        int cwnd;
    };
    struct packet {
        mtp_header header;
        int64_t frame; // what is in it; -1: empty
        usec_t left;
    };
    struct event {
        bool is_ack;
        packet data;
        mtp_ack ack;
    };
    // The delays after which copies of transmission `index` arrive, beyond `delay`; none: lost.
    using fate = std::function<std::vector<usec_t>(bool is_ack, int index)>;

    static constexpr usec_t delay = 30 * USEC_PER_MSEC;

    mtp_sender sender;
    mtp_receiver receiver;
    // A terminating receiver acknowledges only what it has, whatever is marked: kernel TCP.
    bool terminates = false;
    // Echoes are of the newest transmission (TCP's time stamps), not of the newest packet.
    bool stamps = false;
    usec_t newest = 0;
    std::set<int64_t> held; // by a receiver that terminates
    int64_t in_order = 0;
    fate path = [](bool, int) { return std::vector<usec_t>{0}; };
    std::multimap<usec_t, event> under_way; // of equal times, the first inserted is the first out
    usec_t now = 0;
    int transmissions = 0, acks = 0;
    int64_t frames = 0; // written so far
    std::vector<sent> log;
    std::set<int64_t> delivered, lost, sent_frames;
    int64_t edge;

    explicit mtp_rig(mtp_sender_config c)
    {
        c.slot_bytes = sizeof(int64_t);
        c.queue.lost = [](void *owner, const mtp_packet *p) {
            CHECK(static_cast<mtp_rig *>(owner)->lost.insert(p->frame).second);
        };
        c.queue.owner = this;
        edge = c.window;
        REQUIRE(mtp_sender_init(&sender, &c, 0) == 0);
        mtp_receiver_init(&receiver, c.window > 0 ? c.window : 1);
    }
    mtp_rig(const mtp_rig &) = delete;
    mtp_rig &operator=(const mtp_rig &) = delete;
    ~mtp_rig()
    {
        mtp_sender_destroy(&sender);
    }

    void write(int64_t count)
    {
        for (; count > 0; count--, frames++) {
            uint8_t bytes[sizeof(frames)];
            memcpy(bytes, &frames, sizeof(frames));
            REQUIRE(mtp_sender_push(&sender, bytes, sizeof(bytes), frames, false, now) == 0);
        }
    }

    void launch(event e, int index)
    {
        for (usec_t more : path(e.is_ack, index))
            under_way.emplace(now + delay + more, e);
    }

    void pull()
    {
        mtp_out out;
        while (mtp_sender_pull(&sender, &out, now)) {
            if (out.slot >= edge)
                FAIL("slot " << out.slot << " beyond the window, " << edge);
            log.push_back({now, out.slot, out.number, out.flags, sender.cwnd});
            event e{};
            e.data.frame = -1;
            e.data.left = now;
            if (out.len > 0)
                memcpy(&e.data.frame, out.bytes, sizeof(int64_t));
            sent_frames.insert(e.data.frame);
            e.data.header = {out.flags, out.len, (uint32_t)out.number, (uint32_t)out.slot,
                             (uint32_t)out.time};
            launch(e, transmissions++);
        }
    }

    void arrive(const packet &p)
    {
        event e{};
        e.is_ack = true;
        if (terminates) {
            held.insert((int32_t)p.header.slot);
            while (held.count(in_order))
                in_order++;
            e.ack.cum = in_order;
            e.ack.window = receiver.window;
        } else {
            mtp_verdict v = mtp_receiver_packet(&receiver, &p.header);
            if (v == MTP_BEYOND)
                FAIL("beyond the window");
            if (v == MTP_DELIVER &&
                (!delivered.insert(p.frame).second || !sent_frames.count(p.frame) || p.frame < 0))
                FAIL("frame " << p.frame << " delivered twice or never sent");
            mtp_receiver_ack(&receiver, &e.ack);
            newest = std::max(newest, p.left);
            if (stamps)
                e.ack.echo_us = (uint32_t)newest;
        }
        launch(e, acks++);
    }

    // One event or timeout; false: nothing is left to happen.
    bool step()
    {
        usec_t timeout = mtp_sender_next_timeout(&sender);
        usec_t next = under_way.empty() ? USEC_NEVER : under_way.begin()->first;
        if (timeout == USEC_NEVER && next == USEC_NEVER)
            return false;
        if (timeout < next) {
            now = timeout;
            mtp_sender_timeout(&sender, now);
        } else {
            now = next;
            event e = under_way.begin()->second;
            under_way.erase(under_way.begin());
            if (e.is_ack) {
                edge = std::max(edge, e.ack.cum + e.ack.window);
                mtp_sender_ack(&sender, &e.ack, now);
            } else {
                arrive(e.data);
            }
        }
        pull();
        return true;
    }

    // Until nothing is left; false: it takes more than `steps`.
    bool finish(int steps)
    {
        pull();
        while (step())
            if (--steps == 0)
                return false;
        CHECK((sender.inflation == 0 || sender.state == MTP_TIMEOUT));
        return true;
    }
};

#endif
