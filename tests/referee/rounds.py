"""A log of one or several rounds: each round goes to the game's own referee, and the match is added up here.

A `round` line closes every round of a match and says what an `end` line says of a single game; the match's own `end`
line must follow from them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from tests.referee.log import Disagreement, Lines, Log

Event = dict[str, Any]

NOT_WON = ("drawn", "stalled")


def check_log(lines: Lines, check: Callable[[Lines], None], scored: int) -> None:
    """Judge a log, of a match or of a single game.

    Args:
        check: the game's referee, for the log of a single game.
        scored: 1 where the highest score is the best, -1 where the lowest is, 0 where there are none.
    Raises:
        Disagreement: at the first difference between the log and the rules.
    """
    events = _parsed(lines)
    rounds = rounds_of(events)
    for one in rounds:
        check(one)
    if "rounds" in events[0]:
        _compare("the number of rounds", events[0]["rounds"], len(rounds))
        numbers = [event["round"] for event in events if event["type"] == "round"]
        _compare("the rounds in order", numbers, list(range(1, len(rounds) + 1)))
        _compare("the end of the match", events[-1], _end([one[-1] for one in rounds], scored))


def rounds_of(lines: Lines) -> list[list[Event]]:
    """The rounds of a match, each as the log of a single game, of deals that follow one another; or the single game."""
    events = _parsed(lines)
    if "rounds" not in events[0]:
        return [events]
    header = {key: value for key, value in events[0].items() if key != "rounds"}
    rounds: list[list[Event]] = []
    current: list[Event] = []
    for event in events[1:-1]:
        if event["type"] != "round":
            current.append(event)
            continue
        end = {key: value for key, value in event.items() if key != "round"}
        rounds.append([{**header, "index": header["index"] + len(rounds)}, *current, {**end, "type": "end"}])
        current = []
    _compare("lines after the last round but the end", current, [])
    return rounds


def _parsed(lines: Lines) -> list[Event]:
    log = Log(lines)
    return [log._parsed(index) for index in range(len(log.lines))]


def _compare(what: str, logged: object, wanted: object) -> None:
    if logged != wanted:
        raise Disagreement(f"{what}: expected {wanted}, logged {logged}")


def _end(rounds: Sequence[Event], scored: int) -> Event:
    """The `end` line of a match whose rounds ended so: best total score, then most of the rounds' wins."""
    seats = range(len(rounds[0]["places"]))
    scores = [sum(end["scores"][p] for end in rounds) for p in seats]
    standing = [(scored * scores[p], sum(_win(end, p) for end in rounds)) for p in seats]
    places = [1 + sum(other > mine for other in standing) for mine in standing]
    outcome = "win"
    if any(end["outcome"] == "stalled" for end in rounds):
        outcome = "stalled"
    elif all(end["outcome"] == "drawn" for end in rounds):
        outcome = "drawn"
    return {
        "type": "end",
        "outcome": outcome,
        "winners": [] if outcome in NOT_WON else [p for p in seats if places[p] == 1],
        "losers": [],
        "places": places,
        "scores": scores,
        "turns": sum(end["turns"] for end in rounds),
    }


def _win(end: Event, seat: int) -> Fraction:
    """What a seat won of a round: the winners share it or, where a loser is found, all others do."""
    if end["losers"]:
        others = len(end["places"]) - len(end["losers"])
        return Fraction(seat not in end["losers"], others)
    return Fraction(seat in end["winners"], max(len(end["winners"]), 1))
