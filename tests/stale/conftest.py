"""Every test here plays on a stage of its module, without a word and without pauses."""

from tests.faults.conftest import quick
from tests.stage import stage

__all__ = ["quick", "stage"]
