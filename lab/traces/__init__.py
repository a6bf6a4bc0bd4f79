# SPDX-License-Identifier: GPL-2.0-or-later
"""Packet-delivery traces in Mahimahi's format."""
