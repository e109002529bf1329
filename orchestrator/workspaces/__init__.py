"""Workspaces on this host: a plain directory or a git worktree for each item, below one root.

    rooms       the door's adapter: where an item's workspace is, and that it is nobody else's
    worktree    a git worktree made, made whole again, or found; one change of a repository at a time
    evidence    what stands in a workspace, as values that can be compared
    keeping     what would be lost with a workspace, preserved before
    forgetting  kept work removed by age
    removing    a workspace taken away, and nothing beside it
    marks       which workspaces were made and never finished
    locks       the lock of a workspace, as an agent holds it
    remotes     the push of an item's branch, and what the remote has
    git         the one place that runs git

The root holds beside the workspaces `.items/<key>`, the workspace's lock, whose content is the item's identifier and
its board, and `.new/<key>` while a workspace is being made.
A branch is never deleted, and a folder is never emptied that an agent may have worked in.
"""

from orchestrator.workspaces.remotes import GitRemotes as GitRemotes
from orchestrator.workspaces.rooms import GitWorkspaces as GitWorkspaces
