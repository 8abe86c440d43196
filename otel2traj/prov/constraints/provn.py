"""PROV-N text into statements.

https://www.w3.org/TR/2013/REC-prov-n-20130430/
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from ...errors import EvidenceError
from .statements import KINDS, PROV, XSD, Document, Statement, time_value

_TOKEN: Final = re.compile(
    r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<text>\"\"\"(?:[^\\]|\\.)*?\"\"\"|"(?:[^"\\\n]|\\.)*")
  | (?P<quoted>'(?:[^'\\\n]|\\.)*')
  | (?P<iri><[^<>"{}|^`\\\x00-\x20]*>)
  | (?P<time>-?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?)
  | (?P<lang>@[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)
  | (?P<type>%%)
  | (?P<name>(?:[^\W_][\w.\-]*:|_:)?(?:[\w/@~&+*?\#$!:.]|%[0-9A-Fa-f]{2}|\\[='(),\-:;\[\].])
        (?:[\w/@~&+*?\#$!:.\-]|%[0-9A-Fa-f]{2}|\\[='(),\-:;\[\].])*|[^\W_][\w.\-]*:)
  | (?P<mark>[-()\[\]{},;=])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(.)")


class Token(NamedTuple):
    kind: str
    text: str
    line: int


def _fail(message: str, line: int) -> EvidenceError:
    return EvidenceError(
        f"line {line}: {message}", code="prov.provn", hint="PROV-N as in https://www.w3.org/TR/prov-n/"
    )


def _tokens(text: str) -> Iterator[Token]:
    position, line = 0, 1
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _fail(f"unexpected {text[position : position + 12]!r}", line)
        kind, word = str(match.lastgroup), match.group()
        if kind != "skip":
            yield Token(kind, word, line)
        line += word.count("\n")
        position = match.end()
    yield Token("end", "", line)


class _Reader:
    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0
        self._scopes: list[dict[str, str]] = [{"prov": PROV, "xsd": XSD}]

    def _peek(self, ahead: int = 0) -> Token:
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def _next(self) -> Token:
        token = self._peek()
        self._at += 1
        return token

    def _expect(self, text: str) -> Token:
        token = self._next()
        if token.text != text:
            raise _fail(f"{text!r} expected, not {token.text!r}", token.line)
        return token

    def _name(self, token: Token) -> str:
        if token.kind == "iri":
            return token.text[1:-1]
        if token.kind not in ("name", "time"):
            raise _fail(f"a name expected, not {token.text!r}", token.line)
        return self._resolve(token.text, token.line)

    def _resolve(self, text: str, line: int) -> str:
        prefix, colon, local = text.partition(":")
        if not colon:
            prefix, local = "", text
        for scope in reversed(self._scopes):
            if prefix in scope:
                return scope[prefix] + _ESCAPE.sub(r"\1", local)
        raise _fail(f"prefix {prefix!r} is not declared", line)

    def _namespaces(self) -> None:
        while self._peek().text in ("prefix", "default") and self._peek(1).kind in ("name", "iri"):
            word = self._next().text
            prefix = "" if word == "default" else self._next().text
            target = self._next()
            if target.kind != "iri":
                raise _fail("an IRI in <> expected", target.line)
            self._scopes[-1][prefix] = target.text[1:-1]

    def document(self) -> Document:
        self._expect("document")
        self._namespaces()
        out = Document()
        out.statements = self._instance()
        while self._peek().text == "bundle":  # statements may follow, as in PROV-DM's own example 42
            self._next()
            self._scopes.append({})
            # a bundle's own declarations stand after its name and hold for it
            name = self._next()
            self._namespaces()
            identifier = self._name(name)
            if identifier in out.bundles:
                out.repeated.append(identifier)
            out.bundles.setdefault(identifier, []).extend(self._instance())
            self._expect("endBundle")
            self._scopes.pop()
            out.statements += self._instance()
        self._expect("endDocument")
        if self._peek().kind != "end":
            raise _fail("text after endDocument", self._peek().line)
        return out

    def _instance(self) -> list[Statement]:
        out: list[Statement] = []
        while self._peek().kind == "name" and self._peek(1).text == "(":
            statement = self._expression()
            if statement is not None:
                out.append(statement)
        return out

    def _expression(self) -> Statement | None:
        head = self._next()
        name = head.text.removeprefix("prov:")
        kind = KINDS.get(name)
        if kind is None:
            self._extension(head)
            return None
        self._expect("(")
        identifier: str | None = None
        if self._peek(1).text == ";":
            token = self._next()
            identifier = None if token.text == "-" else self._name(token)
            self._expect(";")
        args: list[str | None] = []
        types: list[str] = []
        while self._peek().text != ")":
            if self._peek().text == "[":
                types = self._attributes()
            else:
                args.append(self._argument())
            if self._peek().text != ")":
                self._expect(",")
        self._expect(")")
        if name in ("entity", "activity", "agent"):
            if not args or args[0] is None:
                raise _fail(f"{name} needs a name", head.line)
            identifier = args.pop(0)
        if len(args) > len(kind.args):
            raise _fail(f"{name} takes no more than {len(kind.args)} arguments", head.line)
        if identifier is not None and not kind.identified:
            raise _fail(f"{name} takes no identifier", head.line)
        args += [None] * (len(kind.args) - len(args))
        for label, value in zip(kind.args, args, strict=True):
            if value is not None and label.endswith("ime") and time_value(value) is None:
                raise _fail(f"{value!r} is not a time", head.line)
        return Statement(name, identifier, tuple(args), tuple(types), f"line {head.line}")

    def _extension(self, head: Token) -> None:
        """Section 3.9 lets any statement of a qualified name stand; no constraint speaks of it."""
        if ":" not in head.text:
            raise _fail(f"{head.text!r} is no PROV statement", head.line)
        self._resolve(head.text, head.line)
        depth = 0
        while True:
            token = self._next()
            if token.kind == "end":
                raise _fail(f"{head.text} has no end", head.line)
            depth += (token.text in ("(", "{")) - (token.text in (")", "}"))
            if depth == 0:
                return

    def _argument(self) -> str | None:
        token = self._next()
        if token.text == "-":
            return None
        if token.kind == "time":
            return token.text
        return self._name(token)

    def _attributes(self) -> list[str]:
        types: list[str] = []
        self._expect("[")
        while self._peek().text != "]":
            key = self._name(self._next())
            self._expect("=")
            value = self._literal()
            if key == PROV + "type" and value is not None:
                types.append(value)
            if self._peek().text != "]":
                self._expect(",")
        self._expect("]")
        return types

    def _literal(self) -> str | None:
        """The IRI that the literal names, or None where it is a value."""
        token = self._next()
        if token.kind == "quoted":
            return self._resolve(token.text[1:-1], token.line)
        if token.kind == "text":
            if self._peek().kind == "lang":
                self._next()
            elif self._peek().kind == "type":
                self._next()
                datatype = self._name(self._next())
                if datatype in (PROV + "QUALIFIED_NAME", XSD + "QName"):
                    return self._resolve(token.text.strip('"'), token.line)
            return None
        if token.text == "-" and self._peek().kind == "name":
            token = self._next()
        if token.kind == "name" and re.fullmatch(r"\d+", token.text):
            return None
        raise _fail(f"a literal expected, not {token.text!r}", token.line)


def read_provn(text: str) -> Document:
    """The statements of a PROV-N document. Raises `EvidenceError` with the line where it is not PROV-N."""
    return _Reader(text).document()
