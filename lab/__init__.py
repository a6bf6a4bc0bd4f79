# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab: real programs over emulated links, measured against what the literature published."""
