"""Every test here plays on a stage of its module."""

from tests.stage import said, stage, world

__all__ = ["said", "stage", "world"]
