# SPDX-License-Identifier: MIT
"""The parts of tools/outliers; docs/OUTLIERS.md explains the method."""
