"""The event stream of a game as a game log (JSON objects), and as text in English and Traditional Chinese."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from sim import events as ev
from sim.cards import SUITS, SYMBOLS, card_name, card_names, card_text
from sim.engine import Table
from sim.games import OUTCOMES, Game, game

if TYPE_CHECKING:
    from sim.config import Player, Ruleset

FORMAT = 1

Event = dict[str, Any]


def replay(ruleset: Ruleset, lineup: tuple[Player, ...], seed: int, number: int) -> list[Event]:
    """The game log of deal `number` of a seed (DESIGN, Game log): one object an event.

    In a match a `round` line closes every round: it tells what the `end` line tells of a single game, which here tells
    it of the match.
    """
    played = game(ruleset.game)
    table = Table(played, played.rules(ruleset.toggles, len(lineup)), lineup, seed)
    table.deal(number)
    log = [_header(ruleset, lineup, seed, number), *_play(played, table)]
    if ruleset.rounds == 1:
        return [*log, end_event(table)]
    log.append(_round_event(table))
    while table.rounds < ruleset.rounds:
        table.deal_next()
        log += [*_play(played, table), _round_event(table)]
    return [*log, {"type": "end", **_ending(table.match_result(), len(lineup))}]


def _play(played: Game, table: Table) -> list[Event]:
    """Play what was dealt to its end: its log lines."""
    dealt = deal_event(played, table)
    over = table.begin()
    while not over:
        over = table.make(table.choose())
    return [dealt, *decode(played, table.events())]


def _header(ruleset: Ruleset, lineup: tuple[Player, ...], seed: int, number: int) -> Event:
    return {
        "type": "game",
        "format": FORMAT,
        "game": ruleset.game,
        "version": ruleset.version,
        **({"rounds": ruleset.rounds} if ruleset.rounds > 1 else {}),
        "toggles": ruleset.resolved(),
        "players": [player.name for player in lineup],
        "seats": len(lineup),
        "seed": seed,
        "index": number,
    }


def deal_event(played: Game, table: Table) -> Event:
    """The `deal` line of a dealt game."""
    position = played.module.to_position(table.rules, table.state)
    return {
        "type": "deal",
        "hands": position["hands"],
        "stock": position.get("stock", []),
        "first": int(table.state.first),
        **{key: position[key] for key in ("number", "direction") if "number" in position},
    }


def end_event(table: Table) -> Event:
    """The `end` line of a finished game."""
    return {"type": "end", **_ending(table.result(), table.rules.seats)}


def _round_event(table: Table) -> Event:
    """The `round` line of a match's finished round."""
    row = table.end_round()
    return {"type": "round", "round": table.rounds, **_ending(row, table.rules.seats)}


def _ending(row: Any, seats: int) -> Event:
    """What a row tells of the end: outcome, winners or losers, places, scores and turns."""
    outcome = OUTCOMES[int(row.outcome)]
    share = [int(row.share[p]) for p in range(seats)]
    return {
        "outcome": outcome,
        "winners": [p for p in range(seats) if share[p] > 0] if outcome != "loser_found" else [],
        "losers": [p for p in range(seats) if share[p] == 0] if outcome == "loser_found" else [],
        "places": [int(row.place[p]) for p in range(seats)],
        "scores": [int(row.score[p]) for p in range(seats)],
        "turns": int(row.turns),
    }


def move_value(played: Game, phase: int, move: int) -> Any:
    """A move as the log writes it: a card list in the main phase, else a card, seat, rank or word."""
    if phase == 0:
        return _play_names(played)(move)
    kind = played.choices[played.phases[phase]]
    if isinstance(kind, tuple):
        return kind[move]
    return card_name(move) if kind == "card" else move


def _play_names(played: Game) -> Callable[[int], list[str]]:
    """How a play is written: its card set, unless the game has a `card_list` of its own because cards repeat."""
    names: Callable[[int], list[str]] = getattr(played.module, "card_list", card_names)
    return names


def decode(played: Game, rows: np.ndarray) -> Iterator[Event]:
    """The log lines of recorded event rows (int64, shape (n, 5))."""
    at = 0
    while at < len(rows):
        code, a, b, c, d = (int(value) for value in rows[at])
        at += 1
        if code in (ev.DRAW, ev.PUT):
            cards = [card_name(b)]
            while at < len(rows) and rows[at].tolist() == [code, a, rows[at, 2], c, 0]:
                cards.append(card_name(rows[at, 2]))
                at += 1
            yield _moved(code, a, cards, c)
            continue
        extra: list[tuple[int, int]] = []
        while at < len(rows) and rows[at, 0] in (ev.MOVE, ev.OPTION, ev.CARD, ev.FLIP, ev.HAND, ev.TIME):
            extra.append(_detail(*rows[at, :3].tolist()))
            at += 1
        yield _event(played, code, (a, b, c, d), extra)


def _detail(code: int, a: int, b: int) -> tuple[int, int]:
    """(code, value) of a row that continues an event; (seat, milliseconds) of a slap's time."""
    return (a, b) if code == ev.TIME else (code, a)


def _moved(code: int, seat: int, cards: list[str], word: int) -> Event:
    if code == ev.DRAW:
        return {"type": "draw", "seat": seat, "cards": cards, "reason": ev.word(word)}
    return {"type": "put", "seat": seat, "cards": cards, "where": ev.word(word)}


def _event(played: Game, code: int, values: tuple[int, int, int, int], extra: list[tuple[int, int]]) -> Event:
    a, b, c, d = values
    match code:
        case ev.TURN:
            return {
                "type": "turn",
                "turn": a,
                "seat": b,
                "legal": [_play_names(played)(move) for _, move in extra],
            }
        case ev.PLAY:
            return {"type": "play", "seat": a, "cards": _play_names(played)(b), "gap": c}
        case ev.CHOOSE:
            value, legal = move_value(played, b, c), [move_value(played, b, move) for _, move in extra]
            return {"type": "choose", "seat": a, "what": played.phases[b], "value": value, "legal": legal}
        case ev.SHUFFLE:
            return {"type": "shuffle", "stock": [card_name(card) for _, card in extra]}
        case ev.LOCK:
            return {"type": "lock", "suit": SUITS[a], "seat": b} | ({"kind": "tax"} if c else {})
        case ev.UNLOCK:
            return {"type": "unlock", "suit": SUITS[a], "reason": ev.word(b)}
        case ev.BAN:
            return {"type": "ban", "rank": a, "seat": b, "card": card_name(c)}
        case ev.UNBAN:
            return {"type": "unban", "rank": a, "seat": b, "card": card_name(c), "reason": ev.word(d)}
        case ev.RECALL:
            return {"type": "recall", "card": card_name(a), "to": b}
        case ev.COMPLETE:
            return {"type": "complete", "suit": SUITS[a]}
        case ev.REDEAL:
            return _redeal(a, extra)
        case ev.ELIMINATE:
            return {"type": "eliminate", "seat": a, "reason": ev.word(b)}
        case ev.PASS:
            return {"type": "pass", "seat": a}
        case ev.FINISH:
            return {"type": "finish", "seat": a}
        case ev.LOSE:
            return {"type": "lose", "seat": a}
        case ev.SLAP:
            return {
                "type": "slap",
                "times": {str(seat): ms for seat, ms in extra},
                "taker": a if a >= 0 else None,
            }
    raise ValueError(f"unknown event code {code}")


def _redeal(kind: int, extra: list[tuple[int, int]]) -> Event:
    return {
        "type": "redeal",
        "kind": ev.word(kind),
        "hands": [card_names(hand) for code, hand in extra if code == ev.HAND],
        "flips": [card_name(card) for code, card in extra if code == ev.FLIP],
        "stock": [card_name(card) for code, card in extra if code == ev.CARD],
    }


LANGUAGES = ("en", "zh-Hant")

_TEXT: dict[str, tuple[str, str]] = {
    "game": (
        "{game} {version}, {seats} seats ({players}), seed {seed}, deal {index}",
        "{game} {version}，{seats} 人（{players}），種子 {seed}，第 {index} 局",
    ),
    "match": ("Match of {rounds} rounds, each dealt anew", "共 {rounds} 輪，每輪重新發牌"),
    "hand": ("  seat {seat}: {cards}", "  玩家 {seat}：{cards}"),
    "stock": ("  stock, top first: {cards}", "  牌庫（由頂端起）：{cards}"),
    "number": ("  start number {number}, going {way}", "  起始數字 {number}，{way}"),
    "up": ("up", "往上"),
    "down": ("down", "往下"),
    "turn": ("Turn {turn}, seat {seat} ({n} legal {moves})", "第 {turn} 回合，玩家 {seat}（{n} 種出法）"),
    "play": ("  plays {cards}", "  出 {cards}"),
    "gap": (", gap {gap}", "，差 {gap}"),
    "choose": ("  chooses {value} ({what}, one of {n})", "  選擇 {value}（{what}，{n} 選 1）"),
    "draw": ("  seat {seat} draws {cards} ({reason})", "  玩家 {seat} 抽 {cards}（{reason}）"),
    "put": ("  seat {seat} puts {cards}: {where}", "  玩家 {seat} 放 {cards}：{where}"),
    "shuffle": ("  the stock is shuffled ({n} {cards})", "  牌庫洗牌（{n} 張）"),
    "lock": ("  seat {seat} {kind} {suit}", "  玩家 {seat} {kind} {suit}"),
    "unlock": ("  {suit} is free again ({reason})", "  {suit} 解除（{reason}）"),
    "ban": ("  seat {seat} bans rank {rank} ({card})", "  玩家 {seat} 禁止數字 {rank}（{card}）"),
    "unban": ("  rank {rank} is free again ({reason})", "  數字 {rank} 解禁（{reason}）"),
    "recall": ("  {card} goes back to seat {to}", "  {card} 回到玩家 {to} 手中"),
    "complete": ("  {suit} is complete", "  {suit} 完成"),
    "redeal": ("  {kind}: hands are dealt anew; {flips}", "  {kind}：重新發牌；{flips}"),
    "flips": ("turned up: {cards}", "翻開：{cards}"),
    "no_flips": ("no card is shown", "沒有翻牌"),
    "eliminate": ("  seat {seat} is eliminated ({reason})", "  玩家 {seat} 被淘汰（{reason}）"),
    "pass": ("  seat {seat} passes", "  玩家 {seat} 略過"),
    "finish": ("  seat {seat} has no cards left", "  玩家 {seat} 出完手牌"),
    "lose": ("  seat {seat} loses", "  玩家 {seat} 落敗"),
    "slap": ("  slaps (ms): {times}; taken by {taker}", "  拍牌（毫秒）：{times}；收牌者 {taker}"),
    "round": (
        "End of round {round}: {outcome}; winners {winners}; losers {losers}; places {places}; {turns} {played}",
        "第 {round} 輪結束：{outcome}；勝者 {winners}；輸家 {losers}；名次 {places}；共 {turns} 回合",
    ),
    "end": (
        "End: {outcome}; winners {winners}; losers {losers}; places {places}; {turns} {played}",
        "終局：{outcome}；勝者 {winners}；輸家 {losers}；名次 {places}；共 {turns} 回合",
    ),
}
_WORDS: dict[str, tuple[str, str]] = {
    "gap": ("gap", "補缺"),
    "tax": ("taxed suit", "花色多抽"),
    "straight_hit": ("straight", "順子"),
    "stuck": ("no legal play", "無牌可出"),
    "pass": ("pass", "略過"),
    "exchange": ("set", "多條換牌"),
    "queen": ("Queen", "Q 換牌"),
    "jack": ("Jack", "J 找牌"),
    "stock_top": ("on top of the stock", "牌庫頂端"),
    "stock_shuffled": ("into the stock", "放回牌庫"),
    "table": ("on the table", "擺上桌面"),
    "removed": ("out of the game", "移出遊戲"),
    "exiled": ("out of the game", "除外"),
    "owner_played": ("its owner played it", "擁有者出牌"),
    "complete": ("suit complete", "花色完成"),
    "king_recalled": ("its King was recalled", "K 被回收"),
    "owner_eliminated": ("its owner is out", "擁有者淘汰"),
    "round_over": ("a round has passed", "一輪結束"),
    "joker": ("a Joker", "出 Joker"),
    "owner_finished": ("its owner has finished", "擁有者出完手牌"),
    "next_king": ("a new King", "新的 K"),
    "black_joker": ("black Joker", "黑 Joker"),
    "red_joker": ("red Joker", "紅 Joker"),
    "joker_pair": ("Joker pair", "Joker 對"),
    "limit": ("over the limit", "超過上限"),
    "joker_only": ("only a Joker left", "只剩一張 Joker"),
    "exchange_card": ("card to exchange", "要換的牌"),
    "queen_return": ("card to put on the stock", "蓋回牌庫的牌"),
    "jack_take": ("card to take from the stock", "從牌庫找的牌"),
    "ace_card": ("card to recall", "要回收的牌"),
    "ace_receiver": ("seat that takes it back", "收回的玩家"),
    "king_mode": ("lock or tax", "封鎖或多抽"),
    "king_rank": ("rank to ban", "禁止的數字"),
    "lock": ("locks", "封鎖"),
    "refill": ("refill", "補牌"),
    "borrow": ("borrowed", "借牌"),
    "opponent": ("from the neighbour", "抽鄰家"),
    "pile": ("takes the pile", "收走中央牌堆"),
    "covered": ("face down", "蓋牌"),
    "discard": ("on the discard pile", "棄牌堆"),
    "cover_card": ("card to cover", "要蓋的牌"),
    "partner": ("card beside the special one", "搭配的牌"),
    "free_card": ("card to play after covering", "蓋牌後打出的牌"),
    "lend_card": ("card to lend", "要借出的牌"),
    "sign": ("add or subtract", "加或減"),
    "target": ("seat that plays next", "指定的下一位"),
    "as": ("plain or special", "普通或特殊"),
    "plain": ("plain", "普通"),
    "special": ("special", "特殊"),
    "ace_value": ("value of the Ace", "A 的點數"),
    "joker_total": ("new total", "新的累計值"),
    "win": ("win", "獲勝"),
    "survivor": ("last seat in the game", "僅存者獲勝"),
    "loser_found": ("loser found", "產生輸家"),
    "drawn": ("drawn", "和局"),
    "stalled": ("stalled at the length guard", "超過回合上限"),
}
_TAXES = ("taxes", "多抽")


def to_text(events: Iterable[Event], language: str = "en") -> Iterator[str]:
    """A game log as lines for people, in a language of `LANGUAGES`.

    Gaps are told where any play has one: most games have none.
    """
    at = LANGUAGES.index(language)
    events = list(events)
    gaps = any(event.get("gap") for event in events)
    for event in events:
        if event["type"] == "deal":
            for seat, hand in enumerate(event["hands"]):
                yield _TEXT["hand"][at].format(seat=seat, cards=_cards(hand))
            if event["stock"]:
                yield _TEXT["stock"][at].format(cards=_cards(event["stock"]))
            if event.get("number"):
                way = _TEXT["up" if event["direction"] > 0 else "down"][at]
                yield _TEXT["number"][at].format(number=event["number"], way=way)
        elif event["type"] == "play" and gaps:
            yield (_TEXT["play"][at] + _TEXT["gap"][at]).format(**_filled(event, at))
        else:
            yield _TEXT[event["type"]][at].format(**_filled(event, at))
            if "rounds" in event:
                yield _TEXT["match"][at].format(**event)


def _filled(event: Event, at: int) -> Event:
    """The values of an event's template, in words."""
    words = {
        key: _WORDS[value][at] if value in _WORDS else value
        for key, value in event.items()
        if isinstance(value, str)
    }
    words |= {
        key: " ".join(str(item) for item in value) or "–"
        for key, value in event.items()
        if isinstance(value, list)
    }
    filled = event | words
    if "cards" in event:
        filled["cards"] = _cards(event["cards"])
    for key in ("card", "value"):
        if isinstance(event.get(key), str):
            filled[key] = _WORDS[event[key]][at] if event[key] in _WORDS else card_text(event[key])
    match event["type"]:
        case "turn" | "choose":
            filled["n"] = len(event["legal"])
            filled["moves"] = _plural(filled["n"], "move")
        case "shuffle":
            filled["n"] = len(event["stock"])
            filled["cards"] = _plural(filled["n"], "card")
        case "end" | "round":
            filled["played"] = _plural(event["turns"], "turn")
        case "lock":
            filled["kind"] = (_TAXES if event.get("kind") == "tax" else _WORDS["lock"])[at]
        case "slap":
            filled["times"] = ", ".join(f"{seat}: {ms}" for seat, ms in event["times"].items()) or "–"
            filled["taker"] = "–" if event["taker"] is None else event["taker"]
        case "redeal":
            key = "flips" if event["flips"] else "no_flips"
            filled["flips"] = _TEXT[key][at].format(cards=_cards(event["flips"]))
        case "game":
            filled["game"] = game(event["game"]).title[LANGUAGES[at]]
            filled["players"] = ", ".join(event["players"])
    if "suit" in event:
        filled["suit"] = SYMBOLS[event["suit"]]
    return filled


def _plural(n: int, noun: str) -> str:
    """The English noun for so many."""
    return noun if n == 1 else noun + "s"


def _cards(names: list[str]) -> str:
    return " ".join(card_text(name) for name in names) or "–"
