"""The aggregation rules by their names in `Terms.aggregation`. A new rule is one file, and one line here."""

from __future__ import annotations

from .algebraic import Algebraic
from .base import AggregationRule
from .geometric import Geometric
from .sites import Sites

RULES: dict[str, AggregationRule] = {
    rule.name: rule
    for rule in (
        Geometric(),
        Algebraic(),
        Sites(),
    )
}


def rule_named(name: str) -> AggregationRule:
    """The rule of this name; ValueError says which there are."""
    if name not in RULES:
        raise ValueError(f"aggregation={name!r}: expected one of {', '.join(map(repr, RULES))}")
    return RULES[name]
