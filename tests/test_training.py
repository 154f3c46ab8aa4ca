"""Training: the same task gives the same file, what it gives is better than greedy, and `adapted` finds it again."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import yaml

import sim.training
from sim.batch import run
from sim.config import Player, load_player, load_ruleset, presets
from sim.config.groups import Group
from sim.config.players import read_player
from sim.engine import play_seats
from sim.games import game, games
from sim.players.basic import Lineup, basic_lineup
from sim.training import (
    Arena,
    Task,
    bounded_interval,
    file_name,
    fit_group,
    fitted,
    seat_worths,
    seated,
    train,
    write,
)

SEVENS = load_ruleset("sevens/default")
ADAPTED = load_player("adapted")
SMALL = Task(SEVENS, 4, ADAPTED, budget=150_000)


def restricted(**keys: dict[str, dict[str, list[str]]]) -> Player:
    return dataclasses.replace(ADAPTED, **keys)


@pytest.fixture(scope="module")
def small() -> sim.training.Trained:
    return train(SMALL, 2)


def test_a_small_budget_beats_greedy_already(small: sim.training.Trained) -> None:
    assert small.measured["greedy"].low > 0.25
    assert small.measured["random"].low > 0.45
    assert SMALL.budget <= small.games < 2 * SMALL.budget


def test_the_file_does_not_depend_on_the_number_of_threads(small: sim.training.Trained) -> None:
    assert train(SMALL, 3).document() == small.document()


def test_the_players_of_all_presets_come_with_the_project() -> None:
    """If not: make players."""
    tasks = [
        Task(load_ruleset(f"{name}/{preset}"), 4, ADAPTED) for name in games() for preset in presets(name)
    ]
    found = {
        path.relative_to(sim.training.SHIPPED).as_posix() for path in sim.training.SHIPPED.rglob("*.yaml")
    }
    assert found == {f"{task.ruleset.game}/{file_name(task)}" for task in tasks}
    for task in tasks:
        path = sim.training.SHIPPED / task.ruleset.game / file_name(task)
        assert yaml.safe_load(path.read_text(encoding="utf-8"))["trained"]["digest"] == task.digest
        assert read_player(path).plays(task.ruleset.game)


def test_a_game_without_decisions_has_nothing_to_train(tmp_path: Path) -> None:
    trained = train(Task(load_ruleset("heart_attack/default"), 4, ADAPTED, budget=1000), 1)
    assert trained.weights == {}
    assert trained.measured["random"].low <= 0.25 <= trained.measured["random"].high
    assert read_player(write(trained, tmp_path)).plays("heart_attack")


def test_another_seed_gives_other_weights(small: sim.training.Trained) -> None:
    assert train(dataclasses.replace(SMALL, seed=2), 2).weights != small.weights


def test_the_file_is_a_player_and_says_where_it_comes_from(
    small: sim.training.Trained, tmp_path: Path
) -> None:
    path = write(small, tmp_path)
    player, content = read_player(path), yaml.safe_load(path.read_text(encoding="utf-8"))
    assert player.weights == {"sevens": small.weights}
    origin = content["trained"]
    assert (origin["ruleset"], origin["seats"], origin["seed"]) == ("sevens/default", 4, 1)
    assert origin["digest"] == SMALL.digest
    assert origin["against"]["greedy"]["low"] < origin["against"]["greedy"]["estimate"]
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_adapted_is_trained_once_and_found_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, small: sim.training.Trained
) -> None:
    monkeypatch.setattr(sim.training, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setattr(sim.training, "cache_root", lambda: tmp_path)
    monkeypatch.setattr(sim.training, "train", lambda task, jobs: dataclasses.replace(small, task=task))
    asked: list[Task] = []
    search = load_player("search_adapted")
    first = fitted(ADAPTED, SEVENS, 4, 1, asked.append)
    again = fitted(search, SEVENS, 4, 1, asked.append)
    assert first.weights == {"sevens": small.weights}
    assert again.search is not None
    assert again.search.plays_out.weights == first.weights
    assert again.search.opponents[0].weights == first.weights
    assert len(asked) == 1
    fitted(ADAPTED, SEVENS.changed({"pass_fee": 1}), 4, 1, asked.append)
    fitted(ADAPTED, SEVENS, 3, 1, asked.append)
    fitted(restricted(forbid={"sevens": {"main": ["seven"]}}), SEVENS, 4, 1, asked.append)
    assert len(asked) == 4


@pytest.mark.parametrize("damage", ["kind: adapted", "kind: random", "cut", "empty", "another"])
def test_a_damaged_file_is_trained_anew(
    damage: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, small: sim.training.Trained
) -> None:
    monkeypatch.setattr(sim.training, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setattr(sim.training, "cache_root", lambda: tmp_path)
    monkeypatch.setattr(sim.training, "train", lambda task, jobs: dataclasses.replace(small, task=task))
    path = write(small, tmp_path / "players")
    text = path.read_text(encoding="utf-8")
    broken = {
        "cut": text[: text.index("trained:")],
        "empty": "",
        "another": text.replace(SMALL.digest, SMALL.digest[::-1]),
    }
    path.write_text(broken.get(damage, f"{damage}\n"), encoding="utf-8")
    asked: list[Task] = []
    assert sim.training.result(SMALL, 1, asked.append).weights == {"sevens": small.weights}
    assert asked == [SMALL]
    assert path.read_text(encoding="utf-8") == text
    sim.training.result(SMALL, 1, asked.append)
    assert asked == [SMALL]


def test_a_long_name_can_be_read_back(tmp_path: Path, small: sim.training.Trained) -> None:
    long = SEVENS.changed({"pass_fee": 1})
    long = dataclasses.replace(long, version="牌" * 95 + "+pass_fee=1" * 20)
    path = write(dataclasses.replace(small, task=dataclasses.replace(SMALL, ruleset=long)), tmp_path)
    assert read_player(path).weights == {"sevens": small.weights}


def test_a_title_says_against_whom_and_like_whom(small: sim.training.Trained) -> None:
    like = dataclasses.replace(restricted(forbid={"sevens": {"main": ["seven"]}}), name="no_sevens")
    task = dataclasses.replace(SMALL, like=like, against=(load_player("greedy"),))
    titles = [
        yaml.safe_load(dataclasses.replace(small, task=made).document())["title"] for made in (SMALL, task)
    ]
    assert titles[0] == {"en": "trained for sevens/default, 4 seats", "zh-Hant": "為 sevens/default 4 人訓練"}
    assert titles[1] == {
        "en": "trained for sevens/default, 4 seats, against greedy, like no_sevens",
        "zh-Hant": "為 sevens/default 4 人訓練，對 greedy，如 no_sevens",
    }


def test_restrictions_of_a_field_are_part_of_the_task() -> None:
    weights = {"sevens": {"main": {"passes": 5}}}
    plain = Player("g", "weights", {}, weights)
    strict = dataclasses.replace(plain, forbid={"sevens": {"main": ["opens_others"]}})
    digests = {Task(SEVENS, 4, ADAPTED, against=(player,)).digest for player in (plain, strict)}
    assert len(digests) == 2


def test_a_generation_cut_short_is_judged_too() -> None:
    few, more = (train(dataclasses.replace(SMALL, budget=budget), 2) for budget in (100, 100_000))
    assert (few.generations, few.gained) == (0, False)
    assert few.measured["greedy"].estimate == 0.25
    assert 0 < more.generations < sim.training.CHECK_EVERY
    assert more.gained
    assert more.weights != few.weights


def test_the_lowest_score_is_aimed_at_where_it_wins() -> None:
    field_, names = basic_lineup(game("yishi"), [load_player("random")]), ("greedy", "random")
    rows = [basic_lineup(game("yishi"), [load_player(name)]) for name in names]
    with ThreadPoolExecutor(1) as threads:
        arena = Arena(Task(load_ruleset("yishi/default"), 4, ADAPTED, aim="score"), threads)
        greedy, random = arena.worths(rows, [field_], 500).mean(axis=1)
        shown = [arena.measure(row, field_, 500).estimate for row in rows]
    assert greedy > random
    assert 0 < shown[0] < shown[1]


def test_shares_have_intervals_within_their_bounds() -> None:
    unseen = 1 - 0.005 ** (1 / 60)
    wanted = {0: (0, unseen), 1: (1 - unseen, 1), 0.25: (0.25 * (1 - unseen), 0.25 + 0.75 * unseen)}
    for value, (low, high) in wanted.items():
        assert bounded_interval(np.full(60, value))[:3] == pytest.approx((value, low, high))
    rarely = bounded_interval(np.r_[np.zeros(59), 0.25])
    assert rarely.low == 0 < rarely.estimate < rarely.high < 0.25


def test_the_arms_of_a_group_have_weights_of_their_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, small: sim.training.Trained
) -> None:
    seven = {"main": {"seven": 500}}
    monkeypatch.setattr(sim.training, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setattr(sim.training, "cache_root", lambda: tmp_path)
    monkeypatch.setattr(
        sim.training,
        "train",
        lambda task, jobs: dataclasses.replace(
            small, task=task, weights=small.weights if task.ruleset == SEVENS else seven
        ),
    )
    arms = (SEVENS, SEVENS.changed({"start_card": "S7"}))
    group = Group(4, (ADAPTED,) * 4, arms, (), 1, 400, "sevens")
    fit = fit_group(group, 1, lambda task: None)
    assert [fit.players(arm)[0].weights for arm in (0, 1)] == [{"sevens": small.weights}, {"sevens": seven}]
    alone = Group(4, fit.players(1), arms[1:], (), 1, 400, "sevens")
    both, one = (run([g], tmp_path / name, 1).tallies[0] for g, name in ((fit, "both"), (alone, "one")))
    assert np.array_equal(both["arm/1/sum"], one["arm/0/sum"])


def test_a_restricted_player_never_does_what_it_need_not(small: sim.training.Trained) -> None:
    """With 7s forbidden, one is played only where nothing else is legal."""
    like = restricted(forbid={"sevens": {"main": ["seven"]}})
    player = dataclasses.replace(like, kind="weights", weights={"sevens": {"main": {"seven": 900}}})
    from sim.engine import Table

    played = game("sevens")
    table = Table(played, played.rules(SEVENS.toggles, 4), (player,) * 4, 1)
    seven = sum(1 << 14 * suit + 6 for suit in range(4))
    chosen = 0
    for number in range(30):
        table.deal(number)
        over = table.begin()
        while not over:
            legal, move = table.legal()[0], table.choose()
            if move & seven:
                assert all(other & seven for other in legal)
                chosen += 1
            over = table.make(move)
    assert chosen > 30


def test_training_keeps_to_its_restrictions_and_names_them(tmp_path: Path) -> None:
    like = restricted(forbid={"sevens": {"main": ["seven"]}}, prefer={"sevens": {"main": ["safe"]}})
    trained = train(Task(SEVENS, 4, like, budget=30_000), 2)
    assert not {"seven", "safe"} & trained.weights["main"].keys()
    player = read_player(write(trained, tmp_path))
    assert (player.forbid, player.prefer) == (like.forbid, like.prefer)


def test_a_best_response_gains_from_a_weak_field() -> None:
    random = load_player("random")
    trained = train(Task(SEVENS, 4, ADAPTED, against=(random,), budget=150_000), 2)
    assert trained.measured["random"].low > 0.45


def test_a_seat_sits_among_its_field() -> None:
    rows = Lineup(np.array([1]), np.full((1, 1, 1), 9))
    field = Lineup(np.array([0, 0, 0]), np.arange(1, 4).reshape(3, 1, 1))
    assert [seated(rows, field, [seat], 4).weights.ravel().tolist() for seat in range(4)] == [
        [9, 1, 2, 3],
        [3, 9, 1, 2],
        [2, 3, 9, 1],
        [1, 2, 3, 9],
    ]
    assert seated(rows, Lineup(field.kind[:1], field.weights[:1]), [1], 3).weights.ravel().tolist() == [
        1,
        9,
        1,
    ]


def test_results_by_seat_are_those_of_the_log() -> None:
    """The shares of `play_seats` stand in the seats' order, whoever began."""
    from sim.trace import replay

    played, lineup = game("sevens"), (load_player("random"),) * 4
    rules = played.rules(SEVENS.toggles, 4)
    shares = play_seats(played, rules, basic_lineup(played, lineup), 7, 20)
    for number, share in enumerate(shares.tolist()):
        assert np.flatnonzero(share).tolist() == replay(SEVENS, lineup, 7, number)[-1]["winners"]


def test_a_game_without_a_winner_is_worth_as_much_to_all() -> None:
    ruleset = load_ruleset("ninety_nine/default").changed({"max_turns": 10})
    played = game("ninety_nine")
    lineup = basic_lineup(played, (load_player("greedy"),) * 4)
    worths = seat_worths(played, played.rules(ruleset.toggles, 4), lineup, 1, 200)
    assert (worths == 0.25).all(axis=1).any()
    assert worths.sum(axis=1) == pytest.approx(1)
