"""The game protocol: what the engine asks of a game's rules, dispatched on the type of `rules`.

Each function below is implemented under its own name in every game's module. Jitted code is bound to the game at
compile time through the type of its `Rules` NamedTuple: no function pointers, no generated code. With
NUMBA_DISABLE_JIT=1 the plain functions here look the game up when they are called.
"""

from __future__ import annotations

from numba import types
from numba.extending import intrinsic, overload

from sim.games import game_of
from sim.jit import JIT, OPTIONS, OUTLINED


def deal(rules, deck, number, loser, state, rng):
    """Deal the shuffled `deck` (uint8 card bits, front first) of deal `number` into `state`.

    What rotates from deal to deal is `number` mod N. In a match `loser` is the seat that lost the round before, and the
    number grows with the rounds; in a first round nobody has lost yet, and it is -1.
    """
    return game_of(type(rules)).module.deal(rules, deck, number, loser, state, rng)


def begin(rules, state, rng, log):
    """Start the first turn of a dealt (or given) position, up to its first decision."""
    return game_of(type(rules)).module.begin(rules, state, rng, log)


def mover(rules, state):
    """The seat that decides."""
    return game_of(type(rules)).module.mover(rules, state)


def moves(rules, state, out):
    """Write every legal move at this decision into `out` (int64) and return their number."""
    return game_of(type(rules)).module.moves(rules, state, out)


def pick(rules, state, rng, stream, out):
    """(move, number of legal moves): the move that a uniform index into `moves` gives, not listing them if it can."""
    return game_of(type(rules)).module.pick(rules, state, rng, stream, out)


def apply(rules, state, move, rng, log):
    """Make the move and all that follows, chance included, up to the next decision or the end."""
    return game_of(type(rules)).module.apply(rules, state, move, rng, log)


def is_over(rules, state):
    """Whether the game has ended."""
    return game_of(type(rules)).module.is_over(rules, state)


def outcome(rules, state, row):
    """Write the result into `row`: outcome, places, shares, scores, per-seat figures and the game's own counters."""
    return game_of(type(rules)).module.outcome(rules, state, row)


def standing(rules, state, seat):
    """How far a seat is from winning: smaller is better."""
    return game_of(type(rules)).module.standing(rules, state, seat)


def features(rules, state, move, x):
    """Note in `x` (see sim.features) what the mover may know of a move, from its information state alone."""
    return game_of(type(rules)).module.features(rules, state, move, x)


def opening(rules, state, seat, classes):
    """The card set a seat was dealt; its class index in each of the game's partitions goes into `classes` (int64)."""
    return game_of(type(rules)).module.opening(rules, state, seat, classes)


def cost(rules, state, move):
    """The number shown beside a legal move of the main decision: a gap, a total."""
    return game_of(type(rules)).module.cost(rules, state, move)


def forget(rules, state, memory):
    """Start the memory record of a dealt (or given) position: every seat has seen its own hand and what lies open."""
    return game_of(type(rules)).module.forget(rules, state, memory)


def remember(rules, memory, event, a, b, c, d):
    """Fold an event (see sim.events) into the memory: what each seat has seen of it, and what it proves to all."""
    return game_of(type(rules)).module.remember(rules, memory, event, a, b, c, d)


def resample(rules, state, memory, seat, rng, stream):
    """Deal anew in `state`, a copy, all that the seat at its decision cannot see: a random full state, distributed as
    it is given everything that the seat has seen, uniform over the deals and chance events which agree with it.
    """
    return game_of(type(rules)).module.resample(rules, state, memory, seat, rng, stream)


def reveal(rules, state, memory, seat):
    """Put what `memory` shares out (see sim.knowledge) into the places of `state` that the seat cannot see."""
    return game_of(type(rules)).module.reveal(rules, state, memory, seat)


def recall(rules, state, memory, k):
    """Put back what a seat knew of `state` at its choice k, the later ones being put back already; returns its move.

    For games that note choices; `state` is a sample, of which afterwards only `moves` and `features` are asked.
    """
    return game_of(type(rules)).module.recall(rules, state, memory, k)


def gains_alone(rules):
    """Whether a move makes nobody's standing worse, and only the mover's better. A game that leaves it out says no."""
    return getattr(game_of(type(rules)).module, "gains_alone", _never)(rules)


def _never(rules):
    return False


PLAYING = (deal, begin, mover, moves, pick, apply, is_over, outcome, standing, features, opening, cost)
KNOWING = (forget, remember, resample)
"""Only search players need these, and they stay calls of their own: an event is emitted in many places."""

BELIEVING = (reveal, recall)
"""Games may have these."""


def _bind(functions, options):
    def bind(function):
        def typed(rules, *_):
            return getattr(game_of(rules.instance_class).module, function.__name__).py_func

        overload(function, jit_options=options, strict=False)(typed)

    for function in functions:
        bind(function)


@overload(gains_alone, jit_options=OPTIONS)
def _gains_alone(rules):
    found = getattr(game_of(rules.instance_class).module, "gains_alone", None)
    return found.py_func if found else _never


if JIT:
    _bind((*PLAYING, *BELIEVING), OPTIONS)
    _bind(KNOWING, OUTLINED)


# --- A copy of a kernel for the usual rules ---------------------------------------------------------------------------


def _usual_fields(rules):
    """(index, value) of the fields that are constants under the usual rules of the game with this `Rules` type."""
    return [(rules.fields.index(name), value) for name, value in game_of(rules.instance_class).usual.items()]


@intrinsic
def _is_usual(typingctx, rules):
    def generate(context, builder, signature, args):
        differing = context.get_constant(types.int64, 0)
        for at, value in _usual_fields(rules):
            field = builder.extract_value(args[0], at)
            differing = builder.or_(differing, builder.xor(field, context.get_constant(types.int64, value)))
        return builder.icmp_signed("==", differing, context.get_constant(types.int64, 0))

    return types.boolean(rules), generate


@intrinsic
def _as_usual(typingctx, rules):
    def generate(context, builder, signature, args):
        result = args[0]
        for at, value in _usual_fields(rules):
            result = builder.insert_value(result, context.get_constant(types.int64, value), at)
        return result

    return rules(rules), generate


def specialised(play, lineup_class):
    """`play(rules, lineup, ...)` with a copy for line-ups of a class under the game's usual rules, if it names any.

    To the compiler these rules are constants there: it unrolls the loops over the seats and drops what cannot happen.
    """

    def either(rules, lineup, *rest):
        play(rules, lineup, *rest)

    def twice(rules, lineup, *rest):
        if _is_usual(rules):
            play(_as_usual(rules), lineup, *rest)
        else:
            play(rules, lineup, *rest)

    @overload(either, jit_options=OPTIONS)
    def _either(rules, lineup, *rest):
        has_copy = game_of(rules.instance_class).usual and lineup.instance_class is lineup_class
        return twice if has_copy else either

    return either
