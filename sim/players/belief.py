"""Belief: samples of what a seat cannot see, weighed by what the choices of the others tell.

`resample` deals the hidden cards so that all deals which agree with what was seen are equally likely. A seat that knows
how the others play can tell more, for few hands make a player choose as he did. Each other seat is taken to be one of
the given players, all equally likely, who makes with probability `NOISE` any legal move instead of his own; a deal is
then as likely as the choices seen are under it. Samples of that posterior come from a Markov chain of exchanges of two
hidden cards (Metropolis), which starts at a uniform deal. A game takes part if it can take choices back (`recall`).
"""

from __future__ import annotations

import math

from numba.extending import overload

from sim.features import Weighing
from sim.games import game_of
from sim.jit import OPTIONS, helper, outlined
from sim.knowledge import exchange, list_cards
from sim.players.basic import PAIRED, RANDOM, best_moves
from sim.protocol import moves, recall, resample, reveal
from sim.rng import DEAL, below

NOISE = 0.1
"""How often a player is taken to make any legal move: nobody plays just like a given player."""

BURN_IN, THINNING = 24, 3
"""Sweeps of the chain (a step per hidden card) before the first sample, and from one to the next."""

RESOLUTION = 1 << 30
"""Of the uniform number by which a step is accepted."""


@helper
def _log_chance(rules, state, search, row, move):
    """The logarithm of the chance that the player of a row makes this move."""
    n = moves(rules, state, search.out)
    lineup = search.basic
    chance = 1.0 / n
    if n > 1 and lineup.kind[row] != RANDOM:
        x = Weighing(lineup.weights[row, state.phase], search.total, lineup.kind[row] == PAIRED)
        ties = best_moves(rules, state, x, search.out, search.tied, n)
        chance *= NOISE
        for i in range(ties):
            chance += (1 - NOISE) / ties * (search.tied[i] == move)
    return math.log(chance)


@helper
def _log_likelihood_of_seat(rules, search, memory, seat, other, sample):
    """The logarithm of the chance that `other` makes the choices seen; each of the players it may be is as likely."""
    total = -math.inf
    models = search.models[seat]
    for m in range(models):
        search.states[0] = search.states[sample]
        state = search.states[0]
        chance = 0.0
        for k in range(memory.choices - 1, -1, -1):
            if memory.chooser[k] == other:
                move = recall(rules, state, memory, k)
                chance += _log_chance(rules, state, search, search.model[seat, m], move)
        larger = max(total, chance)
        total = larger + math.log(math.exp(total - larger) + math.exp(chance - larger))
    return total - math.log(models)


@outlined
def _log_likelihood(rules, search, memory, seat, sample, least):
    """The logarithm of the chance that all others make the choices seen, or anything below `least` if it is below."""
    total = 0.0
    for other in range(rules.seats):
        if other != seat and total >= least:
            total += _log_likelihood_of_seat(rules, search, memory, seat, other, sample)
    return total


@helper
def _walk(rules, search, memory, seat, sample, cards, steps):
    """Steps of the chain in a sample, of which `cards` cards are hidden."""
    state = search.states[sample]
    for _ in range(steps):
        a = below(search.rng, DEAL, cards)
        b = below(search.rng, DEAL, cards)
        if not exchange(memory, a, b):
            continue
        reveal(rules, state, memory, seat)
        drawn = (below(search.rng, DEAL, RESOLUTION) + 1) / RESOLUTION
        least = search.likelihood[0] + math.log(drawn)
        likelihood = _log_likelihood(rules, search, memory, seat, sample, least)
        if likelihood >= least:
            search.likelihood[0] = likelihood
        else:
            exchange(memory, a, b)
            reveal(rules, state, memory, seat)


@outlined
def _sample_belief(rules, state, seat, search, number):
    memory = search.memory[0]
    if number > 1 and search.models[seat]:
        search.states[number] = search.states[number - 1]
        cards = search.hidden[0]
        _walk(rules, search, memory, seat, number, cards, THINNING * cards)
        return
    search.states[number] = state
    resample(rules, search.states[number], memory, seat, search.rng, DEAL)
    if search.models[seat]:
        cards = list_cards(memory)
        search.hidden[0] = cards
        search.likelihood[0] = _log_likelihood(rules, search, memory, seat, number, -math.inf)
        _walk(rules, search, memory, seat, number, cards, BURN_IN * cards)


@helper
def _sample_uniform(rules, state, seat, search, number):
    search.states[number] = state
    resample(rules, search.states[number], search.memory[0], seat, search.rng, DEAL)


def sample(rules, state, seat, search, number):
    """Put a sampled state of what the seat sees of `state` into `search.states[number]`; numbers count from 1."""
    _sampler(type(rules))(rules, state, seat, search, number)


def _sampler(rules_class):
    return _sample_belief if hasattr(game_of(rules_class).module, "recall") else _sample_uniform


@overload(sample, jit_options=OPTIONS, strict=False)
def _sample(rules, state, seat, search, number):
    sampler = _sampler(rules.instance_class)
    return lambda rules, state, seat, search, number: sampler(rules, state, seat, search, number)
