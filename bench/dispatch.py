"""From a tick to turns started, on the processes that `make up` starts, against raw Celery tasks that do nothing.

Ours: a control worker lists a board on which a round of cards has just appeared, opens a turn for each (Redis lease,
transaction, message), and a second worker admits them and writes their first checkpoint; their agents then only wait. The
clock is Postgres's: from the beginning of the tick to the last admission.

Theirs: one process publishes as many no-op tasks, one worker with the same settings takes them; from the first publish to
the start of the last.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import redis
import yaml
from celery import Celery

from bench import ground as grounds
from bench import measure, raw_names
from bench.ground import Ground
from bench.measure import Line
from tests.e2e.fleet import Fleet
from tests.waiting import until
