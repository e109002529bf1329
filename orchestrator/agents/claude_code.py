"""Claude Code as an agent: one run of `claude -p` a turn, which its bridge reads; a later turn resumes the session.

The block `claude-code` of a workflow is read as Sortie does: permission_mode, model, fallback_model, max_turns,
max_budget_usd, effort, allowed_tools, disallowed_tools, system_prompt, mcp_config.
"""

from collections.abc import Mapping

from orchestrator.agents.vendor import Vendor, VendorAgent
from orchestrator.domain.workflow import AgentSettings
from orchestrator.ports.agent import AgentMisconfigured

CLAUDE_CODE = Vendor(
    bridge="stream_json",
    command="claude",
    passed_on=(
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CONFIG_DIR",
        "IS_SANDBOX",  # without it the program refuses to skip its questions when root runs it
    ),
)


def connect(settings: AgentSettings, inherited: Mapping[str, str]) -> VendorAgent:
    """The agent of a workflow; `inherited` is the worker's environment, of which it sees an allow-list and its own.

    Raises:
        AgentMisconfigured: its sessions are not to be kept, by which later turns go on.
    """
    if settings.options.get("session_persistence") is False:
        raise AgentMisconfigured(
            "claude-code.session_persistence: found false, expected true; later turns resume the session: leave it out"
        )
    return VendorAgent(CLAUDE_CODE, settings, dict(inherited))
