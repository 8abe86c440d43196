"""A failed run to the turns that most likely decided it: signs that can be seen, and what each of them weighs."""

from .judge import Assessment, question, read_answer
from .rank import Candidate, attribute
from .signs import ORCHESTRATED, SIGNS, TEAM, Table
from .turns import Turn, turns_of_history, turns_of_trajectory

__all__ = [
    "ORCHESTRATED",
    "SIGNS",
    "TEAM",
    "Assessment",
    "Candidate",
    "Table",
    "Turn",
    "attribute",
    "question",
    "read_answer",
    "turns_of_history",
    "turns_of_trajectory",
]
