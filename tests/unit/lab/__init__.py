# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the lab's Python that need no network: /usr/bin/python3 -m unittest discover -s tests/unit/lab -t tests"""
import os
import sys

sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "..")))
