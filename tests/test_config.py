"""Configuration files: what they resolve to, and the exact message for everything that can be wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sim.games
from sim.config import (
    CONFIGS,
    ConfigError,
    check_file,
    check_seats,
    describe_game,
    json_schema,
    load_player,
    load_ruleset,
    presets,
)
from sim.config.document import MAX_BYTES, read_document
from sim.config.values import Choices
from tests.snap import Write, message, snap_project


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a file into an empty project that knows the tiny games."""
    return snap_project(tmp_path, monkeypatch)


# --- Rulesets ---------------------------------------------------------------------------------------------------------


def test_a_ruleset_inherits_key_by_key(write: Write) -> None:
    write("my/a.yaml", "extends: snap/v1\ntoggles: {limit: 8, reverse_on_ten: no}\n")
    write("my/b.yaml", "extends: a.yaml\ntitle: My own\ntoggles:\n  limit: none\n")
    ruleset = load_ruleset(Path("my/b.yaml"))
    assert ruleset.name == "snap/b"
    assert ruleset.seats == (2, 5)
    assert ruleset.title == {"en": "My own", "zh-Hant": "My own"}
    assert ruleset.resolved() == {
        "reverse_on_ten": False,
        "limit": None,
        "when": "turn_end",
        "passing": "no",
        "jokers": 2,
        "values": "v1.0",
        "wrap": False,
    }
    assert json.loads(json.dumps(ruleset.resolved())) == ruleset.resolved()
    assert load_ruleset("my/a.yaml").title == {"en": "Snap a", "zh-Hant": "搶 a"}


def test_names_of_rulesets(write: Write) -> None:
    assert load_ruleset("snap").name == load_ruleset("snap/default").name == "snap/default"
    assert load_ruleset("snap/v1").name == "snap/v1"
    changed = load_ruleset("snap/v1", {"limit": "none", "reverse_on_ten": "off", "values": "v1.0"})
    assert changed.name == "snap/v1+limit=none+reverse_on_ten=no"
    assert changed.title["zh-Hant"] == "搶 v1 (limit none, reverse_on_ten no)"
    assert load_ruleset("snap/v1", {"values": "v1.1"}).toggles == load_ruleset("snap").toggles


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True),
        ("on", True),
        ("true", True),
        ("Yes", True),
        ("no", False),
        ("off", False),
        ("False", False),
    ],
)
def test_two_valued_toggles(write: Write, text: str, value: bool) -> None:
    path = write("snap/x.yaml", f"toggles: {{reverse_on_ten: {text}}}\n")
    assert load_ruleset(path).resolved()["reverse_on_ten"] is value
    assert load_ruleset("snap", {"reverse_on_ten": text}).resolved()["reverse_on_ten"] is value


@pytest.mark.parametrize("text", ["none", "null", "~"])
def test_none(write: Write, text: str) -> None:
    assert load_ruleset(write("snap/x.yaml", f"toggles: {{limit: {text}}}\n")).resolved()["limit"] is None


def test_a_word_that_yaml_1_1_reads_otherwise(write: Write) -> None:
    path = write("snap/x.yaml", "toggles:\n  passing: no\n  limit: 010\n")
    assert load_ruleset(path).resolved()["passing"] == "no"
    assert load_ruleset(path).resolved()["limit"] == 10
    keys = read_document(write("y.yaml", "on: 1\nNO: 12:30\n1: 1e2\nx: 0x1F\nz: 'no'\nw: 1_000\n")).data
    assert keys == {"on": 1, "NO": "12:30", "1": 100.0, "x": 31, "z": "no", "w": "1_000"}


def test_the_digest_tells_rules_from_names(write: Write) -> None:
    write("configs/games/snap/same.yaml", "extends: default.yaml\n")
    assert load_ruleset("snap/same").digest(3) == load_ruleset("snap").digest(3)
    assert load_ruleset("snap").digest(3) != load_ruleset("snap").digest(4)
    assert load_ruleset("snap").digest(3) != load_ruleset("snap/v1").digest(3)
    assert load_ruleset("snap").digest(3) != load_ruleset("other").digest(3)


FILE_ERRORS = {
    "unknown key": (
        "toggles:\n  reverse_on_tne: yes\n",
        "2:3: toggles.reverse_on_tne: unknown key; did you mean 'reverse_on_ten'?",
    ),
    "unknown key, nothing near": (
        "toggles: {zzz: 1}\n",
        "1:11: toggles.zzz: unknown key; known: reverse_on_ten, limit, when, passing, jokers, values, wrap",
    ),
    "unknown key of the file": ("togles:\n  limit: 7\n", "1:1: togles: unknown key; did you mean 'toggles'?"),
    "wrong type": (
        "toggles:\n  limit: many\n",
        "2:3: toggles.limit: many is not allowed; allowed: 6..14, none",
    ),
    "a quoted number": (
        'toggles:\n  limit: "8"\n',
        '2:3: toggles.limit: "8" is not allowed; allowed: 6..14, none',
    ),
    "a fraction": (
        "toggles:\n  limit: 8.0\n",
        "2:3: toggles.limit: 8.0 is not allowed; allowed: 6..14, none",
    ),
    "a boolean": (
        "toggles:\n  limit: true\n",
        "2:3: toggles.limit: yes is not allowed; allowed: 6..14, none",
    ),
    "a list": (
        "toggles:\n  limit: [8, 9]\n",
        "2:3: toggles.limit: a list is not allowed; allowed: 6..14, none",
    ),
    "a mapping": (
        "toggles:\n  limit: {a: 1}\n",
        "2:3: toggles.limit: a mapping is not allowed; allowed: 6..14, none",
    ),
    "out of range": (
        "toggles:\n  limit: 99\n",
        "2:3: toggles.limit: 99 is not allowed; allowed: 6..14, none",
    ),
    "a number for a boolean": (
        "toggles: {reverse_on_ten: 1}\n",
        "1:11: toggles.reverse_on_ten: 1 is not allowed; allowed: yes, no",
    ),
    "a boolean for a number": (
        "toggles: {jokers: no}\n",
        "1:11: toggles.jokers: no is not allowed; allowed: 0, 2",
    ),
    "no such number": ("toggles: {jokers: 1}\n", "1:11: toggles.jokers: 1 is not allowed; allowed: 0, 2"),
    "no such word": (
        "toggles: {when: turn_edn}\n",
        "1:11: toggles.when: turn_edn is not allowed; allowed: at_once, turn_end; did you mean 'turn_end'?",
    ),
    "a version as a number": (
        "toggles: {values: 1.1}\n",
        "1:11: toggles.values: 1.1 is not allowed; allowed: v1.0, v1.1; did you mean 'v1.1'?",
    ),
    "none where it means nothing": (
        "toggles: {when: none}\n",
        "1:11: toggles.when: none is not allowed; allowed: at_once, turn_end",
    ),
    "a rule that is not built": (
        "toggles: {wrap: yes}\n",
        "1:11: toggles.wrap: yes is not allowed; allowed: no",
    ),
    "no value": ("toggles:\n  limit:\n", "2:3: toggles.limit: no value; give one or delete the key"),
    "toggles as a list": ("toggles: [limit]\n", "1:1: toggles: a list is not a mapping of keys to values"),
    "title as a number": ("title: 5\n", "1:1: title: 5 is not a mapping of keys to values"),
    "title in a language we lack": (
        "title: {fr: Bataille}\n",
        "1:9: title.fr: unknown key; known: en, zh-Hant",
    ),
    "duplicate key": (
        "toggles:\n  limit: 8\n  when: at_once\n  limit: 9\n",
        "4:3: toggles.limit: the same key twice; the first is on line 2",
    ),
    "tab": ("toggles:\n\tlimit: 8\n", "2:1: a tab; indent with spaces"),
    "tab behind a value": ("toggles:\n  limit: 8\t# eight\n", "2:11: a tab; indent with spaces"),
    "anchor": (
        "toggles: &a\n  limit: 8\n",
        "1:1: toggles: anchors and aliases (& and *) are not allowed; write the value out",
    ),
    "anchored key": (
        "&a toggles: {}\n",
        "1:1: anchors and aliases (& and *) are not allowed; write the value out",
    ),
    "alias": (
        "toggles: {limit: *a}\n",
        "1:11: toggles.limit: anchors and aliases (& and *) are not allowed; write the value out",
    ),
    "alias bomb": (
        "a: &a [x, x, x]\nb: &b [*a, *a, *a]\nc: &c [*b, *b, *b]\ntoggles: {limit: *c}\n",
        "1:1: a: anchors and aliases (& and *) are not allowed; write the value out",
    ),
    "tag": ("toggles: !!python/object/apply:os.system [ls]\n", "1:1: toggles: tags (!) are not allowed"),
    "a key that is a list": ("[a]: 1\n", "1:1: a key must be a word"),
    "an empty key": ("? \n: 8\n", "1:1: a key must be a word"),
    "a colon alone": (
        "toggles:\n  : 8\n",
        "2:3: not valid YAML: expected <block end>, but found ':' (while parsing a block mapping)",
    ),
    "two documents": ("toggles: {}\n---\ntoggles: {}\n", "2:1: a second document; one file holds one"),
    "no mapping": ("- limit\n", "1:1: a mapping of keys to values is expected"),
    "empty": ("# nothing\n", "1:1: the file is empty"),
    "no YAML": (
        "toggles: {limit: 8\n",
        "2:1: not valid YAML: expected ',' or '}', but got '<stream end>' (while parsing a flow mapping)",
    ),
    "bad indentation": (
        "toggles:\n  limit: 8\n when: at_once\n",
        "3:2: not valid YAML: expected <block end>, but found '<block mapping start>' (while parsing a block mapping)",
    ),
    "two colons": ("toggles: limit: 8\n", "1:15: not valid YAML: mapping values are not allowed here"),
    "NUL": ("toggles:\n  limit: 8\0\n", "2:11: character U+0000 is not text"),
    "escape": ("toggles:\n  lim\x1b[31mit: 8\n", "2:6: character U+001B is not text"),
    "deep": ("toggles: " + "[" * 100_000, "1:12: toggles[0][0]: nested more than 16 deep"),
    "no such file to extend": ("extends: v2.yaml\n", "1:1: extends: snap/v2.yaml: no such file"),
    "no such version to extend": (
        "extends: snap/v2\n",
        "1:1: extends: snap has no ruleset 'v2'; known: default, v1",
    ),
    "no such game to extend": (
        "extends: snip/v1\n",
        "1:1: extends: no game is called 'snip'; did you mean 'snap'?",
    ),
    "itself": ("extends: x.yaml\n", "1:1: extends: a circle: x.yaml -> x.yaml"),
    "another game": ("game: other\nextends: snap/v1\n", "1:1: game: other, but it extends a ruleset of snap"),
    "no such game": ("game: snip\n", "1:1: game: no game is called 'snip'; did you mean 'snap'?"),
}


@pytest.mark.parametrize("case", FILE_ERRORS)
def test_mistakes_in_a_ruleset_file(write: Write, case: str) -> None:
    text, expected = FILE_ERRORS[case]
    path = write("snap/x.yaml", text)
    assert message(load_ruleset, path) == f"snap/x.yaml:{expected}"


def test_the_fault_is_reported_in_the_file_that_holds_it(write: Write) -> None:
    write("snap/a.yaml", "# base\ntoggles:\n  limit: 99\n")
    path = write("snap/b.yaml", "extends: a.yaml\ntoggles: {limit: 8}\n")
    assert message(load_ruleset, path).startswith("snap/a.yaml:3:3: toggles.limit: 99 is not allowed")


def test_a_circle_of_files(write: Write) -> None:
    write("snap/a.yaml", "extends: c.yaml\n")
    write("snap/b.yaml", "extends: a.yaml\n")
    write("snap/c.yaml", "title: C\nextends: b.yaml\n")
    path = write("snap/d.yaml", "extends: c.yaml\n")
    assert (
        message(load_ruleset, path)
        == "snap/a.yaml:1:1: extends: a circle: c.yaml -> b.yaml -> a.yaml -> c.yaml"
    )


def test_the_game_of_a_file_elsewhere(write: Write) -> None:
    path = write("elsewhere/x.yaml", "toggles: {limit: 8}\n")
    expected = "elsewhere/x.yaml:1:1: which game? add `game: NAME` or `extends: GAME/VERSION`"
    assert message(load_ruleset, path) == expected
    assert load_ruleset(write("elsewhere/y.yaml", "game: snap\n")).name == "snap/y"


def test_missing_and_unreadable_files(write: Write, tmp_path: Path) -> None:
    assert message(load_ruleset, "nope.yaml") == "nope.yaml: no such file"
    write("my.yaml", "game: snap\n")
    assert message(load_ruleset, "myy.yaml") == "myy.yaml: no such file; did you mean 'my'?"
    assert message(load_ruleset, "snip") == "no game is called 'snip'; did you mean 'snap'?"
    assert message(load_ruleset, "snap/v2") == "snap has no ruleset 'v2'; known: default, v1"
    assert message(load_ruleset, "snap/../v1") == "snap has no ruleset '../v1'; known: default, v1"
    Path("folder.yaml").mkdir()
    assert message(load_ruleset, "folder.yaml") == "folder.yaml: not a file"
    Path("binary.yaml").write_bytes(b"\x80\x81\xfe\xff" * 100)
    assert message(load_ruleset, "binary.yaml") == "binary.yaml: not a text file in UTF-8"
    Path("big5.yaml").write_bytes("title: 牌接\n".encode("big5"))
    assert message(load_ruleset, "big5.yaml") == "big5.yaml: not a text file in UTF-8"
    write("large.yaml", "#" * (MAX_BYTES + 1))
    expected = "large.yaml: larger than 256 KiB, too large for a configuration file"
    assert message(load_ruleset, "large.yaml") == expected
    expected = "v1+x.yaml: a ruleset file's name is its version, which has no +"
    assert message(load_ruleset, write("v1+x.yaml", "game: snap\n")) == expected
    outside = tmp_path.parent / "outside.yaml"
    assert message(load_ruleset, outside) == f"{outside}: no such file"


def test_a_byte_order_mark_and_windows_line_ends_are_fine(write: Write) -> None:
    Path("x.yaml").write_bytes(b"\xef\xbb\xbfgame: snap\r\ntoggles:\r\n  limit: 8\r\n")
    assert load_ruleset("x.yaml").resolved()["limit"] == 8


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("limit", "99", "--set: limit: 99 is not allowed; allowed: 6..14, none"),
        ("limit", "", '--set: limit: "" is not allowed; allowed: 6..14, none'),
        ("lmit", "8", "--set: lmit: unknown key; did you mean 'limit'?"),
        ("reverse_on_ten", "2", "--set: reverse_on_ten: 2 is not allowed; allowed: yes, no"),
        (
            "when",
            "a\nb",
            "--set: when: a\N{REPLACEMENT CHARACTER}b is not allowed; allowed: at_once, turn_end",
        ),
    ],
)
def test_mistakes_on_the_command_line(write: Write, key: str, text: str, expected: str) -> None:
    assert message(load_ruleset, "snap", {key: text}) == expected


def test_a_long_word_is_shortened_in_messages(write: Write) -> None:
    text = message(load_ruleset, "snap", {"when": "x" * 5000})
    assert text == f"--set: when: {'x' * 37}... is not allowed; allowed: at_once, turn_end"
    assert len(message(load_ruleset, "snap", {"limit": "9" * 5000})) < 120


def test_seats_of_a_ruleset(write: Write) -> None:
    check_seats(load_ruleset("snap"), 5)
    assert message(check_seats, load_ruleset("snap"), 1) == "1 is not allowed; snap is played by 2..5 seats"
    assert message(check_seats, load_ruleset("snap"), 10) == "10 is not allowed; snap is played by 2..5 seats"
    short = load_ruleset("snap", {"jokers": "0"})
    assert message(check_seats, short, 5) == "5 is not allowed with snap/default+jokers=0: too few cards"


def test_toggles_that_exclude_each_other(write: Write) -> None:
    path = write("snap/x.yaml", "title: X\ntoggles:\n  jokers: 0\n  passing: yes_free\n")
    assert message(load_ruleset, path) == "snap/x.yaml:2:1: toggles: passing needs Jokers"
    assert (
        message(load_ruleset, "snap", {"jokers": "0", "passing": "yes_free"}) == "--set: passing needs Jokers"
    )


# --- Any text at all --------------------------------------------------------------------------------------------------


def refusal(path: Path) -> str | None:
    """The message with which the file is refused, if it is."""
    try:
        assert isinstance(read_document(path).data, dict)
    except ConfigError as error:
        return str(error)
    return None


@given(st.text(alphabet=st.sampled_from("abc:-[]{}#&*!|>'\"%@`,.?~ \n\t0123\0é牌"), max_size=60))
def test_no_text_makes_the_reader_fail_otherwise(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_text(text, encoding="utf-8")
    error = refusal(path)
    assert error is None or (error.startswith(str(path)) and error.isprintable())


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text("abcnoye01 :#-", max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text("abcno", min_size=1), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "value.yaml"
    path.write_text(json.dumps({"key": value}), encoding="utf-8")
    document = read_document(path)
    assert document.data == {"key": value}
    assert document.positions[("key",)] == (1, 2)


# --- Players ----------------------------------------------------------------------------------------------------------


def test_players(write: Write) -> None:
    greedy = load_player("greedy")
    assert (greedy.name, greedy.kind) == ("greedy", "weights")
    assert greedy.weights == {"snap": {"main": {"gap": -40, "shed": 25}}}
    assert greedy.plays("snap")
    assert not greedy.plays("other")
    assert load_player("random").plays("other")
    assert load_player(write("my/wild.yaml", "kind: random\ntitle: Wild\n")).title == {
        "en": "Wild",
        "zh-Hant": "Wild",
    }


PLAYER_ERRORS = {
    "no kind": ("title: X\n", "1:1: kind: missing"),
    "no such kind": (
        "kind: wieghts\n",
        "1:1: kind: wieghts is not allowed; allowed: random, weights, search, adapted; did you mean 'weights'?",
    ),
    "weights without": (
        "kind: weights\n",
        "1:1: games: missing; a player of kind weights needs weights for at least one game",
    ),
    "random with weights": (
        "kind: random\ngames: {snap: {}}\n",
        "2:1: games: a player of kind random has no such key",
    ),
    "playing out by a search": (
        "kind: search\nplays_out: p.yaml\n",
        "2:1: plays_out: a player who searches cannot play out; name a basic player",
    ),
    "expecting a search": (
        "kind: search\nopponents: [random, p.yaml]\n",
        "2:21: opponents[1]: what a search would choose is not known; name a basic player",
    ),
    "expecting nobody known": (
        "kind: search\nopponents: [gready]\n",
        "2:13: opponents[0]: no player is called 'gready'; did you mean 'greedy'?; known: greedy, random",
    ),
    "no such game": (
        "kind: weights\ngames: {snip: {}}\n",
        "2:9: games.snip: unknown game; did you mean 'snap'?",
    ),
    "no such phase": (
        "kind: weights\ngames: {snap: {mian: {}}}\n",
        "2:16: games.snap.mian: unknown phase; did you mean 'main'?",
    ),
    "no such feature": (
        "kind: weights\ngames:\n  snap:\n    main: {gpa: 1}\n",
        "4:12: games.snap.main.gpa: unknown feature; did you mean 'gap'?",
    ),
    "no number": (
        "kind: weights\ngames: {snap: {main: {gap: big}}}\n",
        "2:23: games.snap.main.gap: big is not a whole number",
    ),
    "a fraction": (
        "kind: weights\ngames: {snap: {main: {gap: 0.5}}}\n",
        "2:23: games.snap.main.gap: 0.5 is not a whole number",
    ),
    "no decimal number": (
        "kind: search\nexploration: on\n",
        "2:1: exploration: on is not a number",
    ),
    "too much exploration": (
        "kind: search\nexploration: 100.5\n",
        "2:1: exploration: 100.5 is too large; the most is 100",
    ),
    "too many samples": (
        "kind: search\nplayouts: 1000000\nsamples: 20001\n",
        "3:1: samples: 20001 is too large; the most is 20000",
    ),
    "nobody plays out": (
        "kind: search\nplays_out: ''\n",
        "2:1: plays_out: no player is called ''; known: greedy, random",
    ),
    "forbidden and preferred": (
        "kind: adapted\nforbid: {snap: {main: [gap]}}\nprefer: {snap: {main: [shed, gap]}}\n",
        "3:30: prefer.snap.main[1]: gap is both forbidden and preferred",
    ),
    "too large": (
        "kind: weights\ngames: {snap: {main: {gap: 1000001}}}\n",
        "2:23: games.snap.main.gap: 1000001 is too large; the most is 1000000",
    ),
}


@pytest.mark.parametrize("case", PLAYER_ERRORS)
def test_mistakes_in_a_player_file(write: Write, case: str) -> None:
    text, expected = PLAYER_ERRORS[case]
    path = write("p.yaml", text)
    assert message(load_player, path) == f"p.yaml:{expected}"


def test_why_a_player_cannot_play(write: Write) -> None:
    assert load_player("greedy").obstacle("snap") == ""
    assert load_player("greedy").obstacle("other") == "greedy has no weights for other"
    seeker = write("seeker.yaml", "kind: search\nplays_out: greedy\n")
    assert load_player(seeker).obstacle("other") == "seeker has no weights for other"
    scorer = write("scorer.yaml", "kind: search\naim: score\n")
    assert load_player(scorer).obstacle("snap") == "scorer aims at the score, and snap has none"


def test_a_search_has_no_more_samples_than_memory(write: Write) -> None:
    search = load_player(write("long.yaml", "kind: search\nplayouts: 1000000\n")).search
    assert search is not None
    assert (search.playouts, search.samples) == (1_000_000, 20_000)


def test_missing_players(write: Write) -> None:
    assert (
        message(load_player, "greedi")
        == "no player is called 'greedi'; did you mean 'greedy'?; known: greedy, random"
    )
    assert message(load_player, "nobody.yaml") == "nobody.yaml: no such file"


# --- What is told about configurations --------------------------------------------------------------------------------


def test_a_game_in_words(write: Write) -> None:
    text = describe_game("snap")
    assert text.startswith("# Snap (snap)\n\n2 to 5 seats\n\nPlay cards.\n")
    assert "| `limit` | SN-2 | 6..14 (**10**) / none | The hand limit. |\n" in text
    assert "| `reverse_on_ten` | SN-1 | **yes** / no | Whether a ten reverses. |\n" in text
    assert "| `values` | SN-6 | v1.0 / **v1.1** | Which values. |\n" in text
    assert text.endswith("- `snap/default`, Snap: all defaults\n- `snap/v1`, Snap v1: `values: v1.0`\n")
    assert "| `limit` | SN-2 | 6..14 (**10**) / none | 手牌上限。 |\n" in describe_game("snap", "zh-Hant")
    assert (
        message(describe_game, "snip") == "no game is called 'snip'; did you mean 'snap'?; known: other, snap"
    )
    assert message(describe_game, "snap", "fr") == "--lang: fr is not allowed; allowed: en, zh-Hant"


def test_schemas(write: Write) -> None:
    toggles = json_schema("snap")["properties"]["toggles"]["properties"]
    assert toggles["limit"]["anyOf"] == [
        {"type": "integer", "minimum": 6, "maximum": 14},
        {"enum": [None, "none"]},
    ]
    assert toggles["reverse_on_ten"]["enum"] == [True, False, "yes", "on", "no", "off"]
    assert toggles["when"]["enum"] == ["at_once", "turn_end"]
    assert toggles["when"]["default"] == "turn_end"
    assert "SN-3: When it is tested." in toggles["when"]["description"]
    player = json_schema("player")
    assert player["required"] == ["kind"]
    assert set(player["properties"]["games"]["properties"]["snap"]["properties"]) == {"main", "give"}
    assert set(player["properties"]["kind"]["enum"]) == {"random", "weights", "search", "adapted"}
    forbidden = player["properties"]["forbid"]["properties"]["snap"]["properties"]["main"]
    assert forbidden["items"]["enum"] == list(
        player["properties"]["games"]["properties"]["snap"]["properties"]["main"]["properties"]
    )
    assert {"plays_out", "opponents", "trained", "aim"} < set(player["properties"])
    assert json_schema("sweep")["required"] == ["games"]
    expected = "no schema for 'swep'; did you mean 'sweep'?; known: player, sweep, position, other, snap"
    assert message(json_schema, "swep") == expected


def test_checking_files(write: Write) -> None:
    sweep = "games: 10\nfamilies: [{name: a, rulesets: snap, grid: {limit: [6, 7, 8]}, seats: [2, 3]}]\n"
    assert check_file("configs/games/snap/v1.yaml") == (
        "configs/games/snap/v1.yaml: ruleset snap/v1, 1 of 7 toggles not at the default"
    )
    assert (
        check_file("configs/players/greedy.yaml")
        == "configs/players/greedy.yaml: player greedy, weights, snap"
    )
    assert check_file(write("s.yaml", sweep)) == "s.yaml: sweep s, families 1, rulesets 3, games 60"
    assert message(check_file, "s2.yaml") == "s2.yaml: no such file"
    expected = (
        "x.yaml:1:1: neither ruleset, player, sweep nor position: a ruleset has `toggles` or `extends`, "
        "a player `kind`, a sweep `families`, a position `hands`"
    )
    assert message(check_file, write("x.yaml", "titel: X\n")) == expected


# --- The project's own configurations ---------------------------------------------------------------------------------

OWN = sorted(CONFIGS.rglob("*.yaml"))


@pytest.mark.parametrize("path", OWN, ids=[path.relative_to(CONFIGS).as_posix() for path in OWN])
def test_our_own_files_are_valid(path: Path) -> None:
    assert check_file(path)
    title = read_document(path).data["title"]
    assert set(title) == {"en", "zh-Hant"}
    assert all(title.values())


def test_every_game_has_a_default_ruleset() -> None:
    assert all("default" in presets(name) for name in sim.games.games())


PAIJIE = {
    "h0": {"combos": False, "set_exchange": False, "straight_hit": False, "ace": "plain", "king": "plain"}
    | {"queen": "plain", "jack": "plain", "jokers": 0, "limit_value": None},
    "v1.1": {},
}
PAIJIE["h1"] = PAIJIE["h0"] | {"combos": True}
PAIJIE["h2"] = {
    "ace": "plain",
    "king": "plain",
    "queen": "plain",
    "jack": "plain",
    "jokers": 0,
    "limit_when": "immediate",
}
PAIJIE["h3b"] = {
    "stuck_draw": "one",
    "queen": "plain",
    "jack": "plain",
    "jokers": 0,
    "limit_when": "immediate",
}
PAIJIE["h3a"] = PAIJIE["h3b"] | {"king": "ban_rank"}
PAIJIE["v1.0"] = {"limit_when": "immediate", "jp_values": "v1.0"}
PAIJIE["basic"] = {key: value for key, value in PAIJIE["h0"].items() if key != "limit_value"}
PAIJIE["basic_combos"] = {key: value for key, value in PAIJIE["h2"].items() if key != "limit_when"}
PAIJIE["default"] = PAIJIE["v1.1"]


@pytest.mark.parametrize("version", PAIJIE)
def test_the_stages_of_paijie(version: str) -> None:
    """What each preset of the rules table sets, as differences from version 1.1."""
    defaults = sim.games.games()["paijie"].Toggles().model_dump()
    assert load_ruleset(f"paijie/{version}").resolved() == defaults | PAIJIE[version]


def test_two_paths_to_h2_are_one() -> None:
    assert (
        load_ruleset("paijie/basic_combos", {"limit_when": "immediate"}).toggles
        == load_ruleset("paijie/h2").toggles
    )


def test_every_toggle_says_what_it_decides_in_both_languages() -> None:
    for game in sim.games.games().values():
        for key, field in game.Toggles.model_fields.items():
            about: Any = field.json_schema_extra
            assert about["rule"], key
            assert about["en"].endswith("."), key
            assert about["zh-Hant"].endswith("。"), key
            assert about["impact"] in {"H", "M", "L", "-"}, key
        assert game.Toggles.model_validate(game.Toggles().model_dump()) == game.Toggles()


def test_yes_and_true_mean_the_same_everywhere() -> None:
    """Also for a toggle that knows more words than yes and no."""
    words = Choices(("yes", "may_pass", "no"))
    assert [words.parse(raw) for raw in (True, "on", "Yes", "yes", False, "off")] == ["yes"] * 4 + ["no"] * 2
    flags = Choices((True, False))
    assert [flags.parse(raw) for raw in (True, "on", "yes", False, "No")] == [True, True, True, False, False]
    for choices in (Choices(("may_pass",)), Choices(low=0, high=2), Choices((None,))):
        for raw in (True, "yes"):
            with pytest.raises(ValueError, match="yes is not allowed"):
                choices.parse(raw)
