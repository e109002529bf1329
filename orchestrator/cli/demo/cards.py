"""What the sample board asks for: one function a card, each with a test that fails until it is written. Data only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Card:
    """A card and its recipe: in `file`, `function()` returns `value` (a Python literal)."""

    id: str
    title: str
    file: str
    function: str
    value: str
    priority: str = "medium"

    @property
    def description(self) -> str:
        """What the card says, and all that the agent knows."""
        return f"In `{self.file}`, `{self.function}()` returns `{self.value}`."


# The first two are the ones that the person's hand meets: they start first and take long.
CARDS = (
    Card("LAMP-1", "Give Eddystone its light", "lights/eddystone.py", "character", '"Fl(2) W 10s"', "high"),
    Card("LAMP-2", "Give Bell Rock its range", "lights/bell_rock.py", "range_miles", "18", "high"),
    Card("LAMP-3", "Give Fastnet its light", "lights/fastnet.py", "character", '"Fl W 5s"', "high"),
    Card("LAMP-4", "Give Skerryvore its height", "lights/skerryvore.py", "height_metres", "48", "high"),
    Card("LAMP-5", "Give Wolf Rock its horn", "lights/wolf_rock.py", "horn", '"Horn(1) 30s"'),
    Card("LAMP-6", "Give Longships its light", "lights/longships.py", "character", '"Fl(2) WR 10s"'),
    Card("LAMP-7", "Give Muckle Flugga its range", "lights/muckle_flugga.py", "range_miles", "22"),
    Card("LAMP-8", "Give Bishop Rock its height", "lights/bishop_rock.py", "height_metres", "49"),
    Card("LAMP-9", "Give Chicken Rock its horn", "lights/chicken_rock.py", "horn", '"Horn(1) 60s"', "low"),
    Card("LAMP-10", "Give Ailsa Craig its light", "lights/ailsa_craig.py", "character", '"Fl W 4s"', "low"),
    Card("LAMP-11", "Give Rathlin its range", "lights/rathlin.py", "range_miles", "22", "low"),
    Card("LAMP-12", "Give Tory its height", "lights/tory.py", "height_metres", "40", "low"),
)
