"""Golden game logs: one game a preset, kept line by line.

`python -m tests.golden` writes them all anew after a deliberate change of the rules, the generator or the players.
"""

from __future__ import annotations

import json
from pathlib import Path

from sim.config import load_player, load_ruleset, presets
from sim.games import games
from sim.trace import replay

FOLDER = Path(__file__).parent / "golden"
SEED = 2026
NAMES = [f"{game}/{version}" for game in games() for version in presets(game)]


def path_of(name: str) -> Path:
    """The file of a preset's golden log."""
    return FOLDER / f"{name}.jsonl"


def lines_of(name: str) -> list[str]:
    """The log lines of a preset's golden game: four seats, or as many as it takes, random and greedy in turn."""
    ruleset = load_ruleset(name)
    seats = min(max(4, ruleset.seats[0]), ruleset.seats[1])
    players = [player for player in map(load_player, ("random", "greedy")) if player.plays(ruleset.game)]
    lineup = tuple(players[seat % len(players)] for seat in range(seats))
    return [json.dumps(event, separators=(",", ":")) for event in replay(ruleset, lineup, SEED, 0)]


def write_all() -> None:
    """Write every golden log, and remove those of presets that are gone."""
    for stale in set(FOLDER.rglob("*.jsonl")) - {path_of(name) for name in NAMES}:
        stale.unlink()
    for name in NAMES:
        path_of(name).parent.mkdir(parents=True, exist_ok=True)
        path_of(name).write_text("\n".join(lines_of(name)) + "\n", encoding="utf-8")
        print(path_of(name).relative_to(FOLDER.parent))


if __name__ == "__main__":
    write_all()
