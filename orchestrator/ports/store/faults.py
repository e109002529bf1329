"""How the store fails."""

from __future__ import annotations


class StoreUnavailable(Exception):
    """Postgres did not answer in time, or is gone; whether the last write happened is not known."""
