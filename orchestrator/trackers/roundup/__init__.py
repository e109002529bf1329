"""A Roundup tracker (https://www.roundup-tracker.org) as the board, over its REST interface.

`tracker` is the door; `walk` goes over every issue a stretch at a time, whatever its status; `wire` reads the records.
"""

from orchestrator.trackers.roundup.tracker import KIND as KIND
from orchestrator.trackers.roundup.tracker import RoundupTracker as RoundupTracker
from orchestrator.trackers.roundup.tracker import connect as connect
from orchestrator.trackers.roundup.wire import PAGE_SIZE as PAGE_SIZE
