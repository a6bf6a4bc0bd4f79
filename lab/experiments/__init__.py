# SPDX-License-Identifier: GPL-2.0-or-later
"""One file an experiment; each has a module-level EXPERIMENT (lab/experiment.py)."""
