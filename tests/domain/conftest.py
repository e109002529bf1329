"""How Hypothesis draws here: a busy machine is not a broken law."""

from hypothesis import HealthCheck, settings

# A law has no deadline of its own: what hangs meets the time-out of the test.
settings.register_profile("laws", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("laws")
