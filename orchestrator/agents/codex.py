"""Codex as an agent: one turn of one thread over `codex app-server`, which its bridge speaks with.

The block `codex` of a workflow is read as Symphony does: command, approval_policy, thread_sandbox, turn_sandbox_policy,
model, effort, and the three clocks. With a sandbox of kind workspace-write Codex keeps `.git` read-only: such an agent
leaves its work uncommitted, for a hook `after_run`.
"""

from collections.abc import Mapping

from orchestrator.agents.vendor import Vendor, VendorAgent
from orchestrator.domain.workflow import AgentSettings

CODEX = Vendor(
    bridge="app_server",
    command="codex app-server",
    passed_on=("CODEX_HOME", "CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
)


def connect(settings: AgentSettings, inherited: Mapping[str, str]) -> VendorAgent:
    """The agent of a workflow; `inherited` is the worker's environment, of which it sees an allow-list and its own."""
    return VendorAgent(CODEX, settings, dict(inherited))
