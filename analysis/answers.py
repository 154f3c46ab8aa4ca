"""Answers to a sweep's questions: a verdict in plain words, and the rows it rests on.

A verdict separates what the data show from what they cannot tell: "no" needs an interval that rules a relevant
difference out, otherwise the answer is "not enough data". Relevant is a tenth of par (what a seat wins on average);
for counters a tenth of a standard deviation between games: smaller differences are told apart from the changes. Where
one question is asked of many rulesets, seats and line-ups (cases), its p-values are adjusted by Holm over all of them.
Rulesets with the same toggles are one, whatever their names, and the answer begins with the rules that the game's
defaults stand for, the current ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from analysis import stats
from analysis.metrics import ALPHA, HIGHER, IDENTICAL, LOWER, UNCLEAR, lineup_name, select
from sim.games import Game, Words, games
from sim.tally import COUNTERS, RATIOS

if TYPE_CHECKING:
    from sim.config import Answer as Question
    from sim.config import Sweep

RELEVANT = 0.1
"""Differences below this part of par, or of a standard deviation between games, are called slight."""

MOST_NAMED = 5
"""A headline names at most so many things of a kind; the details name all."""

CASE = ["game", "ruleset", "lineup", "seats"]
CURRENT = "{}"
"""The `toggles` of a ruleset that differs from the game's defaults in nothing."""

SLIGHTLY = {HIGHER: "slightly higher", LOWER: "slightly lower"}
"""The verdicts on clear differences that are not relevant."""

INTERVAL = ["estimate", "low", "high"]


def _words(en: str, zh: str) -> Words:
    return {"en": en, "zh-Hant": zh}


VERDICTS: Mapping[str, Words] = {
    "lost": _words("nearly lost (below half of par)", "近乎必敗（不到平均勝率的一半）"),
    "handicap": _words("a handicap", "吃虧"),
    "slight_handicap": _words(
        "a slight handicap (less than a tenth of par)", "略為吃虧（差距不到平均勝率的一成）"
    ),
    "no_handicap": _words("no handicap", "不吃虧"),
    "good_hand": _words("an advantage", "反而有利"),
    "first_gains": _words("an edge for the first player", "先手有利"),
    "first_gains_slightly": _words(
        "a slight edge for the first player (less than a tenth of par)",
        "先手略為有利（差距不到平均勝率的一成）",
    ),
    "first_loses": _words("the first player is worse off", "先手不利"),
    "first_loses_slightly": _words(
        "the first player is slightly worse off (less than a tenth of par)",
        "先手略為不利（差距不到平均勝率的一成）",
    ),
    "first_even": _words("no relevant edge for the first player", "先手沒有明顯優勢"),
    "others_differ": _words("positions differ, but not clearly the first", "順位之間有差異，但未必在先手"),
    "unknown": _words("not enough data", "資料不足"),
    HIGHER: _words("higher", "上升"),
    LOWER: _words("lower", "下降"),
    SLIGHTLY[HIGHER]: _words("slightly higher", "略為上升"),
    SLIGHTLY[LOWER]: _words("slightly lower", "略為下降"),
    UNCLEAR: _words("no clear difference", "無明顯差異"),
    IDENTICAL: _words("identical", "完全相同"),
}
"""The words of every code in the `verdict` column of evidence and of contrasts.csv."""

HEADINGS: Mapping[str, Words] = {
    "ruleset": _words("ruleset", "規則"),
    "lineup": _words("players", "玩家"),
    "seats": _words("seats", "人數"),
    "metric": _words("measure", "指標"),
    "key": _words("of", "項目"),
    "n": _words("n", "樣本數"),
    "estimate": _words("estimate", "估計值"),
    "low": _words("95 % from", "95 % 下限"),
    "high": _words("95 % to", "95 % 上限"),
    "par": _words("par", "平均勝率"),
    "par_low": _words("par, 95 % from", "平均勝率 95 % 下限"),
    "par_high": _words("par, 95 % to", "平均勝率 95 % 上限"),
    "chi_square": _words("chi-square", "卡方值"),
    "p_adjusted": _words("p (Holm)", "p 值（Holm 校正）"),
    "effect": _words("effect in standard deviations", "效果（標準差）"),
    "verdict": _words("verdict", "結論"),
}
"""Headings of the evidence columns."""

STANCE: Mapping[str, int] = {
    **{"lost": -1, "handicap": -1, "slight_handicap": 0, "no_handicap": 0, "good_hand": 1},
    **{"first_loses": -1, "first_loses_slightly": 0, "first_even": 0},
    **{"first_gains_slightly": 0, "first_gains": 1},
}
"""Which way a verdict points. Line-ups disagree when theirs point differently; verdicts not listed point nowhere."""

LEADS: Mapping[str, str] = {
    **{"lost": "yes", "handicap": "not_quite", "slight_handicap": "hardly"},
    **{"no_handicap": "no", "good_hand": "no"},
    **{"first_loses": "no", "first_loses_slightly": "no", "first_even": "no"},
    **{"first_gains_slightly": "hardly", "first_gains": "yes", "others_differ": "depends"},
}
"""The word of `TEXT` a headline opens with when all verdicts that say anything call for the same."""

TEXT: Mapping[str, Mapping[str, str]] = {
    "en": {
        "comma": ", ",
        "semicolon": "; ",
        "space": " ",
        "and": " and ",
        "plus": " + ",
        "more": "{list}; and {n} more",
        "seats": "{list} ({seats} seats)",
        "cases_all": "{lead}: {verdict}, in all {total} cases.",
        "cases_some": "{lead}: {list} (of {total} cases: rulesets by seats and players).",
        "current_all": "{lead}, by the current rules ({ruleset}): {verdict}, at all {total} tables.",
        "current_some": "{lead}, by the current rules ({ruleset}): {list} (of {total} tables: seats by players).",
        "current_unknown": "By the current rules ({ruleset}): not enough data at any of {total} tables.",
        "rulesets_all": "Over all rulesets: {verdict}, in all {total} cases.",
        "rulesets_some": "Over all rulesets: {list} (of {total} cases: rulesets by seats and players).",
        "rulesets_unknown": "Over all rulesets: not enough data in any of {total} cases.",
        "count": "{verdict} in {n}",
        "yes": "Yes",
        "no": "No",
        "depends": "It depends",
        "not_quite": "Not quite",
        "hardly": "Hardly",
        "cases_unknown": "Not enough data in any of {total} cases.",
        "opening_extreme": "Furthest from par: {where}: {value} (n = {n}) against {par}.",
        "first_extreme": "Largest effect: {where}: {value} (n = {n}).",
        "where": "{ruleset}, {seats} seats, {lineup}",
        "listed": "{head}: {list}.",
        "by_players": "{lineup}, {verdict}",
        "players": "{list} players",
        "many_players": "the line-ups",
        "disagree_short": "{players} disagree in {n} of {total} combinations of ruleset and seats.",
        "disagree": "{players} disagree",
        "points": "{value} points [{low}, {high}]",
        "percent": "{value} % [{low}, {high}]",
        "number": "{value} [{low}, {high}]",
        "higher": "Higher",
        "lower": "Lower",
        "mixed": "Higher at some tables, lower at others",
        "slight": "Clear but slight (less than a tenth of a standard deviation)",
        "slight_only": "only slight differences",
        "none_relevant": "Nothing differs by more than a slight amount.",
        "unclear": "No clear difference",
        "identical": "Identical in every game",
        "nothing": "Nothing measured differs clearly.",
        "not_compared": "Not compared in these results.",
        "not_measured": "Not measured in these results.",
        "some_tables": "{name} (at {n} of {total} tables)",
        "table": "{lineup}, {seats} seats",
        "opposite": "{players} disagree on: {list}.",
    },
    "zh-Hant": {
        "comma": "、",
        "semicolon": "；",
        "space": " ",
        "and": "與",
        "plus": " + ",
        "more": "{list}；以及其他 {n} 項",
        "seats": "{list}（{seats} 人）",
        "cases_all": "{lead}：{total} 種情況全部{verdict}。",
        "cases_some": "{lead}：{total} 種情況（規則、人數與玩法的組合）中，{list}。",
        "current_all": "就現行規則（{ruleset}）而言，{lead}：{total} 種桌全部{verdict}。",
        "current_some": "就現行規則（{ruleset}）而言，{lead}：{total} 種桌（人數與玩法的組合）中，{list}。",
        "current_unknown": "就現行規則（{ruleset}）而言，{total} 種桌的資料都不足。",
        "rulesets_all": "就全部規則而言，{total} 種情況全部{verdict}。",
        "rulesets_some": "就全部規則而言，{total} 種情況（規則、人數與玩法的組合）中，{list}。",
        "rulesets_unknown": "就全部規則而言，{total} 種情況的資料都不足。",
        "count": "{n} 種{verdict}",
        "yes": "是",
        "no": "否",
        "depends": "視情況而定",
        "not_quite": "不盡然",
        "hardly": "差別不大",
        "cases_unknown": "{total} 種情況的資料都不足。",
        "opening_extreme": "偏離平均最多：{where}，勝率 {value}（樣本數 {n}），平均為 {par}。",
        "first_extreme": "差距最大：{where}，{value}（樣本數 {n}）。",
        "where": "{ruleset}、{seats} 人、{lineup}",
        "listed": "{head}：{list}。",
        "by_players": "{lineup}，{verdict}",
        "players": "{list}玩法",
        "many_players": "各種玩法",
        "disagree_short": "{players}在 {total} 種規則與人數的組合中，有 {n} 種結論不同。",
        "disagree": "{players}的結論不同",
        "points": "{value} 個百分點 [{low}, {high}]",
        "percent": "{value} % [{low}, {high}]",
        "number": "{value} [{low}, {high}]",
        "higher": "上升",
        "lower": "下降",
        "mixed": "有些桌上升、有些桌下降",
        "slight": "確有差異但很小（不到 0.1 個標準差）",
        "slight_only": "只有很小的差異",
        "none_relevant": "各項指標最多只有很小的差異。",
        "unclear": "無明顯差異",
        "identical": "每局完全相同",
        "nothing": "各項指標都沒有明顯差異。",
        "not_compared": "這份結果沒有比較這兩套規則。",
        "not_measured": "這份結果沒有測量這個項目。",
        "some_tables": "{name}（{total} 種桌中的 {n} 種）",
        "table": "{lineup}、{seats} 人",
        "opposite": "{players}的變化方向相反：{list}。",
    },
}


@dataclass(frozen=True)
class Answer:
    """A question answered.

    Attributes:
        kind: the question's kind.
        question: its words.
        verdict: one to three sentences per language.
        details: further sentences per language, the same number in each.
        evidence: the rows behind it; headings and the words of `verdict` codes are in `HEADINGS` and `VERDICTS`.
    """

    kind: str
    question: Words
    verdict: Words
    details: Mapping[str, Sequence[str]]
    evidence: pd.DataFrame


@dataclass(frozen=True)
class Sentence:
    """A sentence that can be said in each language: a key of `TEXT` and what goes into it.

    A part may be a text or number, words per language, a sentence, or a list of those (joined by commas).
    """

    text: str
    parts: Mapping[str, Any]

    def said(self, language: str) -> str:
        """The sentence in a language."""
        parts = {name: _said(part, language) for name, part in self.parts.items()}
        return TEXT[language][self.text].format(**parts)


@dataclass(frozen=True)
class Joined:
    """Parts of a sentence joined by the separator with this key of `TEXT`."""

    separator: str
    parts: Sequence[Any]


def _said(part: Any, language: str) -> str:
    if isinstance(part, Sentence):
        return part.said(language)
    if isinstance(part, Joined):
        return TEXT[language][part.separator].join(_said(item, language) for item in part.parts)
    if isinstance(part, Mapping):
        return str(part[language])
    if isinstance(part, list):
        return _said(Joined("comma", part), language)
    return str(part)


def _say(text: str, **parts: Any) -> Sentence:
    return Sentence(text, parts)


def answers(sweep: Sweep, metrics: pd.DataFrame, contrasts: pd.DataFrame) -> list[Answer]:
    """The answers to the sweep's questions, in its order.

    Args:
        sweep: the sweep that was played.
        metrics: its metrics.csv table.
        contrasts: its contrasts.csv table.
    """
    names = _Names(sweep)
    kinds: Mapping[str, Callable[[Question], Answer]] = {
        "opening_class": lambda question: _opening_class(question, names, _about(question, metrics)),
        "first_player": lambda question: _first_player(question, names, _about(question, metrics)),
        "change": lambda question: _change(question, names, metrics, contrasts),
    }
    return [kinds[question.kind](question) for question in sweep.answers]


def _about(question: Question, table: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table that a question is about."""
    return select(table, game=question.game) if question.game else table


def metric_words(game: Game, metric: str, key: str) -> Words:
    """What a row of metrics.csv or contrasts.csv measures, without saying which quantile or mean it is."""
    counters = {counter.name: counter for counter in (*COUNTERS, *game.counters)}
    ratios = {ratio.name: ratio for ratio in (*RATIOS, *game.ratios)}
    partitions = {f"win_share_by_{partition.name}": partition for partition in game.partitions}
    if metric in _SEAT_WORDS and key.isdigit():
        return _at_position(_SEAT_WORDS[metric], int(key))
    if metric == "outcome":
        return _OUTCOME_WORDS[key]
    name = metric.removesuffix("_histogram").removesuffix("_p_value")
    if name in counters:
        return _words(counters[name].en, counters[name].zh)
    if name in ratios:
        return _words(ratios[name].en, ratios[name].zh)
    if name in partitions:
        part, words = partitions[name], partitions[name].class_words(key)
        return _words(f"win share, {part.en}: {words['en']}", f"勝率，{part.zh}：{words['zh-Hant']}")
    return _OTHER_WORDS.get(name, _words(name, name))


_SEAT_WORDS = {
    "win_share": _words("win share", "勝率"),
    "draws": _words("cards drawn", "抽牌張數"),
    "decisions": _words("decisions", "決策數"),
    "choices": _words("decisions with more than one legal move", "有選擇的決策數"),
    "largest_hand": _words("largest hand", "最大手牌張數"),
    "score": _words("score", "得分"),
}
_OUTCOME_WORDS = {
    "win": _words(
        "games won by reaching the goal (not as the last survivor)", "達成目標獲勝的局（不含僅存者獲勝）"
    ),
    "survivor": _words("games won by the last survivor", "僅存者獲勝的局"),
    "loser_found": _words("games that end with a loser", "分出輸家的局"),
    "drawn": _words("drawn games", "和局"),
    "stalled": _words("stalled games (stopped by the length guard)", "停滯局（達長度上限而中止）"),
}
_OTHER_WORDS = {
    "win_share": _words("win share of a seat (par)", "每人平均勝率"),
    "first_player_advantage": _words("first player's advantage", "先手優勢"),
    "position_omnibus": _words("test of equal positions", "順位均等檢定"),
    "win_share_by_card": _words("win share with a card in the opening hand", "起手持有該牌的勝率"),
}


def _at_position(words: Words, position: int) -> Words:
    if position == 1:
        return _words(f"{words['en']} of the first player", f"先手的{words['zh-Hant']}")
    return _words(f"{words['en']} of position {position}", f"第 {position} 順位的{words['zh-Hant']}")


class _Names:
    """The words for rulesets and line-ups of a sweep."""

    def __init__(self, sweep: Sweep) -> None:
        self.one_game = len({group.game for group in sweep.groups}) == 1
        self.lineups: dict[str, Any] = {}
        for group in sweep.groups:
            players = list({player.name: player.title for player in group.lineup}.values())
            self.lineups[lineup_name(group)] = players[0] if len(players) == 1 else Joined("plus", players)

    def ruleset(self, name: str) -> str:
        """A ruleset's version, with the game before it when the sweep has several."""
        return name.partition("/")[2] if self.one_game else name

    def where(self, row: Any) -> Sentence:
        """A case in words."""
        lineup = self.lineups[row.lineup]
        return _say("where", ruleset=self.ruleset(row.ruleset), seats=row.seats, lineup=lineup)

    def players(self, lineups: Iterable[str]) -> Any:
        """Two line-ups in words, more of them without their names."""
        names = list(dict.fromkeys(lineups))
        if len(names) > 2:
            return _text("many_players")
        return _say("players", list=Joined("and", [self.lineups[name] for name in names]))


def _answer(
    question: Question, verdict: list[Sentence], details: list[Sentence], evidence: pd.DataFrame
) -> Answer:
    said = {language: " ".join if language == "en" else "".join for language in TEXT}
    return Answer(
        question.kind,
        question.title,
        {language: join(_begun(part, language) for part in verdict) for language, join in said.items()},
        {language: [_begun(part, language) for part in details] for language in TEXT},
        evidence.reset_index(drop=True),
    )


def _begun(sentence: Sentence, language: str) -> str:
    """A sentence with a capital, which words such as a player's title do not have."""
    text = sentence.said(language)
    return text[:1].upper() + text[1:]


def _distinct(cases: pd.DataFrame) -> pd.DataFrame:
    """The cases with each set of rules once at each table, under the name that comes first."""
    return cases.drop_duplicates(["game", "toggles", "lineup", "seats"])


def _beside(
    cases: pd.DataFrame, metrics: pd.DataFrame, metric: str, key: str, names: Mapping[str, str]
) -> pd.DataFrame:
    """`cases` with columns of the row (metric, key) of the same case, renamed."""
    other = select(metrics, metric=metric, key=key)[CASE + list(names)].rename(columns=dict(names))
    return cases.merge(other, on=CASE, how="left", validate="one_to_one")


def _opening_class(question: Question, names: _Names, metrics: pd.DataFrame) -> Answer:
    metric, key = f"win_share_by_{question.partition}", f">={question.at_least}"
    cases = _distinct(select(metrics, metric=metric, key=key))
    par = dict(zip(INTERVAL, ("par", "par_low", "par_high"), strict=True))
    cases = _beside(cases, metrics, "win_share", "all", par)
    cases = _beside(cases, metrics, f"{metric}_p_value", key, {"estimate": "p"})
    cases["p_adjusted"] = stats.holm(cases["p"])
    cases["verdict"] = [_opening_verdict(row) for row in cases.itertuples()]
    columns = [*CASE[1:], "n", *INTERVAL, *par.values(), "p_adjusted", "verdict"]
    if cases.empty:
        return _answer(question, [_say("not_measured")], [], cases[columns])
    furthest = _extreme(cases, cases["estimate"] / cases["par"] - 1)
    extreme = _say(
        "opening_extreme",
        where=names.where(furthest),
        value=_percent(furthest.estimate, furthest.low, furthest.high),
        n=f"{furthest.n:,}",
        par=_percent(furthest.par, furthest.par_low, furthest.par_high),
    )
    return _answer(question, [*_headline(cases, names), extreme], _details(cases, names), cases[columns])


def _opening_verdict(row: Any) -> str:
    """The verdict of one case from its interval, par and adjusted p-value."""
    if row.p_adjusted < ALPHA and row.estimate < row.par:
        if row.high < row.par / 2:
            return "lost"
        return "slight_handicap" if row.low > (1 - RELEVANT) * row.par else "handicap"
    if row.p_adjusted < ALPHA:
        return "good_hand"
    return "no_handicap" if row.low > (1 - RELEVANT) * row.par else "unknown"


def _first_player(question: Question, names: _Names, metrics: pd.DataFrame) -> Answer:
    cases = _distinct(select(metrics, metric="first_player_advantage", key="all"))
    cases = _beside(cases, metrics, "win_share", "all", {"estimate": "par"})
    for key in ("p_value", "chi_square"):
        cases = _beside(cases, metrics, "position_omnibus", key, {"estimate": key})
    cases["p_adjusted"] = stats.holm(cases["p_value"])
    cases["verdict"] = [_first_verdict(row) for row in cases.itertuples()]
    evidence = cases[[*CASE[1:], "n", *INTERVAL, "chi_square", "p_adjusted", "verdict"]]
    if cases.empty:
        return _answer(question, [_say("not_measured")], [], evidence)
    largest = _extreme(cases, cases["estimate"])
    value = _points(largest.estimate, largest.low, largest.high)
    extreme = _say("first_extreme", where=names.where(largest), value=value, n=f"{largest.n:,}")
    return _answer(question, [*_headline(cases, names), extreme], _details(cases, names), evidence)


def _first_verdict(row: Any) -> str:
    """The verdict of one case from the interval of the first player's advantage and the adjusted omnibus p-value."""
    relevant = RELEVANT * row.par
    small = -relevant < row.low and row.high < relevant
    if row.p_adjusted < ALPHA and row.low > 0:
        return "first_gains_slightly" if small else "first_gains"
    if row.p_adjusted < ALPHA and row.high < 0:
        return "first_loses_slightly" if small else "first_loses"
    if row.p_adjusted < ALPHA:
        return "others_differ"
    return "first_even" if small else "unknown"


def _extreme(cases: pd.DataFrame, size: pd.Series) -> Any:
    """The case with the largest size, up or down, of those the data say something about (if any)."""
    known = (cases["verdict"] != "unknown").to_numpy()
    candidates = cases[known] if known.any() else cases
    return next(candidates.loc[[size[candidates.index].abs().idxmax()]].itertuples())


def _headline(cases: pd.DataFrame, names: _Names) -> list[Sentence]:
    """What holds by the current rules of each game, how many cases of all have which verdict, and whether the line-ups
    disagree."""
    current = [part for _, part in select(cases, toggles=CURRENT).groupby("game", sort=False)]
    if len(current) == 1 and len(current[0]) == len(cases):
        current = []  # there is nothing else to tell it from
    sentences = [
        _counted("current", part, ruleset=names.ruleset(part["ruleset"].iloc[0])) for part in current
    ]
    sentences.append(_counted("rulesets" if current else "cases", cases))
    differing = _disagreements(cases)
    if not differing.empty:
        total, players = len(cases[["ruleset", "seats"]].drop_duplicates()), names.players(cases["lineup"])
        sentences.append(_say("disagree_short", players=players, n=len(differing), total=total))
    return sentences


def _counted(text: str, cases: pd.DataFrame, **parts: Any) -> Sentence:
    """How many of some cases have which verdict, in the sentence of this name."""
    found = cases["verdict"].value_counts()
    counts = {verdict: int(found[verdict]) for verdict in VERDICTS if verdict in found}
    parts |= {"total": len(cases)}
    if set(counts) == {"unknown"}:
        return _say(f"{text}_unknown", **parts)
    leads = {LEADS[verdict] for verdict in counts if verdict in LEADS}
    parts |= {"lead": _text(leads.pop() if len(leads) == 1 else "depends")}
    if len(counts) == 1:
        return _say(f"{text}_all", verdict=VERDICTS[next(iter(counts))], **parts)
    each = [_say("count", verdict=VERDICTS[verdict], n=n) for verdict, n in counts.items()]
    return _say(f"{text}_some", list=each, **parts)


def _details(cases: pd.DataFrame, names: _Names) -> list[Sentence]:
    """Per line-up and verdict the rulesets and seats it holds for, then where line-ups disagree."""
    lines = []
    for lineup in cases["lineup"].drop_duplicates():
        for verdict, words in VERDICTS.items():
            rows = select(cases, lineup=lineup, verdict=verdict)
            if not rows.empty:
                head = _say("by_players", lineup=names.lineups[lineup], verdict=words)
                lines.append(_say("listed", head=head, list=_rulesets_and_seats(rows, names)))
    differing = _disagreements(cases)
    if not differing.empty:
        head = _say("disagree", players=names.players(cases["lineup"]))
        lines.append(_say("listed", head=head, list=_rulesets_and_seats(differing, names)))
    return lines


def _rulesets_and_seats(rows: pd.DataFrame, names: _Names) -> Joined:
    """The rulesets of some cases, those with the same numbers of seats together."""
    together: dict[tuple[int, ...], list[str]] = {}
    for ruleset, part in rows.groupby("ruleset", sort=False):
        seats = tuple(sorted(part["seats"].unique().tolist()))
        together.setdefault(seats, []).append(names.ruleset(str(ruleset)))
    return Joined(
        "semicolon", [_say("seats", list=known, seats=list(seats)) for seats, known in together.items()]
    )


def _disagreements(cases: pd.DataFrame) -> pd.DataFrame:
    """The rulesets and seats whose line-ups' verdicts point different ways."""
    stance = cases.assign(stance=cases["verdict"].map(STANCE))
    ways = stance.groupby(["ruleset", "seats"], sort=False)["stance"].nunique()
    return ways[ways > 1].reset_index()[["ruleset", "seats"]]


def _change(question: Question, names: _Names, metrics: pd.DataFrame, contrasts: pd.DataFrame) -> Answer:
    rows = select(contrasts, a=question.a, b=question.b)
    rows = rows.drop_duplicates(["lineup", "seats", "metric", "key"])
    rows = rows.assign(effect=_effects(rows, metrics))
    rows = rows.assign(verdict=_relevant_verdicts(rows))
    columns = ["lineup", "seats", "metric", "key", "n", *INTERVAL, "effect", "p_adjusted", "verdict"]
    if rows.empty:
        return _answer(question, [_say("not_compared")], [], rows[columns])
    sizes = rows["effect"].abs().fillna(0.0).where(rows["verdict"].isin([HIGHER, LOWER]), 0.0)
    rows = rows.assign(size=sizes, largest=sizes.groupby([rows["metric"], rows["key"]]).transform("max"))
    rows = rows.sort_values("largest", ascending=False, kind="stable")
    changes = _changes(rows)
    told = [kind for kind in ("higher", "lower", "mixed") if changes[kind]]
    verdict = []
    if not told and changes["slight"]:
        told = ["slight"]
        verdict.append(_say("none_relevant"))
    verdict += [_say("listed", head=_text(kind), list=_shortened(changes[kind])) for kind in told]
    details = [
        _say("listed", head=_text(kind), list=Joined("semicolon", named))
        for kind, named in changes.items()
        if named
    ]
    opposite = _opposite(rows)
    if opposite:
        verdict.append(
            _say("opposite", players=names.players(rows["lineup"]), list=Joined("semicolon", opposite))
        )
    shown = rows[(rows["largest"] > 0) | (rows["metric"] == "outcome")]
    return _answer(question, verdict or [_say("nothing")], [*details, *_tables(rows, names)], shown[columns])


def _text(key: str) -> Words:
    return {language: TEXT[language][key] for language in TEXT}


def _shortened(named: list[Any]) -> Any:
    first = Joined("semicolon", named[:MOST_NAMED])
    return _say("more", list=first, n=len(named) - MOST_NAMED) if len(named) > MOST_NAMED else first


def _effects(rows: pd.DataFrame, metrics: pd.DataFrame) -> np.ndarray:
    """Each difference over the standard deviation between games (both rulesets pooled): infinite where games do not
    vary but the rulesets differ, NaN where the deviation is unknown.

    The deviation comes back out of the mean's interval, whose half width is a quantile times deviation / sqrt(n).
    """
    where = ["lineup", "seats", "metric", "key"]
    variance = np.zeros(len(rows))
    for column in ("a", "b"):
        mine = metrics.loc[metrics["ruleset"].isin(rows[column]), [*where, "n", "low", "high"]]
        beside = rows[where].merge(mine, on=where, how="left", validate="one_to_one")
        half = (beside["high"] - beside["low"]).to_numpy(dtype=np.float64) / 2
        variance += half**2 * beside["n"].to_numpy(dtype=np.float64) / stats.normal_quantile() ** 2 / 2
    estimates = rows["estimate"].to_numpy(dtype=np.float64)
    effects: np.ndarray = np.where(estimates == 0, 0.0, np.copysign(np.inf, estimates))
    np.divide(estimates, np.sqrt(variance), out=effects, where=variance != 0)
    return effects


def _relevant_verdicts(rows: pd.DataFrame) -> pd.Series:
    """The verdicts, clear differences that are not relevant called slight."""
    return rows["verdict"].mask(rows["effect"].abs() < RELEVANT, rows["verdict"].replace(SLIGHTLY))


def _changes(rows: pd.DataFrame) -> dict[str, list[Any]]:
    """Names of what is compared by how it changes over the tables; the largest effects first."""
    changes: dict[str, list[Any]] = {
        kind: [] for kind in ("higher", "lower", "mixed", "slight", "unclear", "identical")
    }
    for _, part in rows.groupby(["game", "metric", "key"], sort=False):
        name, verdicts = _named(part.iloc[0]), part["verdict"]
        relevant = verdicts[verdicts.isin([HIGHER, LOWER])]
        clear = verdicts[verdicts.isin(SLIGHTLY.values())] if relevant.empty else relevant
        if clear.empty:
            changes["identical" if (verdicts == IDENTICAL).all() else "unclear"].append(name)
            continue
        kind = (
            "mixed"
            if relevant.nunique() == 2
            else "higher"
            if relevant.iloc[:1].eq(HIGHER).any()
            else "lower"
        )
        partly = kind != "mixed" and len(clear) < len(part)
        named = _say("some_tables", name=name, n=len(clear), total=len(part)) if partly else name
        changes["slight" if relevant.empty else kind].append(named)
    return changes


def _opposite(rows: pd.DataFrame) -> list[Words]:
    """Names of what one line-up raises and another lowers with the same number of seats."""
    clear = rows[rows["verdict"].isin([HIGHER, LOWER])]
    ways = clear.groupby(["game", "metric", "key", "seats"], sort=False)["verdict"].nunique()
    found = ways[ways > 1].reset_index().drop_duplicates(["game", "metric", "key"])
    return [_named(row) for row in found.itertuples()]


def _tables(rows: pd.DataFrame, names: _Names) -> list[Sentence]:
    """Per line-up and seats the largest changes with their intervals."""
    lines = []
    for (lineup, seats), part in rows.groupby(["lineup", "seats"], sort=False):
        largest = part[part["size"] > 0].sort_values("size", ascending=False, kind="stable").head(MOST_NAMED)
        head = _say("table", lineup=names.lineups[str(lineup)], seats=seats)
        slight = part["verdict"].isin(SLIGHTLY.values()).any()
        rest = _text("slight_only") if slight else VERDICTS[UNCLEAR]
        changed = [_size(row) for row in largest.itertuples()]
        lines.append(_say("listed", head=head, list=Joined("semicolon", changed or [rest])))
    return lines


def _size(row: Any) -> Joined:
    share = row.metric in ("win_share", "outcome")
    value = (_points if share else _number)(row.estimate, row.low, row.high)
    return Joined("space", [_named(row), value])


def _named(row: Any) -> Words:
    return metric_words(games()[row.game], row.metric, row.key)


def _percent(value: float, low: float, high: float) -> Sentence:
    return _say("percent", value=f"{100 * value:.1f}", low=f"{100 * low:.1f}", high=f"{100 * high:.1f}")


def _points(value: float, low: float, high: float) -> Sentence:
    return _say("points", value=f"{100 * value:+.2f}", low=f"{100 * low:+.2f}", high=f"{100 * high:+.2f}")


def _number(value: float, low: float, high: float) -> Sentence:
    """The interval's half width with two digits, the rest to the same place."""
    places = max(0, 1 - math.floor(math.log10((high - low) / 2))) if high > low else 2
    return _say(
        "number", **{name: f"{x:+.{places}f}" for name, x in (("value", value), ("low", low), ("high", high))}
    )
