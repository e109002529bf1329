"""The prompt of a turn: the workflow's Liquid body, judged at load, rendered strictly and in a closed box.

    names        what a template may name
    box          Liquid with walls: no other file, and an end to what a template can cost
    judging      what is wrong with a template, as far as it shows without an item
    golang       the Liquid spelling of each action of a Go template, for people who bring one
    gowords, govalues: the words of such an action; what it speaks of, and when that counts as true
    respelling   a whole Go template in Liquid, where every action of it has an exact spelling
    rendering    the door's adapter: a template and an item -> a prompt

A template sees dictionaries, lists, texts, numbers and nothing of Python. What it names and we do not know is an error.
Its text keeps blank lines where the file has its front matter, so that a line number counts from the top of the file.
"""

from orchestrator.prompts.judging import TemplateProblem as TemplateProblem
from orchestrator.prompts.judging import problems as problems
from orchestrator.prompts.rendering import LiquidPrompts as LiquidPrompts
from orchestrator.prompts.respelling import as_far_as_known as as_far_as_known
from orchestrator.prompts.respelling import respelled as respelled
