# SPDX-License-Identifier: Apache-2.0
r"""SQL as text: identifiers and literals, statements of a script, layout, completion.

    quote("a`b")                      `a``b`
    literal(timedelta(minutes=-5))    INTERVAL '-300.000000' SECOND
    split("SELECT ';'; SELECT 2")     SELECT ';'  and  SELECT 2

1. Nothing here knows what a statement means, whether it is right, or whether it is safe to run.
2. Text is read by Spark's rules as they are by default: ``\`` escapes in '...' and "...", nothing
   does in r'...', a doubled quote is the quote, comments in /* */ nest, and
   what is not closed goes on to the end of the text.
3. Literals are written for those rules: ``spark.sql.parser.escapedStringLiterals`` is off.

``split``, ``is_complete``, ``format`` and ``complete`` need sqlparse, which is imported when they
are called.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Any

from plait.errors import PlaitError
from plait.extras import how_to_get

PLAIN = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")

# Words of Plait's clauses, which no list of SQL words holds.
WORDS = (
    *("ASOF", "ANTI", "SEMI", "MATCH_CONDITION", "NEAREST", "TOLERANCE", "TIES", "SYSTEM_TIME"),
    *("TUMBLE", "HOP", "CUMULATE", "SESSION", "DESCRIPTOR", "ORDERED", "VERSIONED"),
    *("VERSION_KEY", "VERSION_DELETED", "SYMMETRIC_HASH", "NO_SYMMETRIC_HASH"),
)

# What may stand before JOIN; sqlparse knows some of these pairs.
JOIN_WORDS = ("INNER", "LEFT", "RIGHT", "FULL", "OUTER", "SEMI", "ANTI", "ASOF", "LEFT OUTER")

# Where something opens that may hold any character, semicolons too; a comment in /* */ by its
# first characters alone, since comments nest.
SPAN = re.compile(
    r"""(?P<comment>/\*)
    |   (?P<line>--(?:\\\n|[^\r\n])*(?:\r\n|\r|\n|\Z))
    |   (?P<text>\b[rR]'[^']*(?:'|\Z)|\b[rR]"[^"]*(?:"|\Z)
            |'(?:\\[\s\S]|''|[^'\\])*(?:'|\Z)|"(?:\\[\s\S]|""|[^"\\])*(?:"|\Z))
    |   (?P<name>`(?:``|[^`])*(?:`|\Z))
    |   (?P<other>\#)""",  # begins a comment elsewhere
    re.VERBOSE,
)
EDGE = re.compile(r"/\*|\*/")


def quote(identifier: str) -> str:
    """Return one identifier in backquotes, whatever is in it.

    >>> print(quote("order"), quote("a.b"), quote("a`b"))
    `order` `a.b` `a``b`
    """
    if not identifier:
        raise PlaitError("An identifier cannot be empty.")
    return f"`{identifier.replace('`', '``')}`"


def literal(value: Any) -> str:
    r"""Return a value of Python's as a literal of Spark's SQL.

    A datetime with a zone is a TIMESTAMP, one without a TIMESTAMP_NTZ; a timedelta is an INTERVAL
    SECOND; a float is a DOUBLE; a list or tuple an ARRAY; a dict a MAP. Times of pandas, and times
    and numbers of NumPy, are taken too. Nanoseconds, which Spark does not have, are an error.

    >>> print(literal("it's"), literal(2), literal(0.5), literal(Decimal("1.50")))
    'it\'s' 2 0.5D 1.50BD
    >>> print(literal(timedelta(days=1, seconds=5)))
    INTERVAL '86405.000000' SECOND
    """
    is_missing = type(value).__name__ == "NaTType"  # pandas', which is a datetime too
    nanoseconds = [getattr(value, name, None) for name in ("nanosecond", "nanoseconds")]
    if any(nanoseconds) and not is_missing:
        raise PlaitError(f"{value!r} has nanoseconds, and Spark's times end at microseconds.")
    if type(value).__module__ == "numpy":
        value = of_numpy(value)
    for kind, write in WRITERS.items():
        if isinstance(value, kind) and not is_missing:
            return write(value)
    raise _no_literal(value)


def _no_literal(value: Any) -> PlaitError:
    return PlaitError(
        f"{value!r} of type {type(value).__name__} has no literal in Spark's SQL: it takes None, "
        "bool, int, float, Decimal, str, bytes, date, datetime, timedelta, and lists and dicts "
        "of them."
    )


def of_numpy(value: Any) -> Any:
    """Return a scalar of NumPy as Python's; a time in nanoseconds would come as an integer."""
    kind = {"m": "length of time", "M": "time"}.get(value.dtype.kind)
    if kind is None:
        return value.item()
    if value.item() is None:  # NaT
        raise _no_literal(value)
    if re.search(r"\[\d*[npfa]s\]", value.dtype.name):
        micros = value.astype(f"{value.dtype.kind}8[us]")
        if micros != value:
            raise PlaitError(f"{value!r} is finer: Spark's times end at microseconds.")
        value = micros
    plain = value.item()
    if isinstance(plain, int):
        raise PlaitError(f"{value!r} of type {value.dtype.name} is no {kind} that Python has.")
    return plain


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _double(value: float) -> str:
    if math.isfinite(value):
        return f"{value!r}D"
    return f"double('{'NaN' if math.isnan(value) else '-' * (value < 0) + 'Infinity'}')"


def _decimal(value: Decimal) -> str:
    if not value.is_finite():
        raise PlaitError(f"{value!r} has no literal in Spark's SQL: decimals are finite there.")
    return f"{value:f}BD"


def _moment(value: datetime) -> str:
    kind = "TIMESTAMP_NTZ" if value.tzinfo is None else "TIMESTAMP"
    return f"{kind}'{value.isoformat(' ', 'microseconds')}'"


def _interval(value: timedelta) -> str:
    micros = value // timedelta(microseconds=1)
    seconds, micro = divmod(abs(micros), 1_000_000)
    return f"INTERVAL '{'-' * (micros < 0)}{seconds}.{micro:06}' SECOND"


def _array(values: Iterable[Any]) -> str:
    return f"array({', '.join(map(literal, values))})"


# A bool is an int and a datetime a date, so the order counts.
WRITERS: dict[type, Callable[[Any], str]] = {
    type(None): lambda _: "NULL",
    bool: lambda value: str(value).upper(),
    int: lambda value: str(int(value)),
    float: lambda value: _double(float(value)),
    Decimal: _decimal,
    str: _text,
    bytes: lambda value: f"X'{value.hex()}'",
    datetime: _moment,
    date: lambda value: f"DATE'{value.isoformat()}'",
    timedelta: _interval,
    list: _array,
    tuple: _array,
    dict: lambda value: _array(one for pair in value.items() for one in pair).replace(
        "array", "map", 1
    ),
}


def split(script: str) -> list[str]:
    r"""Return the statements of a script, without the semicolons between them.

    Semicolons in texts, quoted names and comments separate nothing, nor do those of a compound
    statement, ``[label:] BEGIN ... END``. What holds comments alone is no statement.

    >>> split("SELECT ';' -- a; b\n; /* c; */ BEGIN SELECT 1; SELECT 2; END; SELECT 3;")
    ["SELECT ';' -- a; b", '/* c; */ BEGIN SELECT 1; SELECT 2; END', 'SELECT 3']
    """
    return [text for text, is_statement in _parts(script) if is_statement]


def is_complete(script: str) -> bool:
    r"""Whether every statement of a script is ended by a semicolon.

    >>> [is_complete(text) for text in ("SELECT 1", "SELECT 1; -- c", "SELECT ';", "BEGIN x;", "")]
    [False, True, False, False, True]
    """
    return len(split(f"{script}\nx")) > len(split(script))


def _parts(script: str) -> Iterator[tuple[str, bool]]:
    """Yield what stands between the semicolons, and whether it is more than comments."""
    words: list[str] = []  # what has been read of a statement, without space and comments
    depth = start = end = 0
    for kind, value in _tokens(script):
        if value == ";" and depth == 0:
            yield script[start:end].strip(), bool(words)
            words, start = [], end + 1
        elif not _is_skipped(kind):
            for word in value.upper().split() if "Keyword" in str(kind) else [value]:
                depth += _step(words, word)
                words.append(word)
        end += len(value)
    yield script[start:].strip(), bool(words)


def _is_skipped(kind: Any) -> bool:
    return str(kind).startswith(("Token.Comment", "Token.Text"))


def _step(before: list[str], word: str) -> int:
    """How much deeper a word leads into the blocks of the compound statement that is read."""
    is_first = not before or (len(before) == 2 and before[1] == ":")
    if is_first or "BEGIN" not in (before[0], *before[2:3]):
        return int(is_first and word == "BEGIN")
    is_after_end = before[-1] == "END"
    if word in ("IF", "WHILE", "LOOP", "FOR", "REPEAT"):
        return int(is_after_end)  # that END has closed no BEGIN and no CASE
    return (word in ("BEGIN", "CASE") and not is_after_end) - (word == "END")


def format(text: str) -> str:
    """Return a script with its clauses on lines of their own.

    Only space and line breaks change: words keep their case, since names are words too. A statement
    that cannot be laid out without changing anything else comes back as it is.

    >>> print(format("select a, b from t join u on t.k = u.k where a > 1"))
    select a,
           b
    from t
    join u on t.k = u.k
    where a > 1
    """
    parts = [(_laid_out(text), is_statement) for text, is_statement in _parts(text) if text]
    if len(parts) == 1:
        return parts[0][0]
    return "\n\n".join(
        # A semicolon at the end of a comment would be of the comment.
        part + ("\n" * (_last(part)[0] == "comment") + ";") * is_statement
        for part, is_statement in parts
    )


def _laid_out(statement: str) -> str:
    _sqlparse()
    from sqlparse.engine import FilterStack, grouping
    from sqlparse.exceptions import SQLParseError
    from sqlparse.filters import SerializerUnicode
    from sqlparse.formatter import build_filter_stack, validate_options
    from sqlparse.sql import Statement, Token

    stack = build_filter_stack(FilterStack(), validate_options({"reindent": True}))
    try:
        tree = grouping.group(Statement([Token(*token) for token in _with_whole_joins(statement)]))
        for step in stack.stmtprocess:
            step.process(tree)
    except (SQLParseError, RecursionError):
        return statement
    laid_out = str(SerializerUnicode().process(tree)).strip()
    return laid_out if _said(laid_out) == _said(statement) else statement


def _with_whole_joins(statement: str) -> list[tuple[Any, str]]:
    """Return the words of a statement, all that make one kind of join as one word."""
    found: list[tuple[Any, str]] = []
    for kind, value in _tokens(statement):
        if "Keyword" in str(kind) and value.upper().endswith("JOIN"):
            words = [value]
            while len(found) > 1 and found[-2][1].upper() in JOIN_WORDS and found[-1][1].isspace():
                found.pop()
                words.append(found.pop()[1])
            value = " ".join(reversed(words))  # noqa: PLW2901
        found.append((kind, value))
    return found


def _said(statement: str) -> list[str]:
    """All that is not space; the space in words of several parts does not count."""
    return [
        word
        for kind, value in _tokens(statement)
        if not str(kind).startswith("Token.Text")
        for word in (value.split() if "Keyword" in str(kind) else [value.rstrip()])
    ]


def complete(text: str, position: int, names: Iterable[str]) -> list[str]:
    """Return what the word that ends at a position of a text may become, the names first.

    Each is written as SQL needs it, in backquotes where it must be, and stands for the whole of
    ``partial(text, position)``. ``names`` are those that the caller knows of tables, columns and
    functions, not quoted; after a dot they alone are offered, and in texts and comments nothing is.

    >>> complete("SELECT l.or", 11, ["order id", "ordered", "price"])
    ['`order id`', 'ordered']
    >>> complete("select * from l aso", 19, [])
    ['asof']
    """
    before = text[:position]
    last, word = _last(before)
    if last in ("comment", "text"):
        return []
    typed = word.strip("`").replace("``", "`")
    known = sorted({name for name in names if name.upper().startswith(typed.upper())})
    candidates = [_written(name, quoted=word.startswith("`")) for name in known]
    is_after_dot = before[: len(before) - len(word)].rstrip().endswith(".")
    if typed and not is_after_dot and not word.startswith("`"):
        cased = str.lower if typed.islower() else str.upper
        candidates += [cased(found) for found in _words() if found.startswith(typed.upper())]
    return list(dict.fromkeys(candidates))


def partial(text: str, position: int) -> str:
    """Return the word that ends at a position of a text, which ``complete`` would replace.

    >>> partial("SELECT l.or FROM", 11), partial("SELECT ", 7)
    ('or', '')
    """
    return _last(text[:position])[1]


def _last(before: str) -> tuple[str, str]:
    """Say what is still open at the end of a text, and give the word that it ends in."""
    kind, value = None, ""
    for kind, value in _tokens(before):  # noqa: B007 (the last is what counts)
        pass
    if str(kind).startswith("Token.Comment"):
        is_line = value.startswith("--")
        return "" if value.endswith("\n" if is_line else "*/") else "comment", ""
    if re.match(r"[rR]?['\"]", value):
        return "" if len(value) > 1 and value.endswith(("'", '"')) else "text", ""
    if value.startswith("`"):
        return "name", "" if len(value) > 1 and value.endswith("`") else value
    return "", value if re.fullmatch(r"\w+", value) else ""


def _written(name: str, *, quoted: bool) -> str:
    is_plain = PLAIN.fullmatch(name) and name.upper() not in _reserved()
    return name if is_plain and not quoted else quote(name)


def _tokens(text: str) -> Iterator[tuple[Any, str]]:
    """Yield the words of a text and what sqlparse calls them; together they are the text."""
    _sqlparse()
    from sqlparse import lexer, tokens

    kinds = {
        "line": tokens.Comment.Single,
        "text": tokens.Literal.String.Single,
        "name": tokens.Name,
        "other": tokens.Error,
    }
    end = 0
    while opening := SPAN.search(text, end):
        yield from lexer.tokenize(text[end : opening.start()])
        found = str(opening.lastgroup)
        end = opening.end() if found in kinds else _end_of_comment(text, opening.start())
        value = text[opening.start() : end]
        is_hint = value.startswith("/*+")
        comment = tokens.Comment.Multiline.Hint if is_hint else tokens.Comment.Multiline
        yield kinds.get(found, comment), value
    yield from lexer.tokenize(text[end:])


def _end_of_comment(text: str, start: int) -> int:
    depth = 0
    for edge in EDGE.finditer(text, start):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return edge.end()
    return len(text)


@cache
def _reserved() -> frozenset[str]:
    """Words that are quoted where they are names: more than have to be."""
    _sqlparse()
    from sqlparse import keywords

    # PLPGSQL's, HQL's and others' are names to Spark; all of these may be.
    every = (keywords.KEYWORDS_COMMON, keywords.KEYWORDS)
    return frozenset(word for each in every for word in each)


@cache
def _words() -> tuple[str, ...]:
    return tuple(sorted({*_reserved(), *WORDS}))


def _sqlparse() -> None:
    try:
        import sqlparse  # noqa: F401
    except ModuleNotFoundError as error:
        raise PlaitError(f"sqlparse is missing: {how_to_get('spark')}.") from error
