"""Every test here plays on a stage of its module."""

from tests.stage import stage, world

__all__ = ["stage", "world"]
