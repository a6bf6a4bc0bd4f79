// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/rtp/hevc.h"

#include "media/rtp/hevc_payload.h"
#include "media/rtp/nal_bits.h"

// Skips profile_tier_level of `more` temporal layers above the lowest, 7.3.3.
static void skip_profile(struct nal_bits *b, uint32_t more)
{
    enum { PROFILE = 88, LEVEL = 8, LAYERS = 8 };
    uint32_t has_profile = 0, has_level = 0;
    nal_bits_take(b, PROFILE + LEVEL);
    for (uint32_t i = 0; more && i < LAYERS; i++) { // those from `more` on are reserved
        has_profile += nal_bits_bit(b) && i < more;
        has_level += nal_bits_bit(b) && i < more;
    }
    nal_bits_take(b, (int)(has_profile * PROFILE + has_level * LEVEL));
}

bool hevc_may_reorder(const uint8_t *nal, size_t len)
{
    uint8_t rbsp[HEVC_MAX_SPS];
    if (len < HEVC_NAL_HEADER || hevc_nal_type_of(nal[0]) != HEVC_SPS)
        return true;
    struct nal_bits b = {.data = rbsp, .count = nal_unescape(nal, len, rbsp, sizeof(rbsp)) * 8};
    nal_bits_take(&b, 8 * HEVC_NAL_HEADER + 4); // header, sps_video_parameter_set_id
    uint32_t more = nal_bits_take(&b, 3);       // sps_max_sub_layers_minus1
    nal_bits_bit(&b);                           // sps_temporal_id_nesting_flag
    skip_profile(&b, more);
    nal_bits_ue(&b);          // sps_seq_parameter_set_id
    if (nal_bits_ue(&b) == 3) // chroma_format_idc
        nal_bits_bit(&b);     // separate_colour_plane_flag
    nal_bits_ue(&b);          // width and height
    nal_bits_ue(&b);
    bool is_cut = nal_bits_bit(&b);     // conformance_window_flag
    int skipped = (is_cut ? 4 : 0) + 3; // its offsets; two bit depths, log2_max_pic_order_cnt_lsb
    while (skipped-- > 0)
        nal_bits_ue(&b);
    bool is_of_each = nal_bits_bit(&b); // sps_sub_layer_ordering_info_present_flag
    uint32_t reorder = 0;
    for (uint32_t i = is_of_each ? 0 : more; i <= more; i++) {
        nal_bits_ue(&b); // sps_max_dec_pic_buffering_minus1
        reorder = nal_bits_ue(&b);
        nal_bits_ue(&b); // sps_max_latency_increase_plus1
    }
    return b.at > b.count || reorder > 0;
}
