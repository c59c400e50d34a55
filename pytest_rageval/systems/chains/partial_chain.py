"""Cut a chain after one of its actions."""

from __future__ import annotations

from dataclasses import replace

from pytest_rageval.errors import UnknownNameError
from pytest_rageval.systems.chains.chain import Action, Chain, Retrieve
from pytest_rageval.systems.chains.template import parse_template

__all__ = ["action_named", "chain_until"]


def action_named(chain: Chain, name: str, where: str) -> Action:
    """Return an action by its name; raise `UnknownNameError` for an unknown one."""
    actions = {action.name: action for action in chain.actions}
    if name not in actions:
        raise UnknownNameError("action", name, actions, where)
    return actions[name]


def chain_until(chain: Chain, last: Action) -> Chain:
    """Return a chain that ends after the action ``last`` and answers with its output.

    For the last action of the chain, return the chain itself, with its own answer.
    """
    actions = chain.actions[: chain.actions.index(last) + 1]
    if actions == chain.actions:
        return chain
    answer = None if isinstance(last, Retrieve) else parse_template(f"{{{last.name}}}")
    names = [action.name for action in actions]
    return replace(chain, actions=actions, answer=answer, ranking=tuple(n for n in chain.ranking if n in names))
