"""A Backlog.md folder as the board: Markdown files that people, their editors and the `backlog` program write too.

`tracker` is the door; `place` finds the folder and reads its config; `folder` finds the files of a card; `card` and
`frontmatter` read one file and change one line of it; `discussion` knows its comments; `write` puts a file back under
the program's own lock, only over the bytes that were read. `survey` tells what of a folder is read and what is not;
`board` adds a state or a card, for a demo on a copy. Nothing of ours ever stands in the front matter, and nothing is
committed.
"""

from orchestrator.trackers.backlog.board import NewCard as NewCard
from orchestrator.trackers.backlog.board import add_card as add_card
from orchestrator.trackers.backlog.board import add_state as add_state
from orchestrator.trackers.backlog.survey import Survey as Survey
from orchestrator.trackers.backlog.survey import survey as survey
from orchestrator.trackers.backlog.tracker import connect as connect
