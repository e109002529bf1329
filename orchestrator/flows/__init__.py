"""What a durable task consists of, as data: steps, decisions and effects of plain functions, in order.

    from orchestrator.flows import Agent, Decision, Effect, Flow, Question, Step

A function says by its parameters what it needs: `input` is what the task was started with, another step's name is that
step's output, `task` the task's id, `key` an effect's key. There is no replay and no rule of determinism: what a step
returned is recorded, and a step that is recorded never runs again.

    spelling    Step, Decision, Effect, Question, Flow, and the two words of an act: Refused, NotSent
    signatures  what a function takes and gives, by its annotations
    checking    what is wrong with a definition, with place and reason
    proposals   what an agent program is told, and what it left
    performing  runs one function of one step; the only place where a user's code is called
    loading     where a user's flows are found
    printing    the contract as data, as Markdown, as a diagram
"""

from orchestrator.flows.spelling import (
    IDEMPOTENT_WRITE,
    IRREVERSIBLE,
    READ,
    WRITE,
    Agent,
    BadFlow,
    Decision,
    Effect,
    Flow,
    NotSent,
    Question,
    Refused,
    Step,
)

__all__ = [
    "IDEMPOTENT_WRITE",
    "IRREVERSIBLE",
    "READ",
    "WRITE",
    "Agent",
    "BadFlow",
    "Decision",
    "Effect",
    "Flow",
    "NotSent",
    "Question",
    "Refused",
    "Step",
]
